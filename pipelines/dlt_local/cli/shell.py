"""A Python prompt with a pipeline at hand: `spark`, `pipeline`, `tables`, `run()`, `show("gold.orders")`."""

import code
import rlcompleter
import sys
from collections.abc import Mapping

from pyspark.sql import DataFrame

from dlt_local.delta import delta_log
from dlt_local.errors import LocalPipelineError, did_you_mean
from dlt_local.flows.outcomes import Update
from dlt_local.updates.pipeline import LocalPipeline

_BANNER = """{name} on {storage}
  tables.<schema>.<table>   a dataset as it stands; tables lists them
  run()                     one update; run(full_refresh=["orders"]) ...
  show("orders")            its first rows
  pipeline, spark           the pipeline itself, and the session that it runs on
"""


class Names:
    """The names below a schema, or the schemas: attributes, listed by dir() and completed by the Tab key."""

    def __init__(self, found: Mapping[str, object], what: str) -> None:
        self._found = found
        self._what = what

    def __dir__(self) -> list[str]:
        return sorted(self._found)

    def __getattr__(self, name: str) -> object:
        if name not in self._found:
            message = f"there is no {self._what} {name}{did_you_mean(name, self._found)}"
            raise AttributeError(message)
        found = self._found[name]
        return found() if callable(found) else found

    def __repr__(self) -> str:
        return "\n".join(
            "\n".join(f"{name}.{below}" for below in dir(inner)) if isinstance(inner, Names) else name
            for name, inner in sorted(self._found.items())
        )


def tables(pipeline: LocalPipeline) -> Names:
    """What stands in the storage now."""
    folders = sorted((pipeline.storage.root / "tables").glob("*/*"))
    schemas: dict[str, dict[str, object]] = {}
    for folder in folders:
        if delta_log.exists(folder):
            schema, table = folder.parent.name, folder.name
            schemas.setdefault(schema, {})[table] = lambda name=f"`{schema}`.`{table}`": pipeline.table(name)
    return Names({schema: Names(found, "table") for schema, found in schemas.items()}, "schema")


class _Now:
    """`tables` as the storage stands whenever it is asked."""

    def __init__(self, pipeline: LocalPipeline) -> None:
        self._pipeline = pipeline

    def __getattr__(self, name: str) -> object:
        return getattr(tables(self._pipeline), name)

    def __dir__(self) -> list[str]:
        return dir(tables(self._pipeline))

    def __repr__(self) -> str:
        return repr(tables(self._pipeline)) or "no table yet: run()"


def at_hand(pipeline: LocalPipeline) -> dict[str, object]:
    """The prompt's names."""

    def run(**selection: object) -> Update | None:
        try:
            return pipeline.run(**selection)  # type: ignore[arg-type]
        except LocalPipelineError as error:
            print(error, file=sys.stderr)
            return None

    def show(name: str, rows: int = 20) -> None:
        frame: DataFrame = pipeline.table(name)
        frame.show(rows, truncate=False)

    return {"spark": pipeline.spark, "pipeline": pipeline, "tables": _Now(pipeline), "run": run, "show": show}


def interact(pipeline: LocalPipeline) -> None:
    """Read, evaluate, print, until the input ends."""
    names = at_hand(pipeline)
    try:
        import readline
    except ImportError:
        pass
    else:
        readline.set_completer(rlcompleter.Completer(names).complete)
        readline.parse_and_bind("tab: complete")
    code.interact(_BANNER.format(name=pipeline.name, storage=pipeline.storage.root), local=names, exitmsg="")
