"""Table properties of a table's and a connector's datasets: those that specs set, and whose rows a dataset has."""

from cdc import definition
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


def of_connector(connector: ConnectorSpec, layer: Layer) -> dict[str, str]:
    """Table properties of a connector's own datasets."""
    return connector.table_properties.of(layer)
