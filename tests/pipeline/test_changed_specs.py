"""Edits of table specs: each ends in the rows that a build from scratch gives, or is refused until a rebuild.

The update before the edits is killed between the auxiliary state and the target, so that records wait at every dataset.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.crash import die_at
from tests.support.records import Record, Topic

from cdc.__main__ import cdc
from dlt_local import Update, UpdateFailed

_BRONZE = Path(__file__).resolve().parents[2] / "pipelines" / "bronze" / "**"
_COLUMNS = {
    "id": "int",
    "name": "nvarchar(20) not null",
    "price": "decimal(9,2)",
    "email": "nvarchar(50)",
    "stock": "smallint",
}


@dataclass(frozen=True)
class Edit:
    """An edit of a table's spec, and what becomes of the table's rows."""

    columns: Mapping[str, Any]
    """In place of those above; None leaves one out."""
    refused: str | None = None
    """A line of the refusal; None if the edit is applied in place."""
    more: str = ""
    """Other fields of the edited spec."""
    always: str = ""
    """Other fields of the spec, before and after."""


EDITS = {
    "in_place": Edit(
        {"name": "nvarchar(20)", "note": "nvarchar(10)", "placed": "datetime2(7)", "email": "nvarchar(99)"},
        more="comment: Other words\ngold: {table: sold}\ncluster_by: [note]\n"
        "expectations: {cheap: price < 5, sane: {condition: price < 99, action: fail}}",
    ),
    "known_before": Edit({"seen": "int"}, "seen: int (new)"),
    "widened": Edit({"price": "decimal(18,2)", "stock": "bigint"}),
    "widened_rows": Edit({"price": "decimal(38,2)", "stock": "int"}, always="history: false"),
    "rescaled": Edit({"price": "decimal(11,4)"}, "price: decimal(9,2) -> decimal(11,4)"),
    "renamed": Edit(
        {"name": "{type: nvarchar(20) not null, rename: title}"}, "name: nvarchar(20) -> nvarchar(20) as title"
    ),
    "masked": Edit(
        {"email": '{type: nvarchar(50), mask: "sha2(email, 256)"}'},
        "email: nvarchar(50) -> nvarchar(50) masked by sha2(email, 256)",
    ),
    "other_key": Edit({}, "key columns: id -> id, name", more="key: [id, name]"),
    "filtered": Edit({}, "row filter: name = 'a' (new)", more="filter: name = 'a'"),
    "kept": Edit({}, "computed column twice: price * 2 (new)", more="deletes: soft\ncomputed: {twice: price * 2}"),
    "judged": Edit(
        {},
        "expectations that drop: named (name <> 'a') (new)",
        more="expectations:\n  named: {condition: name <> 'a', action: drop}\n"
        "  known: {condition: id <> 11, action: quarantine}",
    ),
    "without_history": Edit({}, "history: every version -> current rows", more="history: false"),
}


def _spec(table: str, columns: Mapping[str, Any], more: str) -> str:
    lines = [f"table: shop.dbo.{table}", *([] if more.startswith("key:") else ["key: [id]"]), more]
    lines.append(EDITS[table].always)
    shown = [f"  {name}: {type_}" for name, type_ in columns.items() if type_ is not None]
    return "\n".join([*lines, "columns:", *shown, ""])


def _conf(edited: bool) -> dict[str, str]:
    first = {table: _spec(table, _COLUMNS, "") for table in EDITS}
    then = {table: _spec(table, _COLUMNS | dict(edit.columns), edit.more) for table, edit in EDITS.items()}
    return {f"tables/shop/{table}.yml": text for table, text in (then if edited else first).items()}


def _records(table: str, first: int, has_new: bool = False) -> list[Record]:
    """Three changes of two keys; `seen` is in all of them, `note` and `placed` only once the spec knows them."""
    topic = Topic(f"shopserver.shop.dbo.{table}")
    new = {"note": "n", "placed": 1_772_366_400_000_000_000} if has_new else {}
    row = {"name": "a", "price": "AfQ=", "email": "a@b", "seen": 7, "stock": 5, **new}
    return [
        topic.create(id=first, **row).at(f"30:{first + 1}:1"),
        topic.update(id=first, **{**row, "name": "b"}).at(f"30:{first + 2}:1"),
        topic.create(id=first + 1, **row).at(f"30:{first + 3}:1"),
    ]


@pytest.fixture(scope="module")
def edited(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[CdcPipeline, Update]:
    """All tables after an update by the first specs, one that was killed, and one by the edited specs."""
    pipeline = CdcPipeline(tmp_path_factory.mktemp("specs"), spark, _conf(edited=False))
    pipeline.deliver(record for table in EDITS for record in _records(table, 0))
    pipeline.update()
    pipeline.deliver(record for table in EDITS for record in _records(table, 5))
    die_at(_BRONZE, pipeline.folder / "storage", "cdc.between", pipeline.arguments())
    pipeline.configure(_conf(edited=True))
    pipeline.deliver(record for table in EDITS for record in _records(table, 10, has_new=True))
    with pytest.raises(UpdateFailed) as failed:
        pipeline.update()
    assert failed.value.update is not None
    return pipeline, failed.value.update


def test_each_edit_is_applied_or_refused_by_name(edited: tuple[CdcPipeline, Update]) -> None:
    pipeline, update = edited
    for table, edit in EDITS.items():
        own = [each for each in update.datasets if re.search(rf"\.{table}(_|$)", each.name)]
        errors = [str(each.error) for each in own if each.error]
        states = {each.state for each in own}
        if edit.refused is None:
            assert not errors, errors
            continue
        assert any(edit.refused in line for error in errors for line in error.splitlines()), (table, errors)
        assert "FAILED" in states and "SKIPPED" in states
        # What was refused is as the killed update left it.
        assert pipeline.rows(f"silver.{table}_changes", "count(*)")[0][0] in (3, 6, 9)


def test_the_plan_says_the_same_before_the_run(edited: tuple[CdcPipeline, Update]) -> None:
    pipeline, _ = edited
    storage = pipeline.folder / "storage"
    done = CliRunner().invoke(cdc, ["plan", str(pipeline.folder / "conf"), "--storage", str(storage)])
    assert done.exit_code == 2, done.output
    needing = set(re.findall(r"^(\w+): needs a rebuild", done.output, re.MULTILINE))
    assert needing == {table for table, edit in EDITS.items() if edit.refused} - {"known_before"}


def test_after_a_rebuild_every_table_is_as_if_built_from_scratch(
    edited: tuple[CdcPipeline, Update], spark: SparkSession, tmp_path: Path
) -> None:
    pipeline, _ = edited
    pipeline.pipeline().run(rebuild=[table for table, edit in EDITS.items() if edit.refused])
    assert pipeline.update().state == "COMPLETED"
    scratch = CdcPipeline(tmp_path, spark, _conf(edited=True))
    scratch.landing = pipeline.landing
    scratch.update()
    for table, edit in EDITS.items():
        gold = "gold.sold" if table == "in_place" else f"gold.{table}"
        history = [] if "history: false" in (edit.more, edit.always) else [f"{gold}_history"]
        for dataset in (f"silver.{table}_changes", gold, *history):
            types = sorted(scratch.pipeline().table(dataset).dtypes)
            assert sorted(pipeline.pipeline().table(dataset).dtypes) == types, dataset
            text = f"to_json(struct({', '.join(f'`{name}`' for name, _ in types)}))"
            assert pipeline.rows(dataset, text) == scratch.rows(dataset, text), dataset
