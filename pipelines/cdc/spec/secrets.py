"""What looks like a secret, so that it is refused in a spec and shown nowhere."""

import re

_WORDS = r"pass(word|wd|phrase)|secret|token|jaas|credential|api[._-]?key|private[._-]?key|access[._-]?key"
_NAME = re.compile(_WORDS, re.IGNORECASE)
_ASSIGNED = re.compile(rf"({_WORDS})[\w.\-]*\s*[=:]\s*\S|://[^/\s:@]+:[^/\s@]+@", re.IGNORECASE)


def names_secret(field: str) -> bool:
    """Whether a field of this name would hold a secret.

    >>> [names_secret(field) for field in ("database.password", "kafka.sasl.jaas.config", "topic_prefix")]
    [True, True, False]
    """
    return bool(_NAME.search(field))


def looks_secret(text: str) -> bool:
    """Whether a text gives a secret away, such as ``password=...`` or ``https://user:word@host``.

    >>> looks_secret('ScramLoginModule required username="u" password="x";'), looks_secret("shopserver")
    (True, False)
    """
    return bool(_ASSIGNED.search(text))
