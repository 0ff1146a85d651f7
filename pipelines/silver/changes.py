"""Silver: one typed row per change, with its position in the order of the source's commits."""

from pyspark import pipelines as dp

from cdc import (
    TableSpec,
    arrival,
    changes,
    definition,
    expectations,
    known_values,
    load_tables,
    properties,
    retention,
)
from cdc.names import COMMITTED_AT, UNKNOWN, changes_dataset, decoded_dataset


def declare(table: TableSpec) -> None:
    """Declare silver.<table>_changes; on violation of an expectation: its action (default: count and keep the change).

    Quarantined changes have become rejects before. A field that is not in the spec, after a column was added to the
    source, is a violation too, and so is a value that a new row should have and the log does not.
    """

    @dp.table(
        name=changes_dataset(table),
        comment=f"Changes of {table.source}",
        table_properties={
            **properties.of_dataset(table, "silver", "changes"),
            **retention.of_changes(table),
            "report.newest": COMMITTED_AT,
            **arrival(table),
            **definition.of_changes(table),
        },
    )
    @dp.expect_all(expectations(table, "warn"))
    @dp.expect_all_or_drop(expectations(table, "drop"))
    @dp.expect_all_or_fail(expectations(table, "fail"))
    @dp.expect_all(known_values(table))
    @dp.expect("no field unknown to the spec", f"{UNKNOWN} IS NULL")
    def typed_changes():
        return changes(retention.stream(spark, decoded_dataset(table)), table)


for table in load_tables(spark):
    declare(table)
