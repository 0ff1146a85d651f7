"""Texts in every character set of MariaDB and MySQL: the connectors' records against what was inserted."""

import gzip

import pytest
from pyspark.sql import SparkSession
from tests.support.records import RECORDS
from tests.support.tables import kind_table
from tools.binlog_connector.charsets import PREFIX, READ, STREAMED, columns, file, texts
from tools.binlog_connector.types import CAPTURES, Capture
from tools.captures import Record

from cdc import changes, decode
from cdc.spec.model import ConnectorSpec

OF_SETS_THAT_JAVA_LACKS = {
    "armscii8": "\u00b4³ñ»",
    "geostd8": "ÂÀÌÀÒãÏÁÀ",
    "hp8": "Ûnal Å",
    "keybcs2": "ęĹľ",
    "koi8u": "Ки╖в ╖жак",
    "swe7": "][\\ }{|",
}
"""What the log has in these sets, as all connectors read it: in that of another set."""
CP932 = {"cp932": "���{�� 瘦陡 �\\ �@��"}
"""As MariaDB's connector reads it from the log."""
FOUR_BYTES = {name: "日本 ?" for name in ("utf16", "utf16le", "utf32", "utf8mb4")}
"""Labels of an enum with a character that has four bytes in UTF-8, where the connector has them from the DDL."""
NEWEST = (CAPTURES[0], CAPTURES[4])


def decoded(spark: SparkSession, capture: Capture) -> dict[int, dict[str, str]]:
    """Row id -> the texts of its columns."""
    types = {name: type_ for name, (type_, _) in columns(capture.server).items()}
    connector = ConnectorSpec("shop", PREFIX, kind=capture.version.kind)
    spec = kind_table(types, connector=connector, source="shop.texts", name="texts")
    with gzip.open(file(capture), "rt", encoding="utf-8") as lines:
        records = [Record.from_line(line) for line in lines]
    rows = [(each.topic, 0, each.offset, None, 0, None, each.key, each.value) for each in records]
    found = changes(decode(spark.createDataFrame(rows, RECORDS), spec), spec).collect()
    return {row["id"]: {name: row[name] for name in types if name != "id"} for row in found}


def wrong(found: dict[str, str], capture: Capture, prefix: str) -> dict[str, str]:
    """Character set -> the text found, of those that differ from what was inserted."""
    return {
        name: found[f"{prefix}_{name}"]
        for name, text in texts(capture.server).items()
        if found[f"{prefix}_{name}"] != text
    }


def of_server(expected: dict[str, str], capture: Capture) -> dict[str, str]:
    return {name: text for name, text in expected.items() if name in texts(capture.server)}


@pytest.mark.parametrize("capture", NEWEST, ids=lambda each: each.version.kind)
def test_a_text_is_what_was_inserted_in_nearly_every_character_set(spark: SparkSession, capture: Capture) -> None:
    check(decoded(spark, capture), capture)


@pytest.mark.long
@pytest.mark.parametrize(
    "capture",
    [each for each in CAPTURES if each not in NEWEST],
    ids=lambda each: f"{each.version.number}-{each.server}",
)
def test_a_text_of_an_older_version_is_what_was_inserted(spark: SparkSession, capture: Capture) -> None:
    found = decoded(spark, capture)
    if capture.version.number.startswith("1.4"):
        # In a snapshot it reads the bytes of UTF-8 as if they were the column's.
        kept = {"ascii", "utf8", *(() if capture.server == "mariadb" else ("utf8mb4",))}
        assert texts(capture.server).keys() - wrong(found[READ], capture, "v").keys() == kept
        assert wrong(found[READ], capture, "e") == (FOUR_BYTES if capture.server == "mariadb" else {})
        found[READ] = {f"{prefix}_{name}": text for name, text in texts(capture.server).items() for prefix in "ve"}
    check(found, capture)


def check(found: dict[int, dict[str, str]], capture: Capture) -> None:
    """Reads are right; changes too, but for the known sets and labels."""
    assert set(found) == {READ, STREAMED}
    assert wrong(found[READ], capture, "v") == wrong(found[READ], capture, "e") == {}
    of_kind = CP932 if capture.version.kind == "mariadb" else {}
    assert wrong(found[STREAMED], capture, "v") == {**OF_SETS_THAT_JAVA_LACKS, **of_kind}
    assert wrong(found[STREAMED], capture, "e") == of_server(FOUR_BYTES, capture)
