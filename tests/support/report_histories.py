"""Histories of updates as the report stores them: of small and of large pipelines, with what can go wrong."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dlt_local.observability.report import DatasetRun, ExpectationRun, Run
from dlt_local.observability.report.measures import Counts
from dlt_local.observability.report.runs import History
from dlt_local.observability.report.source_text import SourceText
from dlt_local.observability.shapes import ColumnShape, Shape

UPDATES = 12
PLACE = "/shop/src/tables.py:12"
ERROR = """NULL_IN_KEY  silver.{table}
  key column `id` is null in 3 changes of the microbatch, the first at offset 4711
  fix: correct `key:` in conf/tables/shop/{table}.yml, then run again"""
OUTCOMES = "_outcome, _reason"
WORDS = (
    "orders",
    "customers",
    "products",
    "invoices",
    "payments",
    "parcels",
    "returns",
    "prices",
    "stock",
    "suppliers",
)


def small() -> History:
    """Four datasets, of which one is a view."""
    datasets = [
        _shape("shop.orders_raw", "streaming table"),
        _shape("shop.orders", "streaming table", "shop.orders_raw"),
        _shape("recent", "view", "shop.orders"),
        _shape("shop.orders_by_country", "materialized view", "recent"),
    ]
    return _history(datasets, ())


def large(tables: int) -> History:
    """Seven datasets for each table, and one that reads all; the second table is silent, the third has failed."""
    names = [
        WORDS[number] if number < len(WORDS) else f"{WORDS[number % 10]}_{number // 10}" for number in range(tables)
    ]
    datasets = [each for name in names for each in _of_table(name)]
    datasets.append(_shape("gold.shop_findings", "materialized view", *(f"silver.{name}_changes" for name in names)))
    return _history(datasets, names)


def _of_table(name: str) -> Iterator[Shape]:
    yield _shape(f"bronze.{name}", "streaming table")
    decoded = _shape(f"silver.{name}_decoded", "streaming table", f"bronze.{name}")
    yield replace(decoded, private=True, defined_in=f"conf/tables/shop/{name}.yml")
    yield _shape(f"silver.{name}_changes", "streaming table", f"silver.{name}_decoded")
    yield _shape(f"silver.{name}_rejects", "streaming table", f"silver.{name}_decoded")
    yield _shape(f"silver.{name}", "streaming table", f"silver.{name}_changes")
    yield _shape(f"gold.{name}", "materialized view", f"silver.{name}")
    yield _shape(f"gold.{name}_history", "materialized view", f"silver.{name}")


def _shape(name: str, kind: str, *inputs: str) -> Shape:
    columns = (
        ColumnShape("order_id", "bigint", "Key of the source"),
        ColumnShape("placed_at", "timestamp"),
        ColumnShape("lines", "array<struct<product_id:bigint,pieces:int,price:decimal(18,2)>>"),
    )
    read = {each: (name,) for each in inputs}
    return Shape(name, kind, PLACE, comment=f"What {name} is for", columns=columns, inputs=read)


def _history(datasets: Sequence[Shape], tables: Sequence[str]) -> History:
    now = datetime.now(UTC)
    runs = tuple(_run(datasets, tables, number, now) for number in range(UPDATES))
    counts, samples = {}, {}
    if tables:
        with_rejects = f"silver.{tables[0]}_decoded"
        counts = {
            with_rejects: Counts("t", 9, OUTCOMES, {"change": 1200, "ignored: tombstone": 40, "reject: WRONG_TYPE": 3}),
            f"{with_rejects} (notes)": Counts(
                "t",
                9,
                '{"hint": "compare: python -m cdc scaffold --diff"}',
                {"column added: discount": 3},
                {"column added: discount": "orders[0]@120"},
            ),
        }
        message = "column total: `12.50 EUR` is not of type decimal(18,2)"
        samples = {with_rejects: ({"_reason": "WRONG_TYPE", "_message": message, "_offset": "118"},)}
    text = SourceText(
        12, ("@dp.table(comment=COMMENT)", "def orders():", '    return spark.readStream.table("orders_raw")')
    )
    return History(runs, counts, tuple(datasets), {PLACE: text}, samples)


def _run(datasets: Sequence[Shape], tables: Sequence[str], number: int, now: datetime) -> Run:
    started = now - timedelta(hours=UPDATES - number)
    failed = tables[2] if len(tables) > 2 and number == UPDATES - 1 else None
    results = tuple(_result(each, tables, number, started, failed) for each in datasets if each.kind != "view")
    state = "FAILED" if failed else "COMPLETED"
    notices = ("Dataset silver.old is no longer declared: it is inactive and keeps its data.",) if tables else ()
    return Run(f"{number:06}-update", state, started.isoformat(timespec="seconds"), 42.0, results, (), notices)


def _result(shape: Shape, tables: Sequence[str], number: int, started: datetime, failed: str | None) -> DatasetRun:
    table = re.sub("_(decoded|changes|rejects|history)$", "", shape.name.rpartition(".")[2])
    rows = 100 + 37 * (sum(map(ord, shape.name)) * (number + 1) % 11)
    is_silent = len(tables) > 1 and table == tables[1] and number >= UPDATES - 5
    newest = started if not is_silent else started - timedelta(hours=number - (UPDATES - 6))
    done = DatasetRun(shape.name, shape.kind, "COMPLETED", PLACE, 1.5, rows, written={shape.name: rows})
    if failed and (table == failed and not shape.name.startswith(("bronze", f"silver.{failed}_"))):
        if shape.name == f"silver.{failed}":
            error = ERROR.format(table=failed)
            lines = ((11, ""), (12, "@dp.table(comment=COMMENT)"), (13, "def orders():"))
            return DatasetRun(shape.name, shape.kind, "FAILED", PLACE, 0.4, error=error, excerpt=lines)
        return DatasetRun(shape.name, shape.kind, "SKIPPED", PLACE)
    if is_silent:
        done = DatasetRun(shape.name, shape.kind, "IDLE", PLACE)
    if shape.name.endswith("_changes") or not tables:
        done = replace(done, newest=newest.isoformat(), lag=95.0)
        done = replace(done, expectations=(ExpectationRun("total is positive", "total > 0", "warn", rows - 2, 2),))
    if tables and shape.name == f"silver.{tables[0]}_decoded":
        counted = {"change": rows - 4, "ignored: tombstone": 3, "reject: WRONG_TYPE": 1}
        done = replace(done, counted=counted, rejects=1, noted={"column added: discount": 3})
    return done
