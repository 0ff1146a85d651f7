"""Every reconciler with every writer that it is eligible for makes the same target of the same batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from pyspark.sql import SparkSession
from tests.conformance.tables import difference
from tests.support.auto_cdc_model import Event, Rules, target
from tests.support.row_changes import flow_args

from dlt_local.auto_cdc.events import to_flat_events
from dlt_local.auto_cdc.handler import AutoCdcHandler
from dlt_local.auto_cdc.state import State
from dlt_local.auto_cdc.strategies import (
    ChangeStatistics,
    Reconciler,
    Situation,
    Strategies,
    TargetStatistics,
    Writer,
    choose_reconciler,
)
from dlt_local.delta.transaction import TransactionId

Row = tuple[int, str | None, int, bool]
"""id, name, at, gone."""
FIRST: list[Row] = [(1, "a", 1, False), (2, "b", 1, False), (3, "c", 1, False), (4, "d", 2, False)]
IN_ORDER: list[Row] = [(1, "a2", 5, False), (1, "a3", 6, False), (2, None, 7, True), (9, "i", 7, False)]
NEW_KEYS: list[Row] = [(11, "k", 5, False), (12, "l", 5, False)]
LATE: list[Row] = [(1, "a0", 0, False), (4, "d2", 3, False), (3, None, 9, True), (3, "c2", 4, False)]
NULLS: list[Row] = [(1, None, 5, False), (2, "b2", 6, False), (5, None, 6, False), (4, None, 7, True)]
LAST: list[Row] = [(1, "z", 4, False), (2, "y", 3, False), (3, "x", 20, False), (4, "w", 1, False), (9, "v", 6, True)]
"""Late events of every key: whatever the batch before left behind in the state shows here."""


@dataclass(frozen=True)
class Case:
    name: str
    scd_type: Literal[1, 2]
    batch: Sequence[Row]
    reconcilers: tuple[Reconciler, ...]
    writers: tuple[Writer, ...]
    ignores_nulls: bool = False


FOLD, HISTORY = Reconciler.GENERAL_FOLD, Reconciler.IN_ORDER_HISTORY
CHANGING = (Writer.REWRITE, Writer.KEY_LIST, Writer.MERGE)
CASES = (
    Case("type 1, in order", 1, IN_ORDER, (Reconciler.LATEST_ROW,), CHANGING),
    Case("type 1, new keys", 1, NEW_KEYS, (Reconciler.LATEST_ROW,), CHANGING),
    Case("type 1, late", 1, LATE, (Reconciler.LATEST_ROW,), CHANGING),
    Case("type 1, partial", 1, NULLS, (FOLD,), CHANGING, ignores_nulls=True),
    Case("type 2, in order", 2, IN_ORDER, (HISTORY, FOLD), CHANGING),
    Case("type 2, new keys", 2, NEW_KEYS, (HISTORY, FOLD), (Writer.APPEND, *CHANGING)),
    Case("type 2, late", 2, LATE, (FOLD,), (Writer.REWRITE, Writer.MERGE)),
)
PAIRS = [(case, *pair) for case in CASES for pair in product(case.reconcilers, case.writers)]


def _forced(reconciler: Reconciler, writer: Writer) -> Strategies:
    """Choose these, except where nothing changes or an append would not be exact."""

    def choose_writer(changes: ChangeStatistics, table: TargetStatistics) -> Writer:
        if not changes.inserted + changes.changed:
            return Writer.NONE
        return Writer.MERGE if writer is Writer.APPEND and changes.changed else writer

    def choose(situation: Situation) -> Reconciler:
        assert choose_reconciler(situation) in (reconciler, HISTORY)
        return reconciler

    return Strategies(choose, choose_writer)


def _expected(case: Case, batches: Sequence[Sequence[Row]]) -> list[dict[str, Any]]:
    events = [
        Event("delete" if gone else "upsert", at, {"id": id, "name": name})
        for batch in batches
        for id, name, at, gone in batch
    ]
    ignored = frozenset({"name"} if case.ignores_nulls else ())
    return target(events, Rules(("id",), ("id", "name"), case.scd_type, ignore_nulls=ignored))


@pytest.mark.parametrize(
    ("case", "reconciler", "writer"), PAIRS, ids=[f"{c.name}: {r.value}, {w.value}" for c, r, w in PAIRS]
)
def test_the_target_is_the_same(
    spark: SparkSession, tmp_path: Path, case: Case, reconciler: Reconciler, writer: Writer
) -> None:
    args = flow_args(spark, "id INT, name STRING", ["id"], case.scd_type, ignore_null_updates=case.ignores_nulls)
    path, state = tmp_path / "target", State(tmp_path / "state", 172_800)
    spark.createDataFrame([], args.target_schema).write.format("delta").save(str(path))
    batches = [FIRST, case.batch, LAST]
    for number, batch in enumerate(batches):
        choose = _forced(reconciler, writer) if number == 1 else None
        events = to_flat_events(spark.createDataFrame(batch, "id INT, name STRING, at INT, gone BOOLEAN"), args)
        AutoCdcHandler(args, path, state, choose).apply(events, TransactionId("app", number))
        stored = [row.asDict(recursive=True) for row in spark.read.format("delta").load(str(path)).collect()]
        different = difference(_expected(case, batches[: number + 1]), stored)
        assert not different, f"after batch {number} (- expected, + stored)\n{different}"
