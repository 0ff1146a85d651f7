"""The checks of a target and its state: no kill is taken for an alteration, and no alteration for a kill."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dlt_local.auto_cdc import ledger, seal, state
from dlt_local.auto_cdc.integrity import StoredTarget, faults, restore_ledger
from dlt_local.delta import storage as storage_files
from dlt_local.delta.storage import Storage
from dlt_local.delta.table_position import Alteration, TablePosition
from dlt_local.delta.transaction import TransactionId
from dlt_local.names import TableName

NAME = TableName("default", "orders")
FIRST, SECOND = TransactionId("query", 0), TransactionId("query", 1)


def commit(table: Path, operation: str, rows: int = 1, id: str | None = None, **parameters: str) -> None:
    """Add a commit to a Delta log, without data files."""
    folder = table / "_delta_log"
    folder.mkdir(parents=True, exist_ok=True)
    version = len(list(folder.glob("*.json")))
    info = {
        "operation": operation,
        "timestamp": version,
        "txnId": f"{table}{version}",
        "operationParameters": parameters,
    }
    actions: list[Mapping[str, Any]] = [{"commitInfo": info}]
    if id is not None:
        actions.append({"metaData": {"id": id}})
    is_change = operation not in ("OPTIMIZE", "SET TBLPROPERTIES")
    stats = json.dumps({"numRecords": rows})
    if operation != "CREATE TABLE":
        actions.append({"add": {"path": f"{version}.parquet", "dataChange": is_change, "stats": stats}})
    (folder / f"{version:020d}.json").write_text("\n".join(map(json.dumps, actions)))


@pytest.fixture
def target(tmp_path: Path) -> StoredTarget:
    """A target before its first batch."""
    storage = Storage(tmp_path)
    commit(storage.table(NAME), "CREATE TABLE", rows=0, id="one")
    return StoredTarget.of(NAME, storage.table(NAME), storage)


def apply(target: StoredTarget, batch: TransactionId) -> None:
    target.state.begin(batch, None)
    commit(target.table, "MERGE")
    target.state.end(batch)


def conditions(target: StoredTarget) -> list[str]:
    return [error.condition for error in faults(target)]


class _Killed(Exception):
    pass


def kill_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the write of JSON with this number, from 0, and all later ones fail."""
    count = iter(range(1000))

    def write(path: Path, value: Mapping[str, Any]) -> None:
        if next(count) >= number:
            raise _Killed
        storage_files.write_json(path, value)

    for module in (seal, state):
        monkeypatch.setattr(module, "write_json", write)


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("number", range(4))
def test_a_kill_between_any_two_writes_is_no_alteration(
    target: StoredTarget, monkeypatch: pytest.MonkeyPatch, number: int, before: int
) -> None:
    for batch in range(before):
        apply(target, TransactionId("query", batch))
    batch = TransactionId("query", before)
    with monkeypatch.context() as context:
        kill_at(number, context)
        with pytest.raises(_Killed):
            apply(target, batch)
    assert conditions(target) == []
    apply(target, batch)
    assert conditions(target) == []
    assert target.state.ledger().interrupted == ()


def test_a_write_by_another_hand_is_an_alteration_and_maintenance_is_none(target: StoredTarget) -> None:
    apply(target, FIRST)
    for operation, rows in (("OPTIMIZE", 1), ("SET TBLPROPERTIES", 1), ("WRITE", 0)):
        commit(target.table, operation, rows)
    assert conditions(target) == []
    commit(target.table, "WRITE")
    assert conditions(target) == ["TARGET_CHANGED"]
    commit(target.table, "RESTORE", version="1")
    assert conditions(target) == []
    commit(target.table, "DELETE")
    assert conditions(target) == ["TARGET_CHANGED"]


def test_only_what_a_batch_can_have_written_is_accepted_while_one_is_interrupted(target: StoredTarget) -> None:
    apply(target, FIRST)
    target.state.begin(SECOND, None)
    commit(target.table, "MERGE")
    assert conditions(target) == []
    commit(target.table, "DELETE")
    assert conditions(target) == ["TARGET_CHANGED"]


def test_a_lost_ledger_is_written_again_from_its_seal(target: StoredTarget) -> None:
    apply(target, FIRST)
    noted = target.state.ledger()
    shutil.rmtree(target.state.folder)
    assert conditions(target) == []
    assert not target.state.folder.exists(), "checking writes nothing"
    restore_ledger(target)
    assert target.state.ledger() == noted


def test_a_ledger_lost_in_the_middle_of_a_batch_is_not(target: StoredTarget) -> None:
    apply(target, FIRST)
    target.state.begin(SECOND, None)
    (target.state.folder / "begun.json").unlink()
    assert conditions(target) == ["AUTOCDC_INVALID_STATE.MISSING"]


def test_a_state_older_than_the_last_update_knows_is_refused(target: StoredTarget) -> None:
    apply(target, FIRST)
    assert [error.condition for error in faults(target, 2)] == []
    assert [error.condition for error in faults(target, 3)] == ["AUTOCDC_INVALID_STATE.OUTDATED"]


def test_state_of_an_earlier_version_is_taken_over_with_the_next_batch(target: StoredTarget) -> None:
    commit(target.table, "WRITE")
    target.state.write_ledger(ledger.Ledger({"query": 0}, {"query": 0}))
    assert conditions(target) == []
    apply(target, SECOND)
    assert conditions(target) == []
    assert target.seal.file.exists()
    commit(target.table, "WRITE")
    assert conditions(target) == ["TARGET_CHANGED"]


def test_state_of_an_earlier_version_that_is_gone_is_noticed_by_the_rows(target: StoredTarget) -> None:
    assert conditions(target) == []
    commit(target.table, "WRITE")
    assert conditions(target) == ["AUTOCDC_INVALID_STATE.MISSING"]


def test_a_target_of_an_earlier_version_that_is_gone_is_noticed_by_the_state(target: StoredTarget) -> None:
    target.state.write_ledger(ledger.Ledger({"query": 0}, {"query": 0}))
    shutil.rmtree(target.table)
    assert conditions(target) == ["TARGET_MISSING"]


def test_a_restore_takes_rows_back_until_another_one_brings_them_again(tmp_path: Path) -> None:
    commit(tmp_path, "CREATE TABLE", rows=0, id="one")
    commit(tmp_path, "WRITE")
    noted = TablePosition.of(tmp_path)
    assert noted is not None
    commit(tmp_path, "DELETE")
    assert noted.rewound(tmp_path) is None
    commit(tmp_path, "RESTORE", version="0")
    altered = noted.rewound(tmp_path)
    assert altered is not None
    assert (altered.kind, altered.evidence) == (Alteration.OUTDATED, "version 3 is a RESTORE to version 0")
    commit(tmp_path, "RESTORE", version="1")
    assert noted.rewound(tmp_path) is None


def _drop_and_create(table: Path) -> None:
    shutil.rmtree(table)
    for _ in range(3):
        commit(table, "WRITE", id="two")


def _go_back(table: Path) -> None:
    (table / "_delta_log" / f"{2:020d}.json").unlink()


def _go_back_and_on(table: Path) -> None:
    _go_back(table)
    commit(table, "APPEND BY ANOTHER HAND")


@pytest.mark.parametrize(
    ("alter", "kind"),
    [
        (shutil.rmtree, Alteration.MISSING),
        (_drop_and_create, Alteration.REPLACED),
        (_go_back, Alteration.OUTDATED),
        (_go_back_and_on, Alteration.OUTDATED),
        (lambda table: commit(table, "UPDATE"), Alteration.CHANGED),
        (lambda table: commit(table, "DROP COLUMNS", rows=0), Alteration.CHANGED),
        (lambda table: commit(table, "ADD COLUMNS", rows=0), None),
        (lambda table: None, None),
    ],
)
def test_how_a_table_was_altered(tmp_path: Path, alter: Callable[[Path], object], kind: Alteration | None) -> None:
    table = tmp_path / "table"
    commit(table, "CREATE TABLE", rows=0, id="one")
    commit(table, "WRITE")
    commit(table, "MERGE")
    noted = TablePosition.of(table)
    assert noted is not None
    assert TablePosition.from_json(noted.to_json()) == noted
    alter(table)
    altered = noted.altered(table)
    assert (altered.kind if altered else None) is kind
