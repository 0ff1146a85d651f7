"""What a pipeline's session adds to reading specs: its SQL is resolved by Spark, and its settings are known."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from demo import shop
from pyspark.sql import SparkSession
from tests.support.conf_folder import write_conf

from cdc.configuration import load_tables
from cdc.errors import SpecError
from cdc.settings import SETTINGS, UnknownSetting

ROOT = Path(__file__).parents[2]
TABLE = """\
table: shop.dbo.orders
key: [id]
columns:
  id: int
  paid_at: {type: datetimeoffset, keep_offset: true}
  total: {type: "decimal(18,2)", mask: MASK}
expectations:
  paid: CONDITION
"""


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.conf.set("cdc.conf", str(tmp_path))
    session.conf.set("cdc.connector", "shop")
    return session


def write(conf: Path, mask: str = "total * 2", condition: str = "total > 0") -> None:
    write_conf(conf, {"tables/shop/orders.yml": TABLE.replace("MASK", mask).replace("CONDITION", condition)})


def test_sound_sql_is_accepted(session: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "round(total)", "paid_at_offset <> '' and _committed_at > paid_at and map_keys(_unknown) is null")
    assert [table.name for table in load_tables(session)] == ["orders"]


@pytest.mark.parametrize(
    ("mask", "condition", "reported"),
    [
        (
            "round(totl)",
            "id > 0",
            "UNKNOWN_SQL_COLUMN  {}:6:46   table shop.dbo.orders\n"
            "  the mask of column `total` names `totl`, which is not one of the table's columns: id, paid_at,"
            " paid_at_offset, total (did you mean `total`?)\n"
            "  fix: write the column's name in silver (its `rename`, if it has one), or add the column to `columns:`.",
        ),
        (
            "rond(total)",
            "id > 0",
            "BAD_SQL  {}:6:40   table shop.dbo.orders\n"
            "  the mask of column `total` is not valid SQL: Cannot resolve routine `rond` on search path",
        ),
        (
            "total",
            "id >< 0",
            "BAD_SQL  {}:8:13   table shop.dbo.orders\n"
            "  the expectation `paid` is not valid SQL: Syntax error at or near '<'",
        ),
        (
            "total",
            "id + 1",
            "BAD_SQL  {}:8:9   table shop.dbo.orders\n"
            "  the expectation `paid` is not valid SQL: its value is int; expected true or false\n",
        ),
        ("max(total)", "id > 0", "BAD_SQL  {}:6:40   table shop.dbo.orders\n  the mask of column `total` is not"),
    ],
    ids=["column", "function", "syntax", "no condition", "aggregate"],
)
def test_sql_that_spark_refuses_names_the_file(
    session: SparkSession, tmp_path: Path, mask: str, condition: str, reported: str
) -> None:
    write(tmp_path, mask, condition)
    with pytest.raises(SpecError) as raised:
        load_tables(session)
    assert reported.format(tmp_path / "tables/shop/orders.yml") in str(raised.value)


RULES = """\
table: shop.dbo.notes
key: [id]
columns:
  id: int
  total: int
  body: {type: nvarchar(max), large_nulls: NULLS}
FIELD
"""


@pytest.mark.parametrize(
    ("field", "reported"),
    [
        ("filter: half > 1 and total > 0\ncomputed: {half: total / 2}", None),
        ("expectations: {known: {condition: _op <> 'd' and id > 0, action: quarantine}}", None),
        ("filter: total", "BAD_SQL  {}:7:9   table shop.dbo.notes\n  the filter is not valid SQL: its value is int"),
        (
            "computed: {size: length(body)}",
            "UNUSABLE_SQL_COLUMN  {}:7:25   table shop.dbo.notes\n"
            "  the computed column `size` names `body`: a change may leave it out",
        ),
        (
            "computed: {half: total / 2, quarter: half / 2}",
            "UNUSABLE_SQL_COLUMN  {}:7:38   table shop.dbo.notes\n"
            "  the computed column `quarter` names `half`: it is computed itself",
        ),
        (
            "computed: {half: totl / 2}",
            "UNKNOWN_SQL_COLUMN  {}:7:18   table shop.dbo.notes\n  the computed column `half` names `totl`",
        ),
        (
            'computed: {half: "null"}',
            "BAD_SQL  {}:7:18   table shop.dbo.notes\n"
            "  the computed column `half` is not valid SQL: its value is void, which a table of changes cannot have",
        ),
        (
            "filter: _op = 'c'",
            "UNKNOWN_SQL_COLUMN  {}:7:9   table shop.dbo.notes\n  the filter names `_op`, which is not one of",
        ),
    ],
)
def test_rules_are_resolved_over_the_columns_that_they_may_name(
    session: SparkSession, tmp_path: Path, field: str, reported: str | None
) -> None:
    text = RULES.replace("FIELD", field).replace("NULLS", "as_null" if "filter" in field else "unchanged")
    write_conf(tmp_path, {"tables/shop/notes.yml": text})
    if reported is None:
        assert len(load_tables(session)) == 1
        return
    with pytest.raises(SpecError) as raised:
        load_tables(session)
    assert reported.format(tmp_path / "tables/shop/notes.yml") in str(raised.value)


def test_a_setting_that_does_not_exist_is_refused(session: SparkSession, tmp_path: Path) -> None:
    write(tmp_path)
    for name in ("cdc.findngs", "cdc.kafka.bootstrap.servrs", "cdc.kafka.fetch.min.bytes"):
        session.conf.set(name, "secret-value")
    with pytest.raises(UnknownSetting) as raised:
        load_tables(session)
    assert "secret-value" not in str(raised.value)
    options = "correct the name; any option of Spark's Kafka reader can be passed in cdc.kafka.options, a JSON object."
    assert str(raised.value).split("\n\n") == [
        "UNKNOWN_SETTING  cdc.findngs\n"
        "  `cdc.findngs` is not a setting of cdc, so it would have no effect (did you mean `cdc.findings`?)\n"
        "  fix: correct the name in the pipeline's `configuration`, or remove it.",
        "UNKNOWN_SETTING  cdc.kafka.bootstrap.servrs\n"
        "  `cdc.kafka.bootstrap.servrs` is not a setting of cdc, so it would have no effect (did you mean"
        " `cdc.kafka.bootstrap.servers`?)\n"
        f"  fix: {options}",
        "UNKNOWN_SETTING  cdc.kafka.fetch.min.bytes\n"
        "  `cdc.kafka.fetch.min.bytes` is not a setting of cdc, so it would have no effect (did you mean"
        " `cdc.kafka.fetch.max.bytes`?)\n"
        f"  fix: {options}",
    ]


def test_every_setting_that_the_code_reads_is_known() -> None:
    files = [*(ROOT / "pipelines/cdc").rglob("*.py"), *(ROOT / "bundles").rglob("*.yml")]
    files.remove(ROOT / "pipelines/cdc/settings.py")
    read = {name for file in files for name in re.findall(r"\"(cdc\.[a-z_.]+)\"|^ +(cdc\.\w+):", file.read_text())}
    assert {name for pair in read for name in pair if name} - {
        "cdc.",
        "cdc.kafka.",
        "cdc.schemas.",
    } - SETTINGS.keys() == set()


@pytest.mark.parametrize("kind", shop.SHOPS)
def test_auto_is_the_kind_that_the_pipelines_source_names(session: SparkSession, tmp_path: Path, kind: str) -> None:
    stated, auto = shop.SHOPS[kind].conf, tmp_path / "auto"
    shutil.copytree(stated, auto)
    connector = auto / "connectors" / "shop.yml"
    lines = [line for line in connector.read_text(encoding="utf-8").splitlines() if not line.startswith("kind:")]
    connector.write_text("\n".join([*lines, "kind: auto\n"]), encoding="utf-8")
    session.conf.set("cdc.conf", str(auto))
    session.conf.set("cdc.source", f"capture:{shop.SHOPS[kind].rounds[0].captures[0].parent}")
    read = (load_tables(session), load_tables(stated, "shop"))
    found, expected = ([replace(table, defined_at="") for table in each] for each in read)
    assert {table.connector.kind for table in found} == {kind}
    assert found == expected
