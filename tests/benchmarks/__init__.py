"""The speed of the pipeline beside what people write by hand: ``make bench``."""

from collections.abc import Callable, Mapping

from tests.benchmarks import applying, flowing, many_tables, small
from tests.benchmarks.bench import Bench
from tests.benchmarks.result import Result

MEASURES: Mapping[str, Callable[[Bench], Result]] = {
    "first-load": applying.first_load,
    "current-rows": applying.current_rows,
    "hot-keys": applying.hot_keys,
    "versions": applying.versions,
    "to-silver": flowing.to_silver,
    "to-gold": flowing.to_gold,
    "delta-rs": flowing.beside_delta_rs,
    "schema-block": flowing.schema_block,
    "wide-table": flowing.wide_table,
    "growth": small.growth,
    "hundred-changes": small.hundred_changes,
    "idle": small.idle,
    "many-tables": many_tables.many_tables,
    "many-first-loads": many_tables.first_load,
    "cold-run": many_tables.cold_run,
    "updates-in-a-row": many_tables.updates_in_a_row,
    "planning": many_tables.planning,
}
"""The measures by name, in the order in which they run."""
