"""Detection of secrets: a spec must not contain them, and no message shows them."""

import re

_WORDS = r"pass(word|wd|phrase)|secret|token|jaas|credential|api[._-]?key|private[._-]?key|access[._-]?key"
_NAME = re.compile(_WORDS, re.IGNORECASE)
_ASSIGNED = re.compile(rf"({_WORDS})[\w.\-]*\s*[=:]\s*\S|://[^/\s:@]+:[^/\s@]+@", re.IGNORECASE)


def names_secret(field: str) -> bool:
    """True if a field of this name would contain a secret.

    >>> [names_secret(field) for field in ("database.password", "kafka.sasl.jaas.config", "topic_prefix")]
    [True, True, False]
    """
    return bool(_NAME.search(field))


def looks_secret(text: str) -> bool:
    """True if a text contains a secret, such as ``password=...`` or ``https://user:word@host``.

    >>> looks_secret('ScramLoginModule required username="u" password="x";'), looks_secret("shopserver")
    (True, False)
    """
    return bool(_ASSIGNED.search(text))
