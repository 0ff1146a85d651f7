"""Which reconciler and which writer a batch gets, as tables."""

from dataclasses import replace

import pytest

from dlt_local.auto_cdc.strategies import (
    ChangeStatistics,
    Reconciler,
    Situation,
    TargetStatistics,
    Thresholds,
    Writer,
    choose_reconciler,
    choose_writer,
)

MIXED = ChangeStatistics(inserted=5, changed=5, compared=0, has_predicate=True)
TABLE = TargetStatistics(
    rows=1_000,
    size_in_bytes=2 * Thresholds().small_bytes,
    has_same_columns=True,
    has_change_feed=False,
    has_listable_keys=True,
)
SMALL = replace(TABLE, size_in_bytes=Thresholds().small_bytes)
LARGE = replace(TABLE, size_in_bytes=Thresholds().large_bytes)


@pytest.mark.parametrize(
    ("is_latest", "tracks_whole_rows", "is_in_order", "has_truncates", "expected"),
    [
        (True, False, True, False, Reconciler.LATEST_ROW),
        (True, False, False, True, Reconciler.LATEST_ROW),
        (False, True, True, False, Reconciler.IN_ORDER_HISTORY),
        (False, True, True, True, Reconciler.GENERAL_FOLD),
        (False, True, False, False, Reconciler.GENERAL_FOLD),
        (False, False, True, False, Reconciler.GENERAL_FOLD),
    ],
)
def test_the_reconciler(
    is_latest: bool, tracks_whole_rows: bool, is_in_order: bool, has_truncates: bool, expected: Reconciler
) -> None:
    assert choose_reconciler(Situation(is_latest, tracks_whole_rows, is_in_order, has_truncates)) is expected


@pytest.mark.parametrize(
    ("changes", "table", "expected"),
    [
        (replace(MIXED, inserted=0, changed=0), TABLE, Writer.NONE),
        (replace(MIXED, changed=0), TABLE, Writer.APPEND),
        (replace(MIXED, changed=0), replace(LARGE, has_same_columns=False), Writer.APPEND),
        (MIXED, TABLE, Writer.MERGE),
        (replace(MIXED, changed=244), TABLE, Writer.MERGE),
        (replace(MIXED, changed=245), TABLE, Writer.REWRITE),
        (replace(MIXED, changed=245), LARGE, Writer.REWRITE),
        (replace(MIXED, changed=245, compared=1), TABLE, Writer.MERGE),
        (replace(MIXED, changed=245), replace(TABLE, has_same_columns=False), Writer.MERGE),
        (replace(MIXED, changed=245), replace(TABLE, has_change_feed=True), Writer.MERGE),
        (replace(MIXED, changed=245), replace(TABLE, rows=None), Writer.MERGE),
        (MIXED, SMALL, Writer.REWRITE),
        (replace(MIXED, compared=1), SMALL, Writer.MERGE),
        (replace(MIXED, changed=0), SMALL, Writer.APPEND),
        (replace(MIXED, changed=245), replace(SMALL, has_change_feed=True), Writer.MERGE),
        (MIXED, replace(SMALL, rows=None), Writer.REWRITE),
        (MIXED, LARGE, Writer.KEY_LIST),
        (MIXED, replace(LARGE, rows=None), Writer.KEY_LIST),
        (replace(MIXED, has_predicate=False), LARGE, Writer.MERGE),
        (MIXED, replace(LARGE, has_listable_keys=False), Writer.MERGE),
        (replace(MIXED, changed=50_000), replace(LARGE, rows=10**6), Writer.MERGE),
    ],
)
def test_the_writer(changes: ChangeStatistics, table: TargetStatistics, expected: Writer) -> None:
    assert choose_writer(changes, table) is expected
