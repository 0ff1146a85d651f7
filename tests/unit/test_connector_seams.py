"""What is specific to a connector kind is in its own files: adding one does not touch the rest of `cdc`."""

import re
from pathlib import Path

from cdc.debezium.positions import POSITIONS
from cdc.debezium.values import CONVERSIONS

CDC = Path(__file__).parents[2] / "pipelines" / "cdc"
POSITION_NAMES = re.compile(r"(?i)\b_?(commit_lsn|change_lsn|event_serial_no)\b|\bpositions\.sqlserver\b")
ALLOWED = {
    "debezium/positions/__init__.py",  # registers the position
    "debezium/positions/sqlserver.py",
    "connector_check/topics.py",  # `check-connector` is about SQL Server connectors throughout
}


def test_only_sql_servers_own_files_name_its_position_columns() -> None:
    files = {str(file.relative_to(CDC)): file.read_text(encoding="utf-8") for file in CDC.rglob("*.py")}
    assert {name for name, text in files.items() if POSITION_NAMES.search(text)} <= ALLOWED


def test_a_connector_kind_has_a_position_and_types() -> None:
    assert set(POSITIONS) == set(CONVERSIONS)
