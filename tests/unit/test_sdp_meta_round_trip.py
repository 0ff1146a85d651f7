"""Property: an export to sdp-meta, imported again and filled in by `scaffold --update`, gives the same tables."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.conf_folder import write_conf
from tests.support.edited_specs import EDITS, FIRST, Spec

from cdc.__main__ import cdc
from cdc.spec.load import read_conf
from cdc.spec.model import TableSpec
from cdc.spec.sql_check import check_sql

FIELDS: Mapping[str, tuple[str | None, ...]] = {
    "name": (None, "o_$table"),
    "topic": (None, None, "other.topic-of_$table"),
    "history": (None, "false", "{track: [tier, price]}", "{track_except: [email]}"),
    "tombstone_retention": (None, "7 days", "50 hours"),
    "target_schemas": (None, None, "{silver: cleansed}", "{bronze: lake.raw, silver: lake.typed}"),
    "table_properties": (None, "{delta.appendOnly: true, silver: {a.b: 'x: 1'}}", "{bronze: {a.c: 2}}"),
    "cluster_by": (None, "[tier, region]"),
    "comment": (None, "'it''s \"so\": {1}'"),
    "expectations": (
        None,
        '{"a rule\'s name": tier > 0}',
        "{low: {condition: tier < 3, action: drop}, named: \"email LIKE '%@%' -- a comment\"}",
        "{low: {condition: tier < 3, action: quarantine}, high: {condition: price > 0, action: quarantine}}",
        '{low: {condition: "tier < 3 OR (\\nprice IS NULL\\n)", action: fail}, t: "true"}',
    ),
    "filter": (None, None, "tier > 1", "\"region = 'north' OR (\\ntier > 1\\n)\""),
}
CONNECTORS = (
    "topic_prefix: shopserver\n",
    "topic_prefix: a.b\nwithin_transaction: lsn\n",
    'topic_prefix: shopserver\ntopic_pattern: "{prefix}.{schema}.{table}"\nwithin_transaction: total_order\n',
    "topic_prefix: shopserver\nwithin_transaction: arrival\ntarget_schemas: {silver: clean}\n",
)
NOT_WITHOUT_KEY = ("history", "tombstone_retention", "cluster_by", "deletes")
LOST_ON_THE_WAY = ("names of gold", "renamed", "computed column", "computed otherwise")
"""Edits after which SQL and lists of a spec have names that only the spec explains."""


def random_spec(random: Random) -> Spec:
    spec = FIRST
    for edit in random.sample(sorted(EDITS.keys() - LOST_ON_THE_WAY), 4):
        spec = EDITS[edit](spec)
    for name, values in FIELDS.items():
        spec = spec.field(name, random.choice(values))
    columns = {column: options for column, options in spec.columns.items() if "exclude" not in options}
    for column in ("price", "email"):
        columns.setdefault(column, {"type": "nvarchar(20)"})
    spec = replace(spec, columns=columns)
    return spec if random.random() < 0.8 else append_only(spec)


def append_only(spec: Spec) -> Spec:
    kept = {name: value for name, value in spec.more.items() if name not in NOT_WITHOUT_KEY}
    return replace(spec, key=(), more={**kept, "append_only": "true"})


def text(spec: Spec, name: str) -> str:
    return spec.text(name).replace("$table", name).replace("key: []\n", "")


def schema_changes(tables: tuple[TableSpec, ...]) -> str:
    """A capture with the connector's description of each table."""
    lines = []
    for offset, table in enumerate(tables):
        columns = [
            {"name": each.name, "typeName": each.type.name, "optional": each.nullable, **size(each.type)}
            for each in table.columns
        ]
        described = {"primaryKeyColumnNames": list(table.key), "columns": columns}
        identity = ".".join(f'"{part}"' for part in table.source.split("."))
        change = {"type": "CREATE", "id": identity, "table": described}
        payload = {"source": {"name": table.connector.topic_prefix}, "tableChanges": [change]}
        lines.append(json.dumps({"topic": "changes", "offset": offset, "payload": json.dumps(payload)}))
    return "\n".join(lines) + "\n"


def size(type_: Any) -> dict[str, Any]:
    return {"length": type_.length or type_.precision, "scale": type_.scale}


def kept(table: TableSpec) -> dict[str, Any]:
    """What survives both ways."""
    return {
        "source": table.source,
        "name": table.name,
        "topic": table.topic,
        "key": table.key,
        "history": table.history,
        "track": table.track and set(table.track),
        "expectations": table.expectations,
        "actions": table.actions,
        "filter": None if table.append_only else table.filter,
        "comment": table.comment,
        "cluster_by": table.cluster_by,
        "retention": None if table.append_only else table.tombstone_retention_seconds,
        "append_only": table.append_only,
        "schemas": (table.target_schemas.bronze, table.target_schemas.silver),
        "properties": (table.table_properties.of("bronze"), table.table_properties.of("silver")),
        "prefix": table.connector.topic_prefix,
    }


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(cdc, [str(each) for each in arguments], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("seed", range(20))
def test_an_export_imported_again_gives_the_same_tables(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    specs = {name: random_spec(random) for name in ("orders", "lines", "people")}
    files = {f"tables/shop/{name}.yml": text(spec, name) for name, spec in specs.items()}
    connector = random.choice(CONNECTORS)
    conf = write_conf(tmp_path / "conf", {"connectors/shop.yml": connector, **files})
    before = read_conf(conf).tables
    form = random.choice(("json", "yaml"))
    status, _, said = run("export", "sdp-meta", conf, "--write", tmp_path / "sdp", "--format", form)
    (onboarding,) = (tmp_path / "sdp").glob("onboarding.*")
    rows = onboarding.read_text(encoding="utf-8")
    exported = tuple(table for table in before if f"dbo.{table.source.rpartition('.')[2]}" in rows)
    left_out = {table.source for table in before if table not in exported}
    assert set(re.findall(r"TABLE_NOT_EXPORTED .* table (\S+)", said)) == left_out, f"seed={seed}"
    assert status == (1 if left_out else 0)
    if not exported:
        return
    (tmp_path / "changes.jsonl").write_text(schema_changes(before), encoding="utf-8")

    back = tmp_path / "back"
    # A topic of another name does not tell the connector's prefix, nor a table without versions their order.
    told = any(table.topic.startswith(("shopserver.", "a.b.")) for table in exported)
    prefix = () if told else ("--topic-prefix", exported[0].connector.topic_prefix)
    status, _, said = run("import", "sdp-meta", onboarding, "--connector", "shop", "--conf", back, *prefix)
    assert status == 0, f"seed={seed}\n{said}"
    options = [option for table in exported for option in ("--table", table.source)]
    capture = ("--capture", tmp_path / "changes.jsonl")
    status, shown, said = run("scaffold", "--update", "--connector", "shop", *capture, "--conf", back, *options)
    assert status == 0, f"seed={seed}\n{shown}{said}"
    again = read_conf(back, checks=[check_sql])
    assert again.faults == (), f"seed={seed}"
    assert {table.source: kept(table) for table in again.tables} == {table.source: kept(table) for table in exported}
    if any(table.key for table in exported):
        assert again.connectors[0].within_transaction == exported[0].connector.within_transaction, f"seed={seed}"
