"""The columns that an Avro file names in its header; Spark tells those of one file of a folder only.

The header: https://avro.apache.org/docs/1.12.0/specification/#object-container-files
"""

import json
from typing import IO

_MAGIC = b"Obj\x01"


def column_names(path: str) -> tuple[str, ...] | None:
    """The names of the columns, in the file's order; None for a file that is not Avro, which Spark then refuses."""
    with open(path, "rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return None
        schema = json.loads(_metadata(file)[b"avro.schema"])
    return tuple(field["name"] for field in schema["fields"]) if isinstance(schema, dict) else None


def _metadata(file: IO[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    while count := _long(file):
        if count < 0:
            # The size of the block follows, for readers that skip it.
            _long(file)
        for _ in range(abs(count)):
            key = file.read(_long(file))
            found[key] = file.read(_long(file))
    return found


def _long(file: IO[bytes]) -> int:
    """A whole number in Avro's variable length, with the sign in its last bit."""
    value = shift = 0
    while True:
        (byte,) = file.read(1)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1)
        shift += 7
