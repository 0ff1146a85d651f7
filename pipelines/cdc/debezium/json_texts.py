"""JSON objects parsed once with every leaf as text: exact for whole numbers of any size, whatever the type."""

from collections.abc import Iterable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, MapType, StringType, StructField, StructType

TEXT = StringType()
TEXTS = MapType(TEXT, TEXT)
"""An object whose fields are not known in advance."""
PAYLOAD = "payload"
"""Where the JSON converter puts the content, beside ``schema``."""

ANY_LENGTH = {"maxStringLen": str(2**31 - 1)}
"""Option of the JSON reader, which by default refuses a text of 20 million characters and more."""

# From where the last match ended: all up to the next number, texts as a whole, then the number. Possessive, because a
# loop that may give back what it took is a recursion of Java's, and a long text would overflow its stack.
_UP_TO_NUMBER = (
    r'\G((?:[^"\d-]++|-(?!\d)|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+)'
    r"(-?(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][+-]?\d++)?+)"
)

_OBJECT, _DAMAGED = "object", "_damaged"
_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _DAMAGED, "allowSingleQuotes": "false", **ANY_LENGTH}


def parse_object(value: Column, form: DataType) -> Column:
    """A JSON object parsed, for `content` and `is_damaged`; fields that are not in the form are not read.

    The text is wrapped in an object of its own, so that it has to be one JSON object from its first to its last
    character: from_json alone ignores what follows the object and reads an array of one object as that object.

    >>> parsed = parse_object(F.lit('{"op": "c", "count": 12345678901234567890}'), texts_of(["count"]))
    >>> evaluate(content(parsed))
    Row(count='12345678901234567890')
    """
    return F.from_json(_wrapped(value), struct_of({_OBJECT: form, _DAMAGED: TEXT}), _OPTIONS)


def content(parsed: Column) -> Column:
    """The object's fields, as far as they could be read.

    >>> evaluate(content(parse_object(F.lit('{"op": "c"}'), texts_of(["op"]))))
    Row(op='c')
    """
    return parsed.getField(_OBJECT)


def with_exact_numbers(value: Column) -> Column:
    """JSON with each of its numbers as a text: from_json reads a number with a fraction as a double, whatever it wants.

    >>> evaluate(with_exact_numbers(F.lit('{"a":1.10,"b 2":[-1E-8,"c:3"],"d":null}')))
    '{"a":"1.10","b 2":["-1E-8","c:3"],"d":null}'
    """
    return F.regexp_replace(value.cast("string"), _UP_TO_NUMBER, '$1"$2"')


def is_damaged(parsed: Column, value: Column) -> Column:
    """True if the value is not UTF-8 text or not a JSON object, or if a field is not of the form expected.

    >>> value = F.lit('{"op": "c"')
    >>> evaluate(is_damaged(parse_object(value, texts_of(["op"])), value))
    True
    """
    # The JSON reader silently replaces bytes that are not UTF-8 by U+FFFD.
    is_text = F.is_valid_utf8(value.cast("string"))
    return parsed.getField(_DAMAGED).isNotNull() | content(parsed).isNull() | ~is_text


def is_json(value: Column) -> Column:
    """True if the value is JSON of any kind, from its first to its last character.

    >>> evaluate(is_json(F.lit("5"))), evaluate(is_json(F.lit('{"op": "c"} {}')))
    (True, False)
    """
    return parse_object(value, TEXT).getField(_DAMAGED).isNull()


def key_texts(key: Column, names: Iterable[str]) -> Column:
    """A record key's fields as a struct of texts, with or without a schema block; nulls if it is not JSON.

    >>> evaluate(key_texts(F.lit('{"payload": {"id": 1}}'), ["id"]))
    Row(id='1')
    """
    fields = dict.fromkeys(names, TEXT)
    form = struct_of({**fields, PAYLOAD: struct_of(fields)})
    parsed = F.from_json(key.cast("string"), form, _OPTIONS)
    return F.struct(*(anywhere(parsed, name).alias(name) for name in fields))


def anywhere(fields: Column, name: str) -> Column:
    """A field at either place: under the schema block's ``payload``, or at the top.

    >>> form = struct_of({"op": TEXT, PAYLOAD: texts_of(["op"])})
    >>> evaluate(anywhere(content(parse_object(F.lit('{"payload": {"op": "c"}}'), form)), "op"))
    'c'
    """
    return F.coalesce(fields.getField(PAYLOAD).getField(name), fields.getField(name))


def texts_of(names: Iterable[str]) -> StructType:
    """A struct of texts."""
    return struct_of(dict.fromkeys(names, TEXT))


def struct_of(fields: Mapping[str, DataType]) -> StructType:
    """A struct of these fields, in this order."""
    return StructType([StructField(name, type_) for name, type_ in fields.items()])


def _wrapped(value: Column) -> Column:
    return F.concat(F.lit(f'{{"{_OBJECT}":'), value.cast("string"), F.lit("}"))
