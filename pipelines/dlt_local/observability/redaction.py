"""Redacts secrets from every text that the engine writes: event log, report, errors.

Two rules, always applied together: values of configuration keys and sink options with a secret name are replaced
wherever they occur; and in any text, so is the value after a name such as `password=`.
"""

import re
from collections.abc import Iterable, Mapping

REDACTED = "*********(redacted)"

_NAMES = (
    r"password|passwd|pwd|secret|token|credentials?|api[._-]?key|access[._-]?key|account[._-]?key|private[._-]?key|jaas"
)
_SECRET_NAME = re.compile(rf"(?i){_NAMES}")
# A quoted value may contain spaces: `sasl.jaas.config` is a whole statement.
_VALUE = r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s,;&)}\]"']+)"""
_GIVEN = re.compile(rf"""(?i)([\w.-]*(?:{_NAMES})[\w.-]*["'`]?\s*(?:=|:|->|,)\s*(?:Some\()?){_VALUE}""")
_QUOTED = re.compile(rf"""(?i)(?:{_NAMES})\s*=\s*["']([^"']{{4,}})["']""")
_JAAS = re.compile(r"(?i)(\.(?:Plain|Scram|OAuthBearer)LoginModule\s+\w+)([^;]*);")
_IN_ADDRESS = re.compile(r"(://[^/\s:@]+:)[^/\s@]+@")
_SHORT = 4
"""Shorter values are left alone: replacing them would corrupt unrelated words."""


def is_secret(name: str) -> bool:
    """True for a setting whose name marks its value as secret.

    >>> is_secret("kafka.sasl.jaas.config"), is_secret("kafka.bootstrap.servers")
    (True, False)
    """
    return bool(_SECRET_NAME.search(name))


def secret_values(*settings: Mapping[str, str]) -> frozenset[str]:
    """The values of settings with secret names, and the passwords quoted inside those values."""
    values = {value for each in settings for name, value in each.items() if is_secret(name) and len(value) >= _SHORT}
    quoted = {inner for value in values for inner in _QUOTED.findall(value)}
    return frozenset(values | quoted)


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
    """Redact an error in place; a cause that still shows a secret is detached, because a traceback would print it."""
    values, seen = tuple(values), seen | {id(error)}
    error.args = tuple(redact(arg, values) if isinstance(arg, str) else arg for arg in error.args)
    for inner in getattr(error, "errors", ()):
        redact_error(inner, values, seen)
    cause = error.__cause__ or error.__context__
    if cause is None or id(cause) in seen:
        return
    redact_error(cause, values, seen)
    if redact(str(cause), values) != str(cause):
        error.__cause__, error.__suppress_context__ = None, True


class Redactor:
    """Redacts text with the secret values known so far; sink options become known once the sources are loaded."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._values = secret_values(settings)

    def add(self, *settings: Mapping[str, str]) -> None:
        """Redact the secret values of these settings too."""
        self._values |= secret_values(*settings)

    def add_value(self, value: str) -> None:
        """Redact this secret too."""
        self._values |= {value} if len(value) >= _SHORT else frozenset()

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return redact(text, self._values)

    def error(self, error: BaseException) -> None:
        """Redact an error in place."""
        redact_error(error, self._values)
