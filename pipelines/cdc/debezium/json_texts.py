"""JSON objects read once, every leaf as text: exact for whole numbers of any size, whatever stands there."""

from collections.abc import Iterable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, MapType, StringType, StructField, StructType

TEXT = StringType()
TEXTS = MapType(TEXT, TEXT)
"""An object whose fields are not known beforehand."""
PAYLOAD = "payload"
"""Where the JSON converter puts the content, beside ``schema``."""

_OBJECT, _DAMAGED = "object", "_damaged"
_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _DAMAGED, "allowSingleQuotes": "false"}


def parse_object(value: Column, form: DataType) -> Column:
    """Reads a JSON object, for `content` and `is_damaged`; fields that the form does not name stay unread.

    The text is wrapped, so that it has to be one JSON object from its first to its last character:
    from_json on its own ignores what follows the object, and takes an array of one for its element.
    """
    return F.from_json(_wrapped(value), struct_of({_OBJECT: form, _DAMAGED: TEXT}), _OPTIONS)


def content(parsed: Column) -> Column:
    """The object's fields, as far as they could be read."""
    return parsed.getField(_OBJECT)


def is_damaged(parsed: Column, value: Column) -> Column:
    """True where the value is no text, no JSON object, or a field has another form than the one wanted."""
    # The JSON reader puts U+FFFD for bytes that are no UTF-8, and says nothing.
    is_text = F.is_valid_utf8(value.cast("string"))
    return parsed.getField(_DAMAGED).isNotNull() | content(parsed).isNull() | ~is_text


def is_json(value: Column) -> Column:
    """True where the value is JSON of any kind, from its first to its last character."""
    return parse_object(value, TEXT).getField(_DAMAGED).isNull()


def key_texts(key: Column, names: Iterable[str]) -> Column:
    """A record key's fields as a struct of texts, under a schema block or not; nulls if it is no JSON."""
    fields = dict.fromkeys(names, TEXT)
    form = struct_of({**fields, PAYLOAD: struct_of(fields)})
    parsed = F.from_json(key.cast("string"), form, _OPTIONS)
    return F.struct(*(anywhere(parsed, name).alias(name) for name in fields))


def anywhere(fields: Column, name: str) -> Column:
    """A field, wherever it is: under the schema block's ``payload``, or at the top."""
    return F.coalesce(fields.getField(PAYLOAD).getField(name), fields.getField(name))


def texts_of(names: Iterable[str]) -> StructType:
    """A struct of texts."""
    return struct_of(dict.fromkeys(names, TEXT))


def struct_of(fields: Mapping[str, DataType]) -> StructType:
    """A struct, its fields in this order."""
    return StructType([StructField(name, type_) for name, type_ in fields.items()])


def _wrapped(value: Column) -> Column:
    return F.concat(F.lit(f'{{"{_OBJECT}":'), value.cast("string"), F.lit("}"))
