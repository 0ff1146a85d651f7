"""Extended JSON as texts that keep each value's type: a text is in quotation marks, a number or an object is not.

A value is here a text of one of these forms: ``"Ada"`` (a string: quotation marks around its characters, which are not
escaped), ``5``, ``true``, or JSON (an object, a list; ``{"$numberLong":"5"}``). Null and ``$undefined`` are null.

Spark's JSON reader gives the characters of a string and the digits of a number alike. So strings are *marked* first:
each gets quotation marks inside its own, which come out as part of the value.
"""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import MapType, StringType

from cdc.debezium.json_texts import ANY_LENGTH, content, parse_object

# Possessive, because a loop that may give back what it took is a recursion of Java's, and a long text would overflow
# its stack.
_STRING = r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_MARKED = r'"\\"([^"\\]*+(?:(?!\\"")\\.[^"\\]*+)*+)\\""'
_UP_TO_NOT_FINITE = r'\G((?:[^"NI-]++|-(?!I)|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+)(-?(?:NaN|Infinity))'
_UNDEFINED = r'^\{\s*"\\"\$undefined\\""\s*:\s*true\s*\}$'
_FIELDS = MapType(StringType(), StringType())


def bound(value: Column, use: Callable[[Column], Column]) -> Column:
    """What a function makes of a value that it uses several times: the value is computed once.

    >>> evaluate(bound(F.lit(2), lambda value: value * value))
    4
    """
    return F.transform(F.array(value), use)[0]


def either(condition: Column, value: Column, other: Column | None = None) -> Column:
    """One of two values, by a condition; null if there is no other.

    As an `if`, which may be nested: the local engine reads plans as JSON, where a branch of a CASE appears twice.

    >>> evaluate(either(F.lit(True), F.lit(1), F.lit(2))), evaluate(either(F.lit(None).cast("boolean"), F.lit(1)))
    (1, None)
    """
    return F.call_function("if", condition, value, F.lit(None) if other is None else other)


def marked(json: Column) -> Column:
    """JSON in which each string has quotation marks of its own, for `fields`.

    >>> print(evaluate(marked(F.lit('{"a": "x", "b": 5}'))))
    {"\\"a\\"": "\\"x\\"", "\\"b\\"": 5}
    """
    return F.regexp_replace(finite(json), _STRING, r'"\\"$1\\""')


def finite(json: Column) -> Column:
    """Extended JSON with each double that is no number as an object: drivers before version 2 write it as it is.

    >>> evaluate(finite(F.lit('{"a": "NaN", "b": NaN}')))
    '{"a": "NaN", "b": {"$numberDouble":"NaN"}}'
    """
    replaced = F.regexp_replace(json, _UP_TO_NOT_FINITE, r'$1{"\$numberDouble":"$2"}')
    return either(json.rlike("NaN|Infinity"), replaced, json)


def fields(document: Column) -> Column:
    """The fields of a marked object, as a map of marked texts; its keys are in quotation marks. Null if it is not one.

    >>> document = fields(marked(F.lit('{"name": "Ada", "tags": ["x"], "gone": null}')))
    >>> print(evaluate(F.concat_ws(" ", F.map_keys(document), F.map_values(document))))
    "name" "tags" "gone" "Ada" ["\\"x\\""]
    """
    return content(parse_object(document, _FIELDS))


def inner_fields(value: Column) -> Column:
    """The fields of a marked object that `fields` has returned, in the same form.

    >>> outer = fields(marked(F.lit('{"address": {"city": "Turin"}}')))
    >>> evaluate(inner_fields(outer['"address"']))
    {'"city"': '"Turin"'}
    """
    return F.from_json(value, "map<string,string>", ANY_LENGTH)


def plain(value: Column) -> Column:
    """A text of `fields` without the marks inside of it.

    >>> document = fields(marked(F.lit('{"tags": ["a \\\\" b", ""], "old": {"$undefined": true}}')))
    >>> evaluate(plain(document['"tags"'])), evaluate(plain(document['"old"']))
    ('["a \\\\" b",""]', None)
    """
    unmarked = F.regexp_replace(value, _MARKED, '"$1"')
    return either(~is_container(value), value, either(~value.rlike(_UNDEFINED), unmarked))


def is_container(value: Column) -> Column:
    """True for an object or a list.

    >>> evaluate(is_container(F.lit("[]"))), evaluate(is_container(F.lit('"[]"')))
    (True, False)
    """
    return F.substring(value, 1, 1).isin("{", "[")


def name_of(key: Column) -> Column:
    """The name of a field, from a key of `fields`.

    >>> evaluate(name_of(F.lit('"name"')))
    'name'
    """
    return F.substring(key, F.lit(2), F.length(key) - 2)


def key_of(name: str) -> str:
    """The key of `fields` for a field of this name."""
    return f'"{name}"'


def value(json: Column) -> Column:
    """One value of any kind, from its extended JSON.

    >>> [evaluate(value(F.lit(json))) for json in ('"1234"', "1234", '{"$oid":"5f"}', "null", "12 34")]
    ['"1234"', '1234', '{"$oid":"5f"}', None, None]
    """
    alone = F.concat(F.lit('{"value":'), json, F.lit("}"))
    return plain(F.element_at(fields(marked(alone)), key_of("value")))


def is_string(value: Column) -> Column:
    """True for a string.

    >>> evaluate(is_string(F.lit('"5"'))), evaluate(is_string(F.lit("5")))
    (True, False)
    """
    return F.startswith(value, F.lit('"'))


def as_json(value: Column) -> Column:
    """A value as extended JSON: its strings are escaped.

    >>> print(evaluate(as_json(F.lit('"a " b"'))), evaluate(as_json(F.lit("5"))))
    "a \\" b" 5
    """
    escaped = F.to_json(F.struct(name_of(value).alias("v")))
    return F.when(is_string(value), F.substring(escaped, F.lit(6), F.length(escaped) - 6)).otherwise(value)
