"""Rejects go through decoding once more, after a fix of spec or code."""

import re

from pyspark.sql import DataFrame, SparkSession

from cdc import names
from cdc.debezium.decode import changes
from cdc.debezium.verdict import REJECT
from cdc.errors import CdcError
from cdc.spec.model import TableSpec

SETTING = "cdc.replay_rejects"
_NAME = re.compile(r"\w{1,60}", re.ASCII)
_PLACE = ("topic", "partition", "offset")


class BadReplay(CdcError, ValueError):
    """``cdc.replay_rejects`` cannot name a replay."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"{SETTING} is `{text}`.\n  fix: write a name of letters, digits and underscores, at most 60,"
            " that no earlier replay had, such as 2026_11_21."
        )


def replay(spark: SparkSession) -> str | None:
    """The name of the latest replay, from the pipeline's configuration; None where there has not been any.

    Raises:
        BadReplay: the setting is there, and no name.
    """
    name = spark.conf.get(SETTING, None)
    if name is not None and not _NAME.fullmatch(name):
        raise BadReplay(name)
    return name


def changes_of_replays(replays: DataFrame, table: TableSpec) -> DataFrame:
    """The changes that rejects became.

    Grain: one row per record, of the first replay that made a change of it: a later one reads all rejects
    again. Columns: those of the changes.
    """
    return changes(replays, table).dropDuplicates([names.TOPIC, names.PARTITION, names.OFFSET])


def open_rejects(rejects: DataFrame, replays: DataFrame) -> DataFrame:
    """The rejects that no replay has made anything else of.

    Grain: one row per record. Columns: those of the rejects.
    """
    settled = replays.where(replays[names.OUTCOME] != REJECT)
    place = settled.selectExpr(*(f"_{name} AS {name}" for name in _PLACE))
    return rejects.join(place, list(_PLACE), "left_anti").select(*names.REJECT_COLUMNS)
