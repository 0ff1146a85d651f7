"""`create_sink` and `foreach_batch_sink`: destinations outside the pipeline that append flows write to."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dlt_local.declarations.elements import BatchHandler, Sink
from dlt_local.declarations.registry import caller, current

H = TypeVar("H", bound=Callable[..., Any])


def create_sink(name: str, format: str, options: Mapping[str, str] | None = None) -> None:
    """Declare a Kafka topic or a Delta table outside the pipeline as a target of append flows."""
    current().add(Sink(name, caller(), format, dict(options or {})))


def foreach_batch_sink(name: str | None = None) -> Callable[[H], H]:
    """Declare a function of a microbatch and its number as a target of append flows.

    A batch that an interrupted update had started is delivered again with the same number. Numbers start at 0, and
    start again at 0 after a full refresh.
    """

    def declare(handler: H) -> H:
        sink_name = name or handler.__name__
        current().add(Sink(sink_name, caller(), "foreach_batch", {}, BatchHandler(handler)))
        return handler

    if callable(name):  # used without parentheses: the argument is the function
        handler, name = name, None
        return declare(handler)
    return declare
