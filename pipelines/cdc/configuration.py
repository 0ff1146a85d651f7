"""Specs from a pipeline's configuration: the session's conf names the conf folder and the connector."""

from collections.abc import Iterable
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from cdc.analysis import check_sql
from cdc.connector_kind import KindInSource
from cdc.settings import UnknownSetting, setting_faults
from cdc.spark_version import check_version
from cdc.spec.deployment import SETTINGS, deployed_schemas
from cdc.spec.load import Conf, load_conf
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
        SpecError: with every fault of the files read; with a session, also with each SQL text that Spark refuses.
        SparkTooOld: with a session, its pyspark lacks functions.
        UnknownSetting: the session's conf has a ``cdc.*`` setting that does not exist.
        BadSchemaSetting: a ``cdc.schemas`` setting is not the name of a schema.
    """
    return _conf(conf_dir, connector).tables


def load_connectors(conf_dir: SparkSession | str | Path, connector: str | None = None) -> tuple[ConnectorSpec, ...]:
    """Connector specs, ordered by name. The arguments are those of `load_tables`.

    Raises:
        SpecError: with every fault of the files read; with a session, also with each SQL text that Spark refuses.
        SparkTooOld: with a session, its pyspark lacks functions.
        UnknownSetting: the session's conf has a ``cdc.*`` setting that does not exist.
        BadSchemaSetting: a ``cdc.schemas`` setting is not the name of a schema.
    """
    return _conf(conf_dir, connector).connectors


def _conf(conf_dir: SparkSession | str | Path, connector: str | None) -> Conf:
    # A Spark Connect session is not a subclass of the classic SparkSession, so test for the path instead.
    if isinstance(conf_dir, str | Path):
        return load_conf(conf_dir, connector)
    check_version()
    spark = conf_dir
    if faults := setting_faults(_configured(spark)):
        raise UnknownSetting(faults)
    deployed = deployed_schemas({name: spark.conf.get(name, "") for name in SETTINGS})
    of_records = KindInSource(spark.conf.get("cdc.source", "") or "", spark)
    conf = load_conf(str(spark.conf.get(CONF)), spark.conf.get(CONNECTOR), deployed, of_records)
    check_sql(spark, conf)
    return conf


def _configured(spark: SparkSession) -> Iterable[str]:
    """The names of the session's settings; none where they cannot be listed, as on serverless compute."""
    try:
        return dict(spark.conf.getAll)
    except PySparkException:
        return ()
