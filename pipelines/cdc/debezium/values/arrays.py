"""Arrays: a JSON array of the elements, each as a column of the element's type is written."""

import hashlib
import json
import uuid
from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.json_texts import ANY_LENGTH
from cdc.debezium.values.conversion import Conversion, bound

_JAVA_ARRAY = r'"\[+[ZBCSIJFDL][\w.$]*;?@[0-9a-f]{1,8}"'
"""What connectors write for the rows of an array of two dimensions: Java's name of an object, `[I@1b2c6ec2`."""


def array(element: Conversion, placeholders: Callable[[str], tuple[str, ...]]) -> Conversion:
    """An array; null, so a reject, if a single element cannot be converted."""

    def convert(texts: Column) -> Column:
        def unless_lost(values: Column) -> Column:
            lost = F.zip_with(texts, values, lambda text, value: text.isNotNull() & value.isNull())
            return F.when(~F.exists(lost, lambda is_lost: is_lost), values)

        return bound(F.transform(texts, lambda text: _whole(text, element)), unless_lost)

    return Conversion(
        f"array of: {element.wire}",
        f"array<{element.target}>",
        convert,
        measure=_texts,
        placeholders=placeholders,
    )


def with_texts(placeholder: str) -> tuple[str, ...]:
    """The placeholder of an array of texts.

    >>> with_texts("none")
    ('["none"]',)
    """
    return (_json([placeholder]),)


def with_numbers(placeholder: str) -> tuple[str, ...]:
    """The placeholder of an array of whole numbers or days: its bytes, one by one.

    >>> with_numbers("no")
    ('[110,111]', '["110","111"]')
    """
    numbers = list(placeholder.encode())
    return _json(numbers), _json([str(number) for number in numbers])


def with_uuids(placeholder: str) -> tuple[str, ...]:
    """The placeholder of an array of uuids: that of its bytes' MD5.

    >>> with_uuids("__debezium_unavailable_value")
    ('["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]',)
    """
    digest = hashlib.md5(placeholder.encode(), usedforsecurity=False).digest()
    return (_json([str(uuid.UUID(bytes=digest, version=3))]),)


def without(placeholder: str) -> tuple[str, ...]:
    """No text: connectors write null for an unchanged array of such elements."""
    return ()


def _whole(text: Column, element: Conversion) -> Column:
    """Both steps of an element's conversion."""
    return bound(element.measure(text), element.convert) if element.measure else element.convert(text)


def _texts(text: Column) -> Column:
    """The elements as texts; null if the text is not a JSON array."""
    elements = F.from_json(text, "array<string>", ANY_LENGTH)
    is_array = text.startswith("[") & ~text.rlike(_JAVA_ARRAY)
    return F.when(is_array, elements)


def _json(elements: list[int] | list[str]) -> str:
    return json.dumps(elements, ensure_ascii=False, separators=(",", ":"))
