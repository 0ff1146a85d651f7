"""The binary types: binary, varbinary, image, rowversion, hierarchyid."""

import base64
from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.conversion import Conversion
from cdc.spec.model import BinaryMode, ColumnSpec, ConnectorSpec


def binary(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """Bytes, exactly as many as the source holds."""
    wire, convert = _WIRE[connector.binary_handling_mode]
    return Conversion(wire, "binary", convert)


def encoded(text: str, mode: BinaryMode) -> str:
    """A text's UTF-8 bytes, encoded as the connector writes bytes in a mode.

    >>> encoded("none", "bytes"), encoded("none", "hex")
    ('bm9uZQ==', '6e6f6e65')
    """
    content = text.encode()
    if mode == "hex":
        return content.hex()
    plain = base64.urlsafe_b64encode(content) if mode == "base64-url-safe" else base64.b64encode(content)
    return plain.decode()


def from_base64(text: Column) -> Column:
    """The bytes of a base64 text, padded or not; null if it is not base64.

    >>> evaluate(F.hex(from_base64(F.lit("AP8Q")))), evaluate(from_base64(F.lit("AP8*")))
    ('00FF10', None)
    """
    return F.try_to_binary(text, F.lit("base64"))


def _from_base64_url(text: Column) -> Column:
    return from_base64(F.translate(text, "-_", "+/"))


def _from_hex(text: Column) -> Column:
    # Spark reads an odd digit as a byte of its own.
    return F.when(F.length(text) % 2 == 0, F.try_to_binary(text, F.lit("hex")))


_WIRE: dict[str, tuple[str, Callable[[Column], Column]]] = {
    "bytes": ("base64", from_base64),
    "base64": ("base64", from_base64),
    "base64-url-safe": ("base64, URL-safe alphabet", _from_base64_url),
    "hex": ("hexadecimal digits", _from_hex),
}
