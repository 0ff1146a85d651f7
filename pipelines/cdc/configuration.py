"""Specs from a pipeline's configuration: the session's conf names the conf folder and the connector."""

from pathlib import Path

from pyspark.sql import SparkSession

from cdc.spec import load
from cdc.spec.model import ConnectorSpec, TableSpec

CONF = "cdc.conf"
"""Setting: the conf folder."""
CONNECTOR = "cdc.connector"
"""Setting: the one connector whose tables the pipeline declares; an empty value means all of them."""


def load_tables(conf_dir: SparkSession | str | Path, connector: str | None = None) -> tuple[TableSpec, ...]:
    """Table specs, ordered by connector and name.

    Pipeline files call `load_tables(spark)`; without a session, call `load_tables("conf", "shop")`.

    Args:
        conf_dir: the session whose conf has ``cdc.conf`` and ``cdc.connector``, or a conf folder.
        connector: next to a conf folder, the one connector to load; by default all of them.

    Raises:
        SpecError: with every fault of the files read.
    """
    return load.load_tables(*_chosen(conf_dir, connector))


def load_connectors(conf_dir: SparkSession | str | Path, connector: str | None = None) -> tuple[ConnectorSpec, ...]:
    """Connector specs, ordered by name. The arguments are those of `load_tables`.

    Raises:
        SpecError: with every fault of the files read.
    """
    return load.load_connectors(*_chosen(conf_dir, connector))


def _chosen(conf_dir: SparkSession | str | Path, connector: str | None) -> tuple[str, str | None]:
    # A Spark Connect session is not a subclass of the classic SparkSession, so test for the path instead.
    if isinstance(conf_dir, str | Path):
        return str(conf_dir), connector
    return str(conf_dir.conf.get(CONF)), conf_dir.conf.get(CONNECTOR)
