"""What a connector's position is to the rest of the flow: source fields in, ordered columns out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column

from cdc.spec.model import ConnectorSpec


@dataclass(frozen=True)
class Position:
    """The position of one connector kind: a pure function of the event, so a redelivery changes nothing."""

    source_fields: tuple[str, ...]
    """Fields of the envelope's ``source`` (all read as text) that the functions below take."""
    column_names: Callable[[ConnectorSpec], tuple[str, ...]]
    """The flat columns of a change that hold the position."""
    columns: Callable[[Column, Column, Column, ConnectorSpec], Mapping[str, Column]]
    """Those columns, from ``source``, the change's ``op`` and its place in its transaction, by name; absent parts
    have an explicit lowest value."""
    fault: Callable[[Column, Column, ConnectorSpec], Column]
    """From ``source`` and the place in the transaction, where those columns are at hand: why there is no position;
    null where there is one."""
    sequence: Callable[[ConnectorSpec], tuple[str, ...]]
    """The columns in the order in which they decide."""
