"""Schemas of datasets: what is declared, what the queries give, and how one grows into the other."""

from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dlt_local.declarations.ddl import Columns, NotDdl, columns
from dlt_local.declarations.elements import Table
from dlt_local.errors import DeclarationError, did_you_mean


def declared_columns(table: Table, session: SparkSession) -> Columns | None:
    """The columns and constraints that a declaration gives, None where it gives none.

    Raises:
        DeclarationError: the DDL text cannot be read.
    """
    if table.schema is None:
        return None
    if isinstance(table.schema, StructType):
        return Columns(table.schema)
    try:
        return columns(session, table.schema)
    except NotDdl as error:
        message = f"schema of {table.name} is no DDL: {error}"
        raise DeclarationError("BAD_SCHEMA", message, table.location) from error


def merge_schemas(table: Table, into: StructType, new: StructType, closed: bool = False) -> StructType:
    """``into`` with the columns, and nested fields, of ``new`` that it lacks behind its own.

    All are nullable but those that a declaration (``closed``) says are not.

    Args:
        table: whose schema it is, for the error.
        into: the schema that stays.
        new: the schema that is to fit in.
        closed: True where ``into`` is declared and nothing may be added.

    Raises:
        DeclarationError: a column changes its type, or is new where none may be added.
    """
    known = {field.name.lower(): field for field in into.fields}
    merged = {
        field.name.lower(): StructField(field.name, field.dataType, field.nullable or not closed, field.metadata)
        for field in into.fields
    }
    for field in new.fields:
        there = known.get(field.name.lower())
        if there is None and closed:
            near = did_you_mean(field.name, into.names)
            message = f"{table.name}: the query gives column `{field.name}`, which the declared schema has not{near}"
            fix = "add it to `schema`, or drop it in the query"
            raise DeclarationError("SCHEMA_MISMATCH", message, table.location, fix)
        name, metadata = (there.name, there.metadata) if there else (field.name, field.metadata)
        type_ = _merge_types(table, name, there.dataType, field.dataType) if there else field.dataType
        may_be_null = there is None or there.nullable or not closed
        merged[name.lower()] = StructField(name, type_, may_be_null, metadata)
    return StructType(list(merged.values()))


def nullable(schema: StructType) -> StructType:
    """The same columns, any of which may be null."""
    return StructType([StructField(field.name, field.dataType, True, field.metadata) for field in schema.fields])


def _merge_types(table: Table, path: str, old: DataType, new: DataType) -> DataType:
    if isinstance(old, StructType) and isinstance(new, StructType):
        known = {field.name.lower(): field for field in old.fields}
        fields = {f.name.lower(): f for f in old.fields}
        for field in new.fields:
            there = known.get(field.name.lower())
            if there is not None:
                type_ = _merge_types(table, f"{path}.{field.name}", there.dataType, field.dataType)
                fields[field.name.lower()] = StructField(there.name, type_, True, there.metadata)
            else:
                fields[field.name.lower()] = StructField(field.name, field.dataType, True, field.metadata)
        return StructType(list(fields.values()))
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return ArrayType(_merge_types(table, f"{path}.element", old.elementType, new.elementType))
    if isinstance(old, MapType) and isinstance(new, MapType):
        value = _merge_types(table, f"{path}.value", old.valueType, new.valueType)
        return MapType(_merge_types(table, f"{path}.key", old.keyType, new.keyType), value)
    if old.simpleString() != new.simpleString():
        had, got = old.simpleString(), new.simpleString()
        message = f"{table.name}: column `{path}` is {had} in the table and {got} in the query"
        fix = f"cast it to {had}, or rebuild the table with --full-refresh {table.name}"
        raise DeclarationError("CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE", message, table.location, fix)
    return old


def missing_nested(old: DataType, new: DataType, path: str) -> list[str]:
    """Paths of the nested fields that ``old`` has and ``new`` lacks."""
    if isinstance(old, StructType) and isinstance(new, StructType):
        there = {field.name.lower(): field.dataType for field in new.fields}
        lacking = [f"{path}.{f.name}" for f in old.fields if f.name.lower() not in there]
        deeper = [(f, there[f.name.lower()]) for f in old.fields if f.name.lower() in there]
        return lacking + [
            found for f, type_ in deeper for found in missing_nested(f.dataType, type_, f"{path}.{f.name}")
        ]
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return missing_nested(old.elementType, new.elementType, f"{path}.element")
    if isinstance(old, MapType) and isinstance(new, MapType):
        return missing_nested(old.valueType, new.valueType, f"{path}.value")
    return []
