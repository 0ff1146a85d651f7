"""Calls of a pipeline's query functions, and what these must not do to the session that they share."""

from collections.abc import Iterator
from contextlib import contextmanager

from dlt_local.declarations.registry import Registry, caller
from dlt_local.errors import DeclarationError
from dlt_local.names import quote
from dlt_local.spark.pipeline_session import PipelineSession


@contextmanager
def calling(registry: Registry) -> Iterator[None]:
    """Call a query function in a block.

    Raises:
        DeclarationError: it makes a temporary view with the name of a dataset, or sets conf that the update does not
            have.
    """
    session = registry.spark
    assert isinstance(session, PipelineSession) and session.query_calls is not None
    with session.query_calls.call():
        yield


class QueryRules:
    """What is refused, for the sake of the other queries."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def check_view(self, name: str) -> None:
        """Refuse the name of a dataset: other queries that read it at the same time would get the view.

        Raises:
            DeclarationError: the name is one.
        """
        dataset = self._registry.find(quote(name))
        if dataset is not None:
            message = f"a query function makes a temporary view `{name}`, which hides the dataset {dataset.name}"
            fix = "give the temporary view another name"
            raise DeclarationError("TEMP_VIEW_HIDES_DATASET", message, caller(), fix)
        self._registry.views_of_calls.add(name.lower())

    def conf_refused(self, key: str, value: str | None, other: str | None) -> Exception:
        """The error of a query function that sets conf to another value than the update has."""
        wanted = "unsets it" if value is None else f"sets it to {value}"
        known = "unset" if other is None else other
        message = f"all queries of an update have one conf: {key} is {known}, and a query function {wanted}"
        fix = (
            "set it where the source file loads, for all queries, or for one table with\n"
            f"       spark_conf={{'{key}': ...}} in its decorator"
        )
        return DeclarationError("CONF_OF_ONE_QUERY", message, caller(), fix)
