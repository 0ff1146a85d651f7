"""Wider types: which columns a stored Delta table can take with another type, in place and without a changed value."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ByteType, DataType, DecimalType, IntegerType, LongType, ShortType, StructType

from dlt_local.names import quote

TYPE_WIDENING = "delta.enableTypeWidening"
"""Table property: a commit may widen a column's type. It makes readers need the table feature `typeWidening`."""
_INTEGERS = (ByteType, ShortType, IntegerType, LongType)


def is_wider(new: DataType, old: DataType) -> bool:
    """True if a column of a Delta table can change to the new type, and no stored value changes by it.

    Whole numbers become longer ones, decimals get more digits before and after the point; a decimal has to keep as many
    before it. Delta widens more types, not all of them without rounding.

    >>> is_wider(LongType(), IntegerType()), is_wider(IntegerType(), LongType())
    (True, False)
    >>> is_wider(DecimalType(11, 4), DecimalType(9, 2)), is_wider(DecimalType(10, 4), DecimalType(9, 2))
    (True, False)
    """
    if isinstance(new, DecimalType) and isinstance(old, DecimalType):
        digits = new.precision - new.scale >= old.precision - old.scale
        return digits and new.scale >= old.scale and new != old
    if isinstance(new, _INTEGERS) and isinstance(old, _INTEGERS):
        return _INTEGERS.index(type(new)) > _INTEGERS.index(type(old))
    return False


def widens(new: StructType, old: StructType) -> bool:
    """True if one of the columns has a wider type in the new schema."""
    return bool(_wider(new, old))


def with_types_of(frame: DataFrame, table: StructType) -> DataFrame:
    """The frame with columns that are narrower than the table's in the types of those."""
    wider = _wider(table, frame.schema)
    return (
        frame.withColumns({name: F.col(quote(name)).cast(type_) for name, type_ in wider.items()}) if wider else frame
    )


def _wider(new: StructType, old: StructType) -> dict[str, DataType]:
    """The wider types by the old schema's names of the columns."""
    types = {field.name.lower(): field.dataType for field in new.fields}
    named = {field.name: (types.get(field.name.lower(), field.dataType), field.dataType) for field in old.fields}
    return {name: wanted for name, (wanted, given) in named.items() if is_wider(wanted, given)}
