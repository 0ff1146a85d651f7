"""`on_event_hook`: functions that are called with each event of an update."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from dlt_local.declarations.elements import EventHook
from dlt_local.declarations.registry import current

H = TypeVar("H", bound=Callable[..., Any])


@overload
def on_event_hook(user_event_hook_fn: H, /) -> H: ...


@overload
def on_event_hook(
    user_event_hook_fn: None = None, /, max_allowable_consecutive_failures: int | None = None
) -> Callable[[H], H]: ...


def on_event_hook(
    user_event_hook_fn: H | None = None, /, max_allowable_consecutive_failures: int | None = None
) -> H | Callable[[H], H]:
    """Call the function with each event of an update, as a dict of the event log's columns with `details` as a dict.

    Args:
        user_event_hook_fn: the function.
        max_allowable_consecutive_failures: after so many failures, one after the other, the function is not called
            again in the update; by default it is, however many there are.
    """

    def declare(hook: H) -> H:
        name = getattr(hook, "__name__", str(hook))
        current().hooks.append(EventHook(name, hook, max_allowable_consecutive_failures))
        return hook

    return declare if user_event_hook_fn is None else declare(user_event_hook_fn)
