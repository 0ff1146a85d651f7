"""Every record that Debezium's guide of 1.4 prints: it becomes a change, or is ignored or rejected by name.

guide_records.jsonl has a line for each: the kind of connector (`any`: the guide does not say), the lines of the guide's
text, what is expected (`change`, the kind of an ignored record, or the reasons of which one rejects it) and the row
that it gives. Schema blocks are left out, and so are the dots in place of what the guide does not print.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from tests.support.conf_folder import write_conf
from tests.support.records import RECORDS

from cdc import decode
from cdc.spec.kinds import KINDS
from cdc.spec.load import load_tables
from cdc.spec.model import TableSpec
from cdc.spec.schema import every_kind

PRINTED = [
    json.loads(line)
    for line in Path(__file__).with_name("guide_records.jsonl").read_text(encoding="utf-8").splitlines()
]
CUSTOMERS = "key: [id]\ncolumns: {id: int, first_name: TEXT, last_name: TEXT, email: TEXT}\n"
DOCUMENTS = "key: [_id]\ncolumns: {_id: {type: long, rename: id}, first_name: TEXT, last_name: TEXT, email: TEXT}\n"
UPPER_CASE = """key: [ID]
columns:
  ID: {type: integer, rename: id}
  FIRST_NAME: {type: varchar(255), rename: first_name}
  LAST_NAME: {type: varchar(255), rename: last_name}
  EMAIL: {type: varchar(255), rename: email}
"""
TABLES: Mapping[str, tuple[str, str, str]] = {
    "mysql": ("", "inventory.customers", CUSTOMERS.replace("TEXT", "varchar(255)")),
    "postgresql": ("", "postgres.public.customers", CUSTOMERS.replace("TEXT", "varchar(255)")),
    "mongodb": ("capture_mode: oplog\n", "inventory.customers", DOCUMENTS.replace("TEXT", "string")),
    "sqlserver": ("", "testDB.dbo.customers", CUSTOMERS.replace("TEXT", "nvarchar(255)")),
    "db2": ("", "MYSCHEMA.CUSTOMERS", UPPER_CASE),
}
"""Kind -> what its connector's spec says beside the kind, the table of its examples, the rest of the table's spec."""
OTHER_TABLES = {"CloudEvent": "table: postgres.s1.a\nkey: [pk]\ncolumns: {pk: integer, name: varchar(20)}\n"}


@pytest.mark.parametrize("kind", every_kind())
def test_every_printed_record_is_decoded_ignored_or_rejected_by_name(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    if kind not in KINDS:
        pytest.skip(f"{kind} is not a registered kind")
    if kind not in TABLES:
        pytest.skip(f"the guide of 1.4 has no {kind}")
    conf, table, columns = TABLES[kind]
    printed = [each for each in PRINTED if each["kind"] in (kind, "any")]
    assert len(printed) >= 7
    specs: dict[str, list[Mapping[str, Any]]] = {}
    for each in printed:
        specs.setdefault(OTHER_TABLES.get(each["what"], f"table: {table}\n{columns}"), []).append(each)
    for number, (text, records) in enumerate(specs.items()):
        folder = {"connectors/shop.yml": f"topic_prefix: p\nkind: {kind}\n{conf}", "tables/shop/t.yml": text}
        (spec,) = load_tables(write_conf(tmp_path / str(number), folder))
        for each, found in zip(records, decoded(spark, spec, records), strict=True):
            where = f"{kind}: {each['what']} (lines {each['lines']})"
            outcome = found["_outcome"] if found["_outcome"] == "change" else found["_reason"]
            assert outcome in each["expected"], f"{where}: {found['_message']}"
            row = each.get("row", {})
            assert {name: found[name] for name in row} == row, where


def test_every_kind_of_the_guide_has_its_records() -> None:
    assert {each["kind"] for each in PRINTED} == {*TABLES, "any"}
    assert set(TABLES) <= set(every_kind())


def decoded(spark: SparkSession, spec: TableSpec, records: list[Mapping[str, Any]]) -> list[Row]:
    """The outcome of each record in the table's topic."""
    rows = [
        (spec.topic, 0, offset, None, 0, None, in_json(each, "key"), in_json(each, "value"))
        for offset, each in enumerate(records)
    ]
    return decode(spark.createDataFrame(rows, RECORDS), spec).orderBy("_offset").collect()


def in_json(record: Mapping[str, Any], part: str) -> bytes | None:
    """A record's key or value, in a schema block's place if the guide prints one."""
    content = record.get(part)
    if content is None:
        return None
    return json.dumps({"schema": {}, "payload": content} if record.get("schema") else content).encode()
