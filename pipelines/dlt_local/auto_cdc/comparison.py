"""How rows are compared: an order for every type, and a fingerprint that distinguishes a duplicate from a tie."""

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType


def rank(row: Column, columns: StructType) -> Column:
    """What decides between two different upserts with the same key and sequence: the greater row, column by column.

    Any rule that looks at the rows alone picks the same winner in every order of arrival.
    """
    return comparable(row, columns)


def fingerprint(row: Column, columns: StructType) -> Column:
    """bigint: a hash of the row, equal for duplicates.

    Nulls count. Spark's own hash skips them, so (1, null) and (null, 1) would be the same.
    """
    return F.xxhash64(*_hashed(row, columns))


def _hashed(value: Column, type_: DataType) -> list[Column]:
    if isinstance(type_, StructType):
        return [value.isNull(), *(part for f in type_.fields for part in _hashed(value[f.name], f.dataType))]
    if isinstance(type_, ArrayType | MapType | VariantType):
        whole = F.struct(comparable(value, type_).alias("value"))
        return [F.to_json(whole, {"ignoreNullFields": "false"})]
    return [value.isNull(), value]


def comparable(value: Column, type_: DataType) -> Column:
    """The value in a form that has order and equality: a map has neither, a variant has no order."""
    if not has_no_order(type_):
        return value
    if isinstance(type_, StructType):
        fields = F.struct(*[comparable(value[f.name], f.dataType).alias(f.name) for f in type_.fields])
        return F.when(value.isNotNull(), fields)
    if isinstance(type_, MapType) and not has_no_order(type_.valueType):
        return F.array_sort(F.map_entries(value))
    return F.to_json(F.struct(value.alias("value")))


def has_no_order(type_: DataType) -> bool:
    """True for types that Spark cannot compare: a map, a variant, and whatever contains one."""
    if isinstance(type_, StructType):
        return any(has_no_order(field.dataType) for field in type_.fields)
    if isinstance(type_, ArrayType):
        return has_no_order(type_.elementType)
    return isinstance(type_, MapType | VariantType)
