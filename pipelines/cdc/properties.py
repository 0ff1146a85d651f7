"""Table properties of a table's and a connector's datasets: those that specs set, and whose rows a dataset has."""

from collections.abc import Sequence

from cdc import definition, names
from cdc.spec.layers import Layer
from cdc.spec.model import ConnectorSpec, TableSpec


def of_dataset(table: TableSpec, layer: Layer, rows: str) -> dict[str, str]:
    """Table properties of one dataset of a table.

    Args:
        table: its spec.
        layer: the dataset's.
        rows: what its rows are: ``records``, ``changes``.
    """
    return {**table.table_properties.of(layer), **definition.origin(table, rows)}


def of_versions(sources: Sequence[TableSpec]) -> dict[str, str]:
    """Table properties of the versions of one or several tables."""
    table = sources[0]
    return {
        **of_dataset(table, "silver", "versions"),
        **definition.of_versions(table),
        **definition.of_sources(sources),
    }


def of_outcomes(table: TableSpec) -> dict[str, str]:
    """What the local engine's report counts and shows of a table's outcomes; no key and no value of a record."""
    shown = (names.REASON, names.MESSAGE, names.TOPIC, names.PARTITION, names.OFFSET)
    return {
        "report.countBy": f"{names.OUTCOME}, {names.REASON}",
        "report.rejects": names.REJECT,
        "report.sample": ", ".join(shown),
        # Without the line, which every edit above it would change.
        "report.definedIn": table.defined_at.rpartition(":")[0],
    }


def of_event_records(connector: ConnectorSpec, topic: str | None) -> dict[str, str]:
    """Table properties of the records of one of a connector's own topics."""
    return {**of_connector(connector, "bronze"), definition.ORIGIN: f"records of {topic} by connector {connector.name}"}


def of_connector(connector: ConnectorSpec, layer: Layer) -> dict[str, str]:
    """Table properties of a connector's own datasets."""
    return connector.table_properties.of(layer)
