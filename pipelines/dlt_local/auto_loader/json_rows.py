"""Rows of JSON files: typed columns, and the rescued data, from the text of each record.

A record is parsed into a map of its members, each as a text; a column of strings is read from there. Where the record
has fractions it is parsed into variants too, which have their digits: up to 38, without zeros at the end. Columns of
other types are parsed by Spark's JSON parser, as its own reader would, and a member is rescued where that gives null or
less than the file has.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from dlt_local.auto_loader import rescue
from dlt_local.auto_loader.options import ReadOptions
from dlt_local.auto_loader.rows import UNKNOWN_FIELDS, Read, partitions

_TEXT, _MEMBERS, _TYPED, _KINDS, _FILE = "__text", "__members", "__typed", "__kinds", "__file"
_FRACTION = r"[0-9](\.[0-9]|[eE])"
_TEXTS = "map<string,string>"
_SEQUENCES = "array<string>"


def rows(lines: DataFrame, read: Read) -> DataFrame:
    """The rows of a frame of lines, or of whole files.

    Args:
        lines: a column `value`, from Spark's text source.
        read: the columns, and what becomes of other members.
    """
    options = _parser(read.options)
    mode = read.options.get("mode", "PERMISSIVE").upper()
    exact = [field.name for field in read.schema.data.fields]
    typed = StructType([field for field in read.schema.data.fields if not isinstance(field.dataType, StringType)])
    record = F.explode(_records(F.col("value"), options)).alias(_TEXT)
    records = lines.select(record, rescue.file_path().alias(_FILE))
    records = records.where(F.trim(F.col(_TEXT)) != "")
    parsed = records.select(
        "*",
        _checked(F.from_json(_TEXT, _TEXTS, options), read).alias(_MEMBERS),
        *([F.from_json(_TEXT, typed, options).alias(_TYPED)] if typed.fields else []),
    )
    if mode == "DROPMALFORMED":
        parsed = parsed.where(F.col(_MEMBERS).isNotNull())
    members = F.col(_MEMBERS)
    if mode == "FAILFAST":
        message = F.concat(F.lit("malformed record in "), F.col(_FILE), F.lit(": "), F.col(_TEXT))
        members = F.coalesce(members, F.raise_error(message))
    unknown = F.filter(F.map_keys(members), lambda name: ~name.isin(exact) if exact else F.lit(True))
    # Whether a text was a string in the file, only a variant knows, and the digits of a fraction too.
    differs = (F.size(unknown) > 0) | F.col(_TEXT).rlike(_FRACTION)
    for field in typed.fields:
        differs = differs | (members[field.name].isNotNull() & F.col(_TYPED)[field.name].isNull())
    kinds = F.when(differs, F.from_json(_TEXT, "map<string,variant>", options))
    parsed = parsed.select("*", kinds.alias(_KINDS))
    columns = [_column(field, members, read).alias(field.name) for field in read.schema.data.fields]
    rescued = [] if read.rescued is None else [_rescued(unknown, members, typed, read).alias(read.rescued)]
    return parsed.select(*columns, *partitions(read), *rescued)


def _parser(options: ReadOptions) -> dict[str, str]:
    own = ("mode", "multiline", "linesep", "primitivesasstring", "columnnameofcorruptrecord", "samplingratio")
    return {name: value for name, value in options.reader.items() if name.lower() not in own}


def _records(value: Column, options: dict[str, str]) -> Column:
    """The records in a text: the elements of a JSON array, or the text itself."""
    # As variants they keep the digits of their numbers, as texts they would not.
    variants = F.from_json(value, "array<variant>", options)
    elements = F.transform(variants, lambda each: F.try_variant_get(each, "$", "string"))
    return F.when(F.ltrim(value).startswith("["), F.coalesce(elements, F.array(value))).otherwise(F.array(value))


def _checked(members: Column, read: Read) -> Column:
    """The members, or an error that stops the flow at the first record with a member that is no column."""
    if not read.stops_at_unknown:
        return members
    known = sorted(read.known_names)
    unknown = F.filter(F.map_keys(members), lambda name: ~F.lower(name).isin(known) if known else F.lit(True))
    message = F.concat(F.lit(f"{UNKNOWN_FIELDS} {read.key} "), F.array_join(unknown, ", "), F.lit(" in "), F.col(_FILE))
    return F.when(F.size(unknown) > 0, F.raise_error(message)).otherwise(members)


def _column(field: StructField, members: Column, read: Read) -> Column:
    if field.name == read.options.get("columnNameOfCorruptRecord", rescue.CORRUPT) and read.keeps_corrupt:
        return F.when(members.isNull(), F.col(_TEXT))
    if isinstance(field.dataType, StringType):
        return _exact(members[field.name], F.col(_KINDS)[field.name])
    return F.col(_TYPED)[field.name]


def _rescued(unknown: Column, members: Column, typed: StructType, read: Read) -> Column:
    kinds, options = F.col(_KINDS), _parser(read.options)
    others = F.transform(unknown, lambda name: rescue.member(name, _json(members[name], kinds[name])))
    lost = []
    for field in typed.fields:
        text, value = members[field.name], F.col(_TYPED)[field.name]
        # Of a value that is there, less than all only where it is an object or an array.
        json = F.when(value.isNull(), _json(text, kinds[field.name])).otherwise(text)
        is_less = text.isNotNull() & _is_less(text, value, field.dataType, options)
        lost.append(F.when(is_less, rescue.member(field.name, json)))
    whole = F.when(members.isNull(), F.array(rescue.member(rescue.CORRUPT, rescue.quoted(F.col(_TEXT)))))
    arrays = [others, *([F.array(*lost)] if lost else []), *([] if read.keeps_corrupt else [whole])]
    return rescue.rescued(arrays, F.col(_FILE))


def _json(text: Column, kind: Column) -> Column:
    """A member's text as the JSON value that it was: the text of a string has lost its quotes."""
    is_string = F.coalesce(F.schema_of_variant(kind), F.lit("STRING")) == "STRING"
    exact = _exact(text, kind)
    return F.when(text.isNull(), F.lit("null")).when(is_string, rescue.quoted(text)).otherwise(exact)


def _exact(text: Column, kind: Column) -> Column:
    """A member's text with all digits of its fractions, which Spark's parser writes as doubles into a text."""
    is_inexact = text.rlike(_FRACTION) & ~F.schema_of_variant(kind).isin("STRING", "DOUBLE")
    return F.when(kind.isNotNull() & is_inexact, F.try_variant_get(kind, "$", "string")).otherwise(text)


def _is_less(text: Column, value: Column, type_: DataType, options: dict[str, str]) -> Column:
    """True if the text of a JSON value has more than a typed value."""
    missing = F.lit(False) if isinstance(type_, StringType) else text.isNotNull() & value.isNull()
    if isinstance(type_, StructType):
        inner = F.from_json(text, _TEXTS, options)
        return missing | _let(inner, lambda members: _any_less(members, value, type_, options))
    if isinstance(type_, ArrayType) and not isinstance(type_.elementType, StringType):
        element = type_.elementType
        texts = F.from_json(text, _SEQUENCES, options)
        less = F.zip_with(texts, value, lambda one, typed: _is_less(one, typed, element, options))
        return missing | _exists(less, lambda each: each)
    if isinstance(type_, MapType) and not isinstance(type_.valueType, StringType):
        of_value = type_.valueType

        def any_less(members: Column) -> Column:
            names = F.map_keys(members)
            return _exists(names, lambda name: _is_less(members[name], value[name], of_value, options))

        return missing | _let(F.from_json(text, _TEXTS, options), any_less)
    return missing


def _any_less(members: Column, value: Column, type_: StructType, options: dict[str, str]) -> Column:
    names = type_.names
    less = _exists(F.map_keys(members), lambda name: ~name.isin(names) if names else F.lit(True))
    for field in type_.fields:
        less = less | _is_less(members[field.name], value[field.name], field.dataType, options)
    return less


def _exists(values: Column, condition: Callable[[Column], Column]) -> Column:
    return F.coalesce(F.exists(values, condition), F.lit(False))


def _let(value: Column, function: Callable[[Column], Column]) -> Column:
    """A function of a value that is computed once, however often the function has it; false for null."""
    return F.coalesce(F.when(value.isNotNull(), F.transform(F.array(value), function)[0]), F.lit(False))
