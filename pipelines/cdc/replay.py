"""Replays: rejects are decoded again after a fix of spec or code."""

import re

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.decode import changes
from cdc.errors import RunCondition, RunError
from cdc.spec.model import TableSpec

SETTING = "cdc.replay_rejects"
_NAME = re.compile(r"\w{1,60}", re.ASCII)


class BadReplay(RunError):
    """The value of ``cdc.replay_rejects`` is not a name."""

    def __init__(self, text: str) -> None:
        super().__init__(
            RunCondition.BAD_REPLAY_NAME,
            SETTING,
            f"the value is `{text}`",
            "write a name of at most 60 letters, digits and underscores that no earlier replay had, such as"
            " 2026_11_21.",
        )


def replay(spark: SparkSession) -> str | None:
    """The name of the latest replay, from the pipeline's configuration; None if there has not been one.

    Raises:
        BadReplay: the setting is not a name.
    """
    name = spark.conf.get(SETTING, None)
    if name is not None and not _NAME.fullmatch(name):
        raise BadReplay(name)
    return name


def changes_of_replays(replays: DataFrame, table: TableSpec) -> DataFrame:
    """The changes that rejects became.

    Grain: one row per record, from the first replay that made it a change; each replay decodes every reject again.
    Columns: those of `changes`.
    """
    return changes(replays, table).dropDuplicates([names.DECODED_AS[name] for name in names.RECORD_ID])


def open_rejects(rejects: DataFrame, replays: DataFrame) -> DataFrame:
    """The rejects that no replay has resolved, that is, made a change or ignored.

    Grain: one row per record. Columns: those of `rejects`.
    """
    resolved = replays.where(F.col(names.OUTCOME) != names.REJECT)
    records = resolved.select(*(F.col(names.DECODED_AS[name]).alias(name) for name in names.RECORD_ID))
    return rejects.join(records, list(names.RECORD_ID), "left_anti").select(*names.REJECT_COLUMNS)
