"""Values reshaped to another schema: same fields in another order or spelling, null where a field is missing."""

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType


def aligned(value: Column, given: DataType, wanted: DataType) -> Column:
    """The value in the shape of ``wanted``: its fields in that order and spelling, null where ``given`` lacks one."""
    if given == wanted:
        return value
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        fields = zip(aligned_fields(value, given, wanted), wanted.names, strict=True)
        return F.when(value.isNotNull(), F.struct(*[field.alias(name) for field, name in fields]))
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return F.transform(value, lambda element: aligned(element, given.elementType, wanted.elementType))
    return value


def aligned_fields(value: Column, given: StructType, wanted: StructType) -> list[Column]:
    """The fields that the value has in the shape of ``wanted``, one by one."""
    there = {field.name.lower(): field for field in given.fields}
    fields = []
    for field in wanted.fields:
        own = there.get(field.name.lower())
        inner = F.lit(None) if own is None else aligned(value[own.name], own.dataType, field.dataType)
        fields.append(inner if own is not None and own.dataType == field.dataType else inner.cast(field.dataType))
    return fields
