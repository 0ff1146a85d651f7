"""The speed of the pipeline beside what people write by hand: ``make bench``."""

from collections.abc import Callable, Mapping

from tests.benchmarks import applying, flowing, small
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
}
"""The measures by name, in the order in which they run."""
