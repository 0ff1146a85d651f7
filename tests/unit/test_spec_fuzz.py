"""Property: whatever a conf folder contains, it is read or its faults are reported; nothing is raised."""

from pathlib import Path
from random import Random

import pytest
from tests.support.conf_folder import write_conf

from cdc.errors import Condition
from cdc.spec.load import read_conf
from cdc.spec.schema import schema
from cdc.spec.sql_check import check_sql

TABLE = """\
table: shop.dbo.orders
key: [id, line]
columns:
  id: int not null
  line: {type: "decimal(9,0)", rename: line_no, on_missing: reject}
  at: {type: datetime2(3), datetime_zone: Europe/Berlin, overflow: keep}
  paid: {type: datetimeoffset, keep_offset: true}
  photo: {exclude: true}
history: {track_except: [at]}
expectations: {positive: line_no > 0}
gold: {table: rows, history: versions}
physical_table: {column: shard, field: source_table}
tombstone_retention: 7 days
cluster_by: [id]
"""
CONNECTOR = """\
topic_prefix: shopserver
topic_pattern: "{prefix}.{schema}.{table}"
topics: {schema_changes: true, signals: shopserver.signals}
datetime_zone: Asia/Tokyo
"""
FILES = {"tables/shop/orders.yml": TABLE, "connectors/shop.yml": CONNECTOR, "defaults.yml": "history: false\n"}
ODD = ["", "~", "7", "-1", "1e400", ".nan", "true", "[]", "{}", "[[a]]", "{a: {b: [c]}}", "'", "&a", "*a", "!!set {a}"]


def damaged(text: str, random: Random) -> str:
    """The text with one part removed, moved, or replaced by something odd."""
    start, end = sorted(random.sample(range(len(text) + 1), 2))
    end = min(end, start + random.choice([1, 3, 10, 40]))
    filling = random.choice(["", *ODD, text[end : end + 12], "\t", "\n", ": ", ",", "\x00", "é", "}"])
    return text[:start] + filling + text[end:]


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_are_reported_and_never_raise(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    files = {name: damaged(text, random) if random.random() < 0.7 else text for name, text in FILES.items()}
    conf = read_conf(write_conf(tmp_path, files), checks=[check_sql])
    assert conf.faults or len(conf.tables) == 1, f"seed={seed}"
    assert all(fault.location.line >= 0 and fault.detail and fault.fix for fault in conf.faults)


@pytest.mark.parametrize("name", schema("table")["properties"])
@pytest.mark.parametrize("odd", ODD)
def test_any_field_may_hold_anything(tmp_path: Path, name: str, odd: str) -> None:
    kept = [line for line in TABLE.splitlines() if not line.startswith((f"{name}:", "  "))]
    columns = [] if name == "columns" else [line for line in TABLE.splitlines() if line.startswith("  ")]
    lines = [line for each in kept for line in ([each, *columns] if each == "columns:" else [each])]
    conf = read_conf(write_conf(tmp_path, {"tables/shop/orders.yml": "\n".join([*lines, f"{name}: {odd}"])}))
    assert all(fault.condition is not Condition.NO_KEY for fault in conf.faults)
    assert conf.faults or conf.tables
