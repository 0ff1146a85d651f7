"""Commits to Delta tables that its writer makes too, but only after it has computed a table's whole state."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dlt_local.spark.jvm.gateway import java_class, scala_map, scala_seq, some, static
from dlt_local.spark.jvm.sessions import active_session

_DELTA = "org.apache.spark.sql.delta"


def forget_delta_log(session: SparkSession, path: Path) -> None:
    """Drop what Delta keeps in memory of the table at ``path``, because another table has taken its place."""
    static(session, f"{_DELTA}.DeltaLog.invalidateCache")(session._jsparkSession, _hadoop_path(session, path))


def append_to_delta(rows: DataFrame, path: Path, application: str, version: int) -> None:
    """Append to the Delta table at ``path`` what no transaction of this application and version has appended.

    What a writer with the options txnAppId and txnVersion does, without a look for the transaction in the table, which
    has Delta compute the table's whole state.
    """
    session = rows.sparkSession
    now = some(session, int(time.time() * 1000))
    mark = java_class(session, f"{_DELTA}.actions.SetTransaction")(application, version, now)
    _write_to_delta(rows, path, "Append", [mark])


def replace_in_delta(rows: DataFrame, path: Path, version: int, added: Iterable[str]) -> bool:
    """Replace the rows of the Delta table at ``path``; its schema and all else stay.

    What an overwrite does, without having Delta compute which files the table has.

    Args:
        rows: the new rows.
        path: the table.
        version: the table's latest.
        added: the action `add` of each of its files, as JSON.

    Returns:
        False, with nothing written, if the table has another version by now.
    """
    read = static(rows.sparkSession, f"{_DELTA}.actions.Action.fromJson")
    removed = [read(action).remove() for action in added]
    return _write_to_delta(rows, path, "Overwrite", removed, version)


def _write_to_delta(rows: DataFrame, path: Path, mode: str, others: list[Any], version: int | None = None) -> bool:
    """Commit rows, as new files, and other actions; False, with nothing written, onto another version than that."""
    session, java_session = rows.sparkSession, rows.sparkSession._jsparkSession
    none, no_columns = some(session, None), scala_seq(session, [])
    given = scala_map(session, {"mergeSchema": "true"})
    options = java_class(session, f"{_DELTA}.DeltaOptions")(given, java_session.sessionState().conf())
    log = static(session, f"{_DELTA}.DeltaLog.forTable")(java_session, _hadoop_path(session, path))
    transaction = log.startTransaction()
    if version is not None and transaction.readVersion() != version:
        return False
    write = java_class(session, f"{_DELTA}.commands.WriteIntoDelta")(
        *(log, _save_mode(session, "Append"), options, no_columns, scala_map(session, {})),
        *(rows._jdf, none, none, False),
    )
    with active_session(session):
        actions = write.write(transaction, java_session, none, False)
    for other in others:
        actions = actions.appended(other)
    operation = java_class(session, f"{_DELTA}.DeltaOperations$Write")(
        *(_save_mode(session, mode), some(session, no_columns), none, none, none, none),
        *(some(session, True), none, none),
    )
    transaction.commit(actions, operation)
    return True


def _save_mode(session: SparkSession, name: str) -> Any:
    return static(session, "org.apache.spark.sql.SaveMode.valueOf")(name)


def _hadoop_path(session: SparkSession, path: Path) -> Any:
    return java_class(session, "org.apache.hadoop.fs.Path")(str(path))
