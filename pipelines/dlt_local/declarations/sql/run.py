"""Runs an SQL source file: each statement makes the declaration that a decorator would make."""

from pathlib import Path

from pyspark.sql import SparkSession

from dlt_local.declarations.registry import located_at
from dlt_local.declarations.sql.auto_cdc import auto_cdc
from dlt_local.declarations.sql.datasets import create_dataset
from dlt_local.declarations.sql.flows import create_flow
from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.settings import settings, substituted
from dlt_local.declarations.sql.tokens import statements


def run_file(file: Path, spark: SparkSession) -> None:
    """Make the declarations of an SQL file's statements.

    Raises:
        DeclarationError: a statement is not understood, or refused; with its file and line.
    """
    run_text(file.read_text(encoding="utf-8"), str(file), spark)


def run_text(source: str, file: str, spark: SparkSession) -> None:
    """Make the declarations of SQL text; its lines are those of ``file``.

    Raises:
        DeclarationError: a statement is not understood, or refused; with its file and line.
    """
    own_settings = settings(source, file)
    source = substituted(source, dict(spark.conf.getAll) | own_settings, file)
    for statement in statements(source):
        reader = Reader(statement, file)
        with located_at(reader.location()):
            _declare(reader, own_settings)


def _declare(reader: Reader, settings: dict[str, str]) -> None:
    if reader.accept("SET"):
        return
    if reader.accept("AUTO", "CDC") or reader.accept("APPLY", "CHANGES"):
        auto_cdc(reader)
    elif reader.accept("CREATE"):
        _ = reader.accept("OR", "REFRESH") or reader.accept("OR", "REPLACE")
        if reader.accept("FLOW"):
            create_flow(reader)
        else:
            create_dataset(reader, settings)
    else:
        message = f"no statement of a pipeline starts with {reader.next_text()}"
        raise reader.fault(message, "use CREATE TABLE, VIEW or FLOW, AUTO CDC INTO, APPLY CHANGES INTO or SET")
