"""Points, geometries and vectors: objects and arrays whose parts are numbers and well-known binary."""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.binary import from_base64
from cdc.debezium.values.conversion import Conversion
from cdc.spec.model import ColumnSpec, ConnectorSpec

_POINT = "x string, y string"
_GEOMETRY = "wkb string, srid string"
_SPARSE = "dimensions string, vector array<array<string>>"


def point(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A point of a plane."""
    return Conversion("object with x, y, wkb and srid", "struct<x: double, y: double>", _point, measure=_object(_POINT))


def geometry(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A geometry as well-known binary, and the number of its reference system, null if it has none."""
    return Conversion(
        "object with wkb in base64, and srid",
        "struct<wkb: binary, srid: int>",
        _geometry,
        measure=_object(_GEOMETRY),
        placeholders=lambda _: (),
    )


def sparse_vector(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A vector of which only the elements that are not zero are there, with their places from 1."""
    return Conversion(
        "object with dimensions, and vector as pairs",
        "struct<dimensions: int, elements: array<struct<place: int, value: double>>>",
        _sparse,
        measure=_object(_SPARSE),
        placeholders=lambda _: (),
    )


def _object(form: str) -> Callable[[Column], Column]:
    def read(text: Column) -> Column:
        return F.when(text.startswith("{"), F.from_json(text, form))

    return read


def _point(parts: Column) -> Column:
    x, y = (parts.getField(name).try_cast("double") for name in ("x", "y"))
    return F.when(x.isNotNull() & y.isNotNull(), F.struct(x.alias("x"), y.alias("y")))


def _geometry(parts: Column) -> Column:
    wkb, srid = from_base64(parts.getField("wkb")), parts.getField("srid")
    is_read = wkb.isNotNull() & (srid.isNull() | srid.try_cast("int").isNotNull())
    return F.when(is_read, F.struct(wkb.alias("wkb"), srid.try_cast("int").alias("srid")))


def _sparse(parts: Column) -> Column:
    dimensions = parts.getField("dimensions").try_cast("int")
    elements = F.transform(parts.getField("vector"), _element)
    is_read = dimensions.isNotNull() & ~F.exists(elements, lambda each: each.place.isNull() | each.value.isNull())
    return F.when(is_read, F.struct(dimensions.alias("dimensions"), elements.alias("elements")))


def _element(pair: Column) -> Column:
    place, value = F.get(pair, F.lit(0)), F.get(pair, F.lit(1))
    return F.struct(place.try_cast("int").alias("place"), value.try_cast("double").alias("value"))
