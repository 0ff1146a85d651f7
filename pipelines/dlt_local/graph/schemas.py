"""Schemas of tables: declared columns, the flows' columns, and how they are merged."""

from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dlt_local.declarations.ddl import Columns, NotDdl, columns
from dlt_local.declarations.elements import QueryFlow, Table
from dlt_local.delta.wider_types import is_wider
from dlt_local.errors import DeclarationError, did_you_mean
from dlt_local.graph.graph import ResolvedFlow


def declared_columns(table: Table, session: SparkSession) -> Columns | None:
    """The columns and constraints that a table declares, None if it declares none.

    Raises:
        DeclarationError: the DDL text is not valid.
    """
    if table.schema is None:
        return None
    if isinstance(table.schema, StructType):
        return Columns(table.schema)
    try:
        return columns(session, table.schema)
    except NotDdl as error:
        message = f"the schema of {table.name} is not valid DDL: {error}"
        fix = "write columns as in DDL, such as `id BIGINT NOT NULL, name STRING`; set default values in the query"
        raise DeclarationError("BAD_SCHEMA", message, table.location, fix) from error


def table_schema(
    table: Table, flows: Sequence[ResolvedFlow], stored: StructType | None, declared: Columns | None
) -> StructType:
    """The columns of a table: those it has, those its flows write, in the declared schema if there is one.

    Args:
        table: the table, for errors.
        flows: its flows; there is at least one.
        stored: the columns that it keeps from earlier updates.
        declared: the columns that it declares; no others may be added.

    Raises:
        DeclarationError: the same column has two types, or is not in the declared schema.
    """
    first, *others = ([stored] if stored is not None else []) + [flow.schema for flow in flows]
    merged = first
    for schema in others:
        merged = merge_schemas(table, merged, schema)
    if declared is not None:
        return merge_schemas(table, declared.schema, merged, closed=True)
    # A query that gives no null today does not promise to give none: only a declaration does.
    return _nullable(merged) if all(isinstance(flow.flow, QueryFlow) for flow in flows) else merged


def with_wider_types(
    table: Table, flows: Sequence[ResolvedFlow], stored: StructType
) -> tuple[StructType, DeclarationError | None]:
    """The stored columns with the wider types that flows give them, and the refusal if a type must stay as it is.

    Args:
        table: the table, for the refusal.
        flows: its flows.
        stored: the columns that it keeps from earlier updates.
    """
    wider = {field.name.lower(): field.dataType for field in stored.fields}
    refusal = None
    for field in (field for flow in flows for field in flow.schema.fields):
        name = field.name.lower()
        if name in wider and is_wider(field.dataType, wider[name]):
            refusal = refusal or _other_type(table, field.name, wider[name], field.dataType)
            wider[name] = field.dataType
    columns = [StructField(f.name, wider[f.name.lower()], f.nullable, f.metadata) for f in stored.fields]
    return StructType(columns), refusal


def merge_schemas(table: Table, base: StructType, new: StructType, closed: bool = False) -> StructType:
    """The columns of ``base``, then those that only ``new`` has; nested fields likewise.

    Every column is nullable, except those that a declared (``closed``) schema declares NOT NULL.

    Args:
        table: the table, for errors.
        base: the schema that is extended; its names and metadata are kept.
        new: the schema to merge in.
        closed: True if ``base`` is declared, so that no column may be added.

    Raises:
        DeclarationError: a column has another type, or is new in a closed schema.
    """
    known = {field.name.lower(): field for field in base.fields}
    merged = {
        name: StructField(field.name, field.dataType, field.nullable or not closed, field.metadata)
        for name, field in known.items()
    }
    for field in new.fields:
        column = known.get(field.name.lower())
        if column is not None:
            type_ = _merge_types(table, column.name, column.dataType, field.dataType)
            nullable = column.nullable or not closed
            merged[field.name.lower()] = StructField(column.name, type_, nullable, column.metadata)
        elif closed:
            near = did_you_mean(field.name, base.names)
            message = f"{table.name}: column `{field.name}` of the query is not in the declared schema{near}"
            fix = "add it to `schema`, or drop it in the query"
            raise DeclarationError("SCHEMA_MISMATCH", message, table.location, fix)
        else:
            merged[field.name.lower()] = StructField(field.name, field.dataType, True, field.metadata)
    return StructType(list(merged.values()))


def _nullable(schema: StructType) -> StructType:
    return StructType([StructField(field.name, field.dataType, True, field.metadata) for field in schema.fields])


def _merge_types(table: Table, path: str, old: DataType, new: DataType) -> DataType:
    if isinstance(old, StructType) and isinstance(new, StructType):
        fields = {field.name.lower(): field for field in old.fields}
        for field in new.fields:
            known = fields.get(field.name.lower())
            if known is not None:
                type_ = _merge_types(table, f"{path}.{field.name}", known.dataType, field.dataType)
                fields[field.name.lower()] = StructField(known.name, type_, True, known.metadata)
            else:
                fields[field.name.lower()] = StructField(field.name, field.dataType, True, field.metadata)
        return StructType(list(fields.values()))
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return ArrayType(_merge_types(table, f"{path}.element", old.elementType, new.elementType))
    if isinstance(old, MapType) and isinstance(new, MapType):
        value = _merge_types(table, f"{path}.value", old.valueType, new.valueType)
        return MapType(_merge_types(table, f"{path}.key", old.keyType, new.keyType), value)
    if old.simpleString() != new.simpleString():
        raise _other_type(table, path, old, new)
    return old


def _other_type(table: Table, path: str, old: DataType, new: DataType) -> DeclarationError:
    expected, found = old.simpleString(), new.simpleString()
    message = f"{table.name}: column `{path}` is {expected} in the table and {found} in the query"
    fix = f"cast it to {expected}, or rebuild the table with --rebuild {table.name}"
    return DeclarationError("CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE", message, table.location, fix)


def missing_nested(old: DataType, new: DataType, path: str) -> list[str]:
    """Paths of the nested fields that ``old`` has and ``new`` does not."""
    if isinstance(old, StructType) and isinstance(new, StructType):
        present = {field.name.lower(): field.dataType for field in new.fields}
        missing = [f"{path}.{f.name}" for f in old.fields if f.name.lower() not in present]
        for field in old.fields:
            if field.name.lower() in present:
                missing += missing_nested(field.dataType, present[field.name.lower()], f"{path}.{field.name}")
        return missing
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return missing_nested(old.elementType, new.elementType, f"{path}.element")
    if isinstance(old, MapType) and isinstance(new, MapType):
        return missing_nested(old.valueType, new.valueType, f"{path}.value")
    return []
