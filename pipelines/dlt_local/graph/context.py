"""The inputs of graph resolution, and the signal that a dataset cannot be resolved."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql.types import StructType

from dlt_local.declarations.elements import Dataset
from dlt_local.declarations.registry import Registry
from dlt_local.graph.graph import Node
from dlt_local.names import TableName
from dlt_local.spark.catalog import Catalog


@dataclass(frozen=True)
class ResolutionContext:
    """What is known before any query is analysed."""

    registry: Registry
    catalog: Catalog
    """Where placeholders and views are registered."""
    stored: Mapping[TableName, StructType]
    """The schemas of the tables that earlier updates wrote."""
    latest_version: Callable[[TableName], object]
    """The version of the snapshot last applied to a target, None before the first."""
    made_before: Callable[[TableName | str], bool] = lambda _: False
    """True for a table or sink whose last update was by a version of the engine with another form of hash."""


Require = Callable[[Dataset], Node]
"""Resolves a dataset at once, unless it already is; a query that reads it can then be analysed."""


class Unresolved(Exception):
    """A required dataset could not be resolved: its own fault is reported, its readers get none."""
