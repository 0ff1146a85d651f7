"""What an update continues from is lost or altered between two updates: refused by name with its way out, or made good.

Each fault has a dataset of its own, and all of them are in one pipeline: so one update shows every refusal, and that
the others go on; the next one takes the ways out. `untouched` and its like show what the rows must be.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.support.small_pipeline import SmallPipeline

from dlt_local import UpdateFailed
from dlt_local.cli.main import main
from dlt_local.delta.storage import Storage
from dlt_local.names import TableName

SOURCE = """
    import dlt
    from pyspark.sql import functions as F

    def stream():
        return spark.readStream.schema("id INT, name STRING, at INT, gone BOOLEAN").json(spark.conf.get("rows"))

    @dlt.table
    def events():
        return stream()

    @dlt.table
    def renewed():
        return stream()

    def target(name):
        dlt.create_streaming_table(name)
        dlt.create_auto_cdc_flow(
            target=name, source="events", keys=["id"], sequence_by="at", apply_as_deletes="gone",
            except_column_list=["gone"], stored_as_scd_type=2 if name.startswith("history") else 1)

    def copy(name):
        source = "renewed" if name.startswith("copy_of_renewed") else "events"
        dlt.table(name=name)(lambda: spark.readStream.table(source))

    def view(name):
        dlt.table(name=name)(lambda: spark.read.table("events").groupBy("id").count())

    for name in spark.conf.get("datasets").split(","):
        {"copy": copy, "view": view}.get(name.split("_")[0], target)(name)
"""
FIRST = (
    {"id": 1, "name": "ann", "at": 10, "gone": False},
    {"id": 2, "name": "bob", "at": 20, "gone": False},
    {"id": 3, "name": "cid", "at": 30, "gone": False},
)
SECOND = ({"id": 1, "at": 40, "gone": True}, {"id": 2, "name": "bea", "at": 50, "gone": False})
THIRD = (
    {"id": 1, "name": "too late", "at": 35, "gone": False},
    {"id": 2, "name": "overtaken", "at": 45, "gone": False},
    {"id": 3, "name": "cyd", "at": 60, "gone": False},
    {"id": 4, "name": "dan", "at": 70, "gone": False},
)
FILE = re.compile(r"part-[\w.-]+\.parquet")
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}")
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


@dataclass(frozen=True)
class Place:
    """What one dataset has in the storage, and the same in a copy of the storage made an update earlier."""

    name: str
    storage: Storage
    older: Storage
    spark: SparkSession

    @property
    def target(self) -> TableName:
        return TableName("default", self.name)

    @property
    def table(self) -> Path:
        return self.storage.table(self.target)

    @property
    def state(self) -> Path:
        return self.storage.auto_cdc(self.target)

    @property
    def part(self) -> Path:
        return sorted(path for path in (self.state / "log").iterdir() if path.is_dir())[0]

    @property
    def data(self) -> Path:
        return next(self.part.glob("*.parquet"))

    @property
    def checkpoint(self) -> Path:
        return self.storage.checkpoint(str(self.target), str(self.target))

    def restore(self, path: Path) -> None:
        """Put the older copy of a file or folder in its place."""
        older = self.older.root / path.relative_to(self.storage.root)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(older, path) if older.is_dir() else shutil.copy(older, path)

    def replace(self, path: Path, other: Path) -> None:
        shutil.rmtree(path)
        shutil.copytree(other, path)

    def sql(self, statement: str) -> None:
        self.spark.sql(statement.format(table=f"delta.`{self.table}`"))


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


@dataclass(frozen=True)
class Fault:
    """One alteration of one dataset, and what the next update says of it."""

    dataset: str
    alter: Callable[[Place], object]
    message: str | None
    """None where the update makes it good."""
    way_out: Callable[[Place], object] | None = None
    """Undoes the alteration, for an update without options; None for a rebuild."""


def _refused(condition: str, dataset: str, what: str) -> str:
    fix = (
        f"restore STORAGE/system/auto_cdc/default.{dataset} and STORAGE/system/seals/default.{dataset}.json "
        f"from a copy as old as the table, or rebuild the table with --rebuild default.{dataset}"
    )
    without = "without" if condition == "MISSING" else "with"
    return (
        f"AUTOCDC_INVALID_STATE.{condition}  default.{dataset}\n"
        f"  {what.replace('STATE', f'STORAGE/system/auto_cdc/default.{dataset}')}; {without} it late events, "
        f"duplicates and deletes would be applied wrongly\n  fix: {fix}"
    )


def _other_table(condition: str, dataset: str, what: str, undo: str = "") -> str:
    undo = undo or "restore the table as the last update left it, or "
    table = f"STORAGE/tables/default/{dataset}"
    return (
        f"TARGET_{condition}  default.{dataset}\n  {what.replace('TABLE_', table)}\n"
        f"  fix: {undo.replace('TABLE_', table)}rebuild the table with --rebuild default.{dataset}"
    )


def _checkpoint(dataset: str, what: str) -> str:
    return (
        f"CHECKPOINT_DAMAGED  default.{dataset}\n  flow `default.{dataset}` had its checkpoint at "
        f"STORAGE/system/checkpoints/default.{dataset}/default.{dataset}, {what}\n"
        f"  fix: restore it, or rebuild the table with --rebuild default.{dataset}"
    )


CHANGED = (
    "its rows were changed after the last batch, or the auxiliary state is an older copy: version 3, {} at TIME UTC"
)
UNDO = "undo it by RESTORE TABLE delta.`TABLE_` TO VERSION AS OF 2, or "

FAULTS = (
    # The auxiliary state.
    Fault(
        "state_gone",
        lambda at: shutil.rmtree(at.state),
        _refused("MISSING", "state_gone", "STATE/log/parts.json is gone"),
    ),
    Fault("part_gone", lambda at: shutil.rmtree(at.part), _refused("MISSING", "part_gone", "STATE/log/ID-0 is gone")),
    Fault("file_gone", lambda at: at.data.unlink(), _refused("MISSING", "file_gone", "STATE/log/ID-0/FILE is gone")),
    Fault(
        "file_cut", lambda at: _cut(at.data), _refused("DAMAGED", "file_cut", "STATE/log/ID-0/FILE has N bytes, not N")
    ),
    Fault(
        "list_gone",
        lambda at: (at.state / "log" / "parts.json").unlink(),
        _refused("MISSING", "list_gone", "STATE/log/parts.json is gone"),
    ),
    Fault(
        "list_cut",
        lambda at: _cut(at.state / "log" / "parts.json"),
        _refused("DAMAGED", "list_cut", "STATE/log/parts.json cannot be read: it is not valid JSON"),
    ),
    Fault(
        "list_older",
        lambda at: at.restore(at.state / "log" / "parts.json"),
        _refused("OUTDATED", "list_older", "STATE/log/parts.json is an older copy"),
    ),
    Fault("ledger_gone", lambda at: (at.state / "begun.json").unlink(), None),
    Fault("ledger_cut", lambda at: _cut(at.state / "begun.json"), None),
    Fault(
        "ledger_older",
        lambda at: at.restore(at.state / "begun.json"),
        _refused("OUTDATED", "ledger_older", "the auxiliary state in STATE is an older copy"),
    ),
    Fault(
        "state_older",
        lambda at: at.restore(at.state),
        _refused("OUTDATED", "state_older", "the auxiliary state in STATE is an older copy"),
    ),
    Fault(
        "declaration_cut",
        lambda at: _cut(at.state / "declaration.json"),
        _refused("DAMAGED", "declaration_cut", "STATE/declaration.json cannot be read: it is not valid JSON"),
    ),
    Fault("seal_gone", lambda at: at.storage.seal(at.target).unlink(), None),
    # All facts of this history follow from the target's rows, so the state is made again from its seal.
    Fault("history_state_gone", lambda at: shutil.rmtree(at.state), None),
    # The target.
    Fault(
        "table_gone",
        lambda at: shutil.rmtree(at.table),
        _other_table("MISSING", "table_gone", "the table is gone: there is no Delta table at TABLE_"),
    ),
    Fault(
        "table_older",
        lambda at: at.restore(at.table),
        _other_table("OUTDATED", "table_older", "the table is an older copy: its version was 2 and is 1"),
    ),
    Fault(
        "table_replaced",
        lambda at: at.replace(at.table, at.storage.table(TableName("default", "untouched"))),
        _other_table("REPLACED", "table_replaced", "another table has taken its place: its id was ID and is ID"),
    ),
    Fault(
        "table_changed",
        lambda at: at.sql("DELETE FROM {table} WHERE id = 2"),
        _other_table("CHANGED", "table_changed", CHANGED.format("DELETE"), UNDO),
    ),
    Fault(
        "table_changed_back",
        lambda at: at.sql("UPDATE {table} SET name = 'x' WHERE id = 2"),
        _other_table("CHANGED", "table_changed_back", CHANGED.format("UPDATE"), UNDO),
        lambda at: at.sql("RESTORE TABLE {table} TO VERSION AS OF 2"),
    ),
    Fault(
        "table_restored",
        lambda at: at.sql("RESTORE TABLE {table} TO VERSION AS OF 1"),
        _other_table("CHANGED", "table_restored", CHANGED.format("RESTORE"), UNDO),
    ),
    Fault(
        "table_maintained",
        lambda at: (at.sql("ALTER TABLE {table} SET TBLPROPERTIES ('a' = 'b')"), at.sql("OPTIMIZE {table}")),
        None,
    ),
    # Streams and views.
    Fault(
        "copy_gone",
        lambda at: shutil.rmtree(at.table),
        _other_table("MISSING", "copy_gone", "the table is gone: there is no Delta table at TABLE_"),
    ),
    Fault(
        "copy_older",
        lambda at: at.restore(at.table),
        _other_table("OUTDATED", "copy_older", "the table is an older copy: its version was 2 and is 1"),
    ),
    Fault(
        "copy_restored",
        lambda at: at.sql("RESTORE TABLE {table} TO VERSION AS OF 1"),
        _other_table("OUTDATED", "copy_restored", "the table is an older copy: version 3 is a RESTORE to version 1"),
        lambda at: at.sql("RESTORE TABLE {table} TO VERSION AS OF 2"),
    ),
    Fault(
        "copy_with_older_checkpoint",
        lambda at: (at.restore(at.checkpoint), at.restore(at.storage.progress(str(at.target)))),
        _checkpoint(
            "copy_with_older_checkpoint",
            "which is an older copy: it has planned batches up to 0, and batch 1 is in the table",
        ),
    ),
    Fault(
        "copy_with_other_checkpoint",
        lambda at: at.replace(at.checkpoint, at.storage.checkpoint("default.copy", "default.copy")),
        _checkpoint("copy_with_other_checkpoint", "which is that of another stream: its id is ID, and was ID"),
    ),
    Fault(
        "copy_with_progress_cut",
        lambda at: _cut(at.storage.progress(str(at.target))),
        "STORAGE_FILE_DAMAGED  STORAGE/system/progress/default.copy_with_progress_cut.json\n"
        "  it is not valid JSON; the file holds what the last update of default.copy_with_progress_cut has read\n"
        "  fix: delete it: the next update continues from the checkpoints and writes it again",
        lambda at: at.storage.progress(str(at.target)).unlink(),
    ),
    Fault(
        "copy_without_system",
        lambda at: (shutil.rmtree(at.checkpoint), at.storage.progress(str(at.target)).unlink()),
        "CHECKPOINT_MISSING  default.copy_without_system\n"
        "  the table has rows, but neither its checkpoints nor a note of its last update are there\n"
        "  fix: restore the folder system, or rebuild the table with --rebuild default.copy_without_system",
    ),
    Fault(
        "copy_of_renewed",
        lambda at: None,
        "SOURCE_REPLACED  default.copy_of_renewed\n"
        "  default.renewed, which it reads, has been replaced by another table: where to continue in it is unknown\n"
        "  fix: rebuild the table with --rebuild default.copy_of_renewed, "
        "or bring back the table that it has read",
    ),
    Fault("view_changed", lambda at: at.sql("DELETE FROM {table}"), None),
)
UNTOUCHED = {"history": "history_untouched", "copy": "copy", "view": "view"}


def _normal(message: str, storage: Storage) -> str:
    text = message.replace(str(storage.root), "STORAGE")
    for pattern, name in ((FILE, "FILE"), (ID, "ID"), (TIME, "TIME")):
        text = pattern.sub(name, text)
    return re.sub(r"\d+ bytes, not \d+", "N bytes, not N", text)


def _doctor(storage: Storage) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["doctor", "--storage", str(storage.root)])
    return result.exit_code, _normal(result.output, storage)


def test_each_fault_is_refused_with_its_way_out_or_made_good(spark: SparkSession, tmp_path: Path) -> None:
    names = ["untouched", *UNTOUCHED.values(), *(fault.dataset for fault in FAULTS)]
    small = SmallPipeline(tmp_path, spark, SOURCE)
    small.pipeline.configuration["datasets"] = ",".join(names)
    storage, older = small.pipeline.storage, Storage(tmp_path / "older")
    small.drop(*FIRST)
    small.pipeline.run()
    shutil.copytree(storage.root, older.root)
    small.drop(*SECOND)
    small.pipeline.run()
    assert _doctor(storage) == (0, "nothing is lost or altered\n")

    places = {fault.dataset: Place(fault.dataset, storage, older, spark) for fault in FAULTS}
    for fault in FAULTS:
        fault.alter(places[fault.dataset])
    small.pipeline.run(full_refresh=["renewed"])
    code, found = _doctor(storage)
    messages = {fault.dataset: fault.message for fault in FAULTS if fault.message is not None}
    assert code == 1
    for message in messages.values():
        assert message in found

    small.drop(*THIRD)
    before = {name: small.table(name) for name in messages if places[name].table.exists()}
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.run()
    assert failed.value.update is not None
    refused = {each.name: each.error for each in failed.value.update.datasets if each.state == "FAILED"}
    assert {name.removeprefix("default."): _normal(str(error), storage) for name, error in refused.items()} == messages
    assert {name: small.table(name) for name in before} == before, "a refused dataset was written"

    for fault in FAULTS:
        if fault.message is not None and fault.way_out is not None:
            fault.way_out(places[fault.dataset])
    again = [fault.dataset for fault in FAULTS if fault.message is not None and fault.way_out is None]
    small.pipeline.run(refresh=list(messages), rebuild=again)
    expected = {name: small.table(name) for name in ("untouched", *UNTOUCHED.values())}
    assert [(row["id"], row["name"]) for row in expected["untouched"]] == [(2, "bea"), (3, "cyd"), (4, "dan")]
    for fault in FAULTS:
        assert small.table(fault.dataset) == expected[UNTOUCHED.get(fault.dataset.split("_")[0], "untouched")], fault
    assert _doctor(storage) == (0, "nothing is lost or altered\n")
