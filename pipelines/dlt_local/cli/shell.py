"""A Python prompt for a pipeline: `spark`, `pipeline`, `tables`, `run()`, `show("gold.orders")`."""

import code
import rlcompleter
import sys
from collections.abc import Iterable

from pyspark.sql import DataFrame

from dlt_local.errors import LocalPipelineError, did_you_mean
from dlt_local.flows.outcomes import Update
from dlt_local.updates import stored_tables
from dlt_local.updates.pipeline import LocalPipeline

_BANNER = """{name} on {storage}
  tables.<schema>.<table>   a table's stored rows; tables lists all tables
  run()                     runs one update; run(full_refresh=["orders"]) ...
  show("orders")            prints the first rows of a table
  pipeline, spark           the pipeline, and the session that it runs on
"""


class SchemaTables:
    """The stored tables of one schema as attributes, listed by dir() and completed by the Tab key."""

    def __init__(self, pipeline: LocalPipeline, schema: str) -> None:
        self._pipeline = pipeline
        self._schema = schema

    def __dir__(self) -> list[str]:
        return sorted(
            name.table for name in stored_tables.published(self._pipeline.storage) if name.schema == self._schema
        )

    def __getattr__(self, table: str) -> DataFrame:
        _check("table", table, dir(self))
        return self._pipeline.table(f"`{self._schema}`.`{table}`")

    def __repr__(self) -> str:
        return "\n".join(dir(self))


class Tables:
    """The schemas with stored tables as attributes; every use reads the storage again."""

    def __init__(self, pipeline: LocalPipeline) -> None:
        self._pipeline = pipeline

    def __dir__(self) -> list[str]:
        return sorted({name.schema for name in stored_tables.published(self._pipeline.storage)})

    def __getattr__(self, schema: str) -> SchemaTables:
        _check("schema", schema, dir(self))
        return SchemaTables(self._pipeline, schema)

    def __repr__(self) -> str:
        return "\n".join(map(str, stored_tables.published(self._pipeline.storage))) or "no table yet: run()"


def _check(kind: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name not in names:
        message = f"there is no {kind} {name}{did_you_mean(name, names)}"
        raise AttributeError(message)


def prompt_names(pipeline: LocalPipeline) -> dict[str, object]:
    """The names that are defined at the prompt."""

    def run(**selection: object) -> Update | None:
        try:
            return pipeline.run(**selection)  # type: ignore[arg-type]
        except LocalPipelineError as error:
            print(error, file=sys.stderr)
            return None

    def show(name: str, rows: int = 20) -> None:
        pipeline.table(name).show(rows, truncate=False)

    return {"spark": pipeline.spark, "pipeline": pipeline, "tables": Tables(pipeline), "run": run, "show": show}


def interact(pipeline: LocalPipeline) -> None:
    """Read and evaluate Python until the input ends."""
    names = prompt_names(pipeline)
    try:
        import readline
    except ImportError:
        pass
    else:
        readline.set_completer(rlcompleter.Completer(names).complete)
        readline.parse_and_bind("tab: complete")
    code.interact(_BANNER.format(name=pipeline.name, storage=pipeline.storage.root), local=names, exitmsg="")
