"""Secrets are taken out of every text that the engine writes: event log, report, errors.

Two ways, both always: values of configuration keys and sink options that are secret by their name are known and
replaced wherever they stand; and in any text, what follows a name such as `password=` is.
"""

import re
from collections.abc import Iterable, Mapping

REDACTED = "*********(redacted)"

_NAMES = (
    r"password|passwd|pwd|secret|token|credentials?|api[._-]?key|access[._-]?key|account[._-]?key|private[._-]?key|jaas"
)
_SECRET_NAME = re.compile(rf"(?i){_NAMES}")
# A value in quotes may hold spaces: `sasl.jaas.config` is a whole sentence.
_VALUE = r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s,;&)}\]"']+)"""
_GIVEN = re.compile(rf"""(?i)([\w.-]*(?:{_NAMES})[\w.-]*["'`]?\s*(?:=|:|->|,)\s*(?:Some\()?){_VALUE}""")
_QUOTED = re.compile(rf"""(?i)(?:{_NAMES})\s*=\s*["']([^"']{{4,}})["']""")
_JAAS = re.compile(r"(?i)(\.(?:Plain|Scram|OAuthBearer)LoginModule\s+\w+)([^;]*);")
_IN_ADDRESS = re.compile(r"(://[^/\s:@]+:)[^/\s@]+@")
_SHORT = 4
"""A value of fewer letters is no secret to speak of, and replacing it would tear other words apart."""


def is_secret(name: str) -> bool:
    """True for a setting that is secret by its name.

    >>> is_secret("kafka.sasl.jaas.config"), is_secret("kafka.bootstrap.servers")
    (True, False)
    """
    return bool(_SECRET_NAME.search(name))


def secret_values(*settings: Mapping[str, str]) -> frozenset[str]:
    """The values that stand under secret names; and of a whole sentence, what is secret in it by itself."""
    found = {value for each in settings for name, value in each.items() if is_secret(name) and len(value) >= _SHORT}
    quoted = {inner for value in found for inner in _QUOTED.findall(value)}
    return frozenset(found | quoted)


def redact(text: str, values: Iterable[str] = ()) -> str:
    """The text without secrets.

    >>> redact("option password=geheim was refused")
    'option password=*********(redacted) was refused'
    """
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, REDACTED)
    text = _JAAS.sub(rf"\1 {REDACTED};", text)
    text = _IN_ADDRESS.sub(rf"\1{REDACTED}@", text)
    return _GIVEN.sub(rf"\1{REDACTED}", text)


def redact_error(error: BaseException, values: Iterable[str], seen: frozenset[int] = frozenset()) -> None:
    """Take the secrets out of an error in place; a cause that holds one is cut off, for a traceback would print it."""
    values, seen = tuple(values), seen | {id(error)}
    error.args = tuple(redact(arg, values) if isinstance(arg, str) else arg for arg in error.args)
    for inner in getattr(error, "errors", ()):
        redact_error(inner, values, seen)
    behind = error.__cause__ or error.__context__
    if behind is None or id(behind) in seen:
        return
    redact_error(behind, values, seen)
    if redact(str(behind), values) != str(behind):
        error.__cause__, error.__suppress_context__ = None, True
