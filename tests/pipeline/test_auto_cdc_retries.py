"""An interrupted batch that is retried with other events, as a flow from snapshots may, leaves exact rows and state."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.row_changes import flow_args

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.events import to_flat_events
from dlt_local.auto_cdc.handler import AutoCdcHandler
from dlt_local.auto_cdc.state import State
from dlt_local.auto_cdc.strategies import ChangeStatistics, Strategies, TargetStatistics, Writer
from dlt_local.delta.transaction import TransactionId

Row = tuple[int, str | None, int, bool]
"""id, name, at, gone."""


class _Interrupted(Exception):
    pass


class _StateThatNeverEnds(State):
    def end(self, batch: TransactionId) -> None:
        raise _Interrupted


def _no_writer(changes: ChangeStatistics, target: TargetStatistics) -> Writer:
    raise _Interrupted


@dataclass(frozen=True)
class _Flow:
    spark: SparkSession
    folder: Path
    args: ChangeArgs

    def apply(
        self, number: int, rows: Sequence[Row], state: type[State] = State, choose: Strategies | None = None
    ) -> None:
        events = self.spark.createDataFrame(rows, "id INT, name STRING, at INT, gone BOOLEAN")
        handler = AutoCdcHandler(self.args, self.folder / "target", state(self.folder / "state", 172_800), choose)
        handler.apply(to_flat_events(events, self.args), TransactionId("app", number))

    def rows(self) -> list[tuple[int, str]]:
        return sorted(tuple(row) for row in self.spark.read.format("delta").load(str(self.folder / "target")).collect())


@pytest.fixture
def flow(spark: SparkSession, tmp_path: Path) -> _Flow:
    args = flow_args(spark, "id INT, name STRING", ["id"])
    spark.createDataFrame([], args.target_schema).write.format("delta").save(str(tmp_path / "target"))
    flow = _Flow(spark, tmp_path, args)
    flow.apply(0, [(1, "a", 1, False), (2, "b", 1, False)])
    return flow


def test_a_row_that_only_the_interrupted_attempt_wrote_can_be_deleted(flow: _Flow) -> None:
    with pytest.raises(_Interrupted):
        flow.apply(1, [(5, "e", 2, False)], state=_StateThatNeverEnds)
    assert (5, "e") in flow.rows()
    flow.apply(1, [(5, None, 3, True)])
    assert flow.rows() == [(1, "a"), (2, "b")]


def test_a_delete_that_was_recorded_and_never_written_makes_no_second_row(flow: _Flow) -> None:
    with pytest.raises(_Interrupted):
        flow.apply(1, [(1, None, 2, True)], choose=Strategies(writer=_no_writer))
    flow.apply(1, [(2, "b2", 3, False)])
    flow.apply(2, [(1, "a2", 4, False)])
    assert flow.rows() == [(1, "a2"), (2, "b2")]


def test_the_same_attempt_again_writes_what_was_recorded_and_not_written(flow: _Flow) -> None:
    batch: list[Row] = [(1, "a2", 2, False), (2, None, 2, True), (3, "c", 2, False)]
    with pytest.raises(_Interrupted):
        flow.apply(1, batch, choose=Strategies(writer=_no_writer))
    flow.apply(1, batch)
    flow.apply(1, batch)
    assert flow.rows() == [(1, "a2"), (3, "c")]
    # The tombstone of 2 counts now.
    flow.apply(2, [(2, "late", 1, False)])
    assert flow.rows() == [(1, "a2"), (3, "c")]


def test_a_delete_by_another_flow_wins_over_the_retry_of_an_older_one(flow: _Flow) -> None:
    with pytest.raises(_Interrupted):
        flow.apply(1, [(1, None, 2, True)], choose=Strategies(writer=_no_writer))
    events = flow.spark.createDataFrame([(1, None, 3, True)], "id INT, name STRING, at INT, gone BOOLEAN")
    other = AutoCdcHandler(flow.args, flow.folder / "target", State(flow.folder / "state", 172_800))
    other.apply(to_flat_events(events, flow.args), TransactionId("other", 0))
    assert flow.rows() == [(2, "b")]
    flow.apply(1, [(1, None, 2, True)])
    assert flow.rows() == [(2, "b")]
