"""Malformed records: random changes of bytes and of JSON."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

Json = Any
_STRANGE: tuple[Json, ...] = (
    None,
    True,
    "",
    "x" * 5000,
    "\u0000",
    "\U0001f600",
    "NULL",
    "NaN",
    "9999-99-99T99:99:99Z",
    -1,
    2**63,
    -(2**64),
    10**40,
    1e308,
    0.1,
    [],
    {},
    [[["a"]]],
    {"schema": {}, "payload": {}},
)
_RAW = (
    "1e999999",
    "-0",
    "9" * 2000,
    "NaN",
    "Infinity",
    "'single'",
    '"\\ud800"',
    '"\\u0000"',
    "01",
    "[" * 1500 + "]" * 1500,
    '{"a":' * 600 + "1" + "}" * 600,
)
"""JSON that Python's writer does not produce."""


def mutated(value: bytes, random: Random) -> bytes | None:
    """The bytes after one to three random changes; None for a tombstone."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if not value:
            break
        changed = random.choice(_MUTATIONS)(value, random)
        if changed is None:
            return None
        value = changed
    return value


def _cut(value: bytes, random: Random) -> bytes:
    return value[: random.randrange(len(value))]


def _flip_bits(value: bytes, random: Random) -> bytes:
    changed = bytearray(value)
    for _ in range(random.randint(1, 5)):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _insert_bytes(value: bytes, random: Random) -> bytes:
    place = random.randrange(len(value))
    return value[:place] + random.randbytes(random.randint(1, 20)) + value[place:]


def _remove_bytes(value: bytes, random: Random) -> bytes:
    place = random.randrange(len(value))
    return value[:place] + value[place + random.randint(1, 30) :]


def _repeat(value: bytes, random: Random) -> bytes:
    return value + random.choice((b"", b" ", b",", b"\n", b"\x00")) + value


def _surround(value: bytes, random: Random) -> bytes:
    before, after = random.choice(
        ((b"[", b"]"), (b'"', b'"'), (b"\xef\xbb\xbf", b""), (b" \t\n", b"\r\n "), (b"{", b"}"))
    )
    return before + value + after


def _replace_all(value: bytes, random: Random) -> bytes | None:
    return random.choice((None, b"", b"null", b"{}", b"[]", b"0", b'"text"', b"\xff\xfe", random.randbytes(60)))


def _another_encoding(value: bytes, random: Random) -> bytes:
    return value.decode("latin-1").encode(random.choice(("utf-16", "utf-32", "utf-8")))


def _of_json(change: Callable[[Json, Random], None]) -> Callable[[bytes, Random], bytes]:
    """One field changed; bytes that are no longer a JSON object are unchanged."""

    def apply(value: bytes, random: Random) -> bytes:
        try:
            content = json.loads(value)
        except (ValueError, RecursionError):
            return value
        fields = [each for each in _objects(content) if each]
        if fields:
            change(random.choice(fields), random)
        return json.dumps(content, ensure_ascii=random.random() < 0.2, separators=(",", ":")).encode(
            errors="surrogatepass"
        )

    return apply


def _objects(content: Json, depth: int = 0) -> list[dict[str, Json]]:
    """Every object in a value, outer ones first."""
    if depth > 20 or not isinstance(content, dict):
        return []
    return [content, *(found for each in content.values() for found in _objects(each, depth + 1))]


@_of_json
def _drop_field(fields: Json, random: Random) -> None:
    del fields[random.choice(list(fields))]


@_of_json
def _swap_value(fields: Json, random: Random) -> None:
    fields[random.choice(list(fields))] = random.choice(_STRANGE)


@_of_json
def _nest_deeper(fields: Json, random: Random) -> None:
    name = random.choice(list(fields))
    fields[name] = random.choice(({"value": fields[name]}, [fields[name]], {name: {name: fields[name]}}))


@_of_json
def _rename_field(fields: Json, random: Random) -> None:
    name = random.choice(list(fields))
    fields[random.choice((name.upper(), f" {name}", "", f"{name}.x", "`"))] = fields.pop(name)


@_of_json
def _shuffle_fields(fields: Json, random: Random) -> None:
    names = random.sample(list(fields), len(fields))
    shuffled = {name: fields[name] for name in names}
    fields.clear()
    fields.update(shuffled)


@_of_json
def _add_fields(fields: Json, random: Random) -> None:
    for number in range(random.choice((1, 3, 200))):
        fields[f"new{number}"] = random.choice(_STRANGE)


def _raw_value(value: bytes, random: Random) -> bytes:
    """A field's value replaced by text that a JSON writer does not produce."""
    colons = [place for place, byte in enumerate(value) if byte == ord(":")]
    if not colons:
        return value
    place = random.choice(colons) + 1
    end = min((found for mark in (b",", b"}") if (found := value.find(mark, place)) > 0), default=len(value))
    return value[:place] + random.choice(_RAW).encode() + value[end:]


def _repeat_field(value: bytes, random: Random) -> bytes:
    """A field name that occurs twice in an object."""
    commas = [place for place, byte in enumerate(value) if byte == ord(",")]
    if len(commas) < 2:
        return value
    place = random.randrange(len(commas) - 1)
    return value[: commas[place]] + value[commas[place] : commas[place + 1]] + value[commas[place] :]


_MUTATIONS: tuple[Callable[[bytes, Random], bytes | None], ...] = (
    _cut,
    _flip_bits,
    _insert_bytes,
    _remove_bytes,
    _repeat,
    _surround,
    _replace_all,
    _another_encoding,
    _drop_field,
    _swap_value,
    _nest_deeper,
    _rename_field,
    _shuffle_fields,
    _add_fields,
    _raw_value,
    _repeat_field,
)
