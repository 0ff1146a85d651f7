"""Credentials for Kafka: references to a workspace's secrets, and the names that Kafka's classes have there."""

import builtins
import re
from collections.abc import Callable, Mapping
from typing import Any

from cdc.errors import RunCondition, RunError

SHADED = "cdc.kafka.shaded"
"""Setting: `true` where the Kafka client's classes are below other packages, as on Databricks."""
SecretReader = Callable[[str, str], str]
"""From a secret's scope and key to its value."""

_REFERENCE = re.compile(r"\{\{\s*secrets/([\w.@-]+)/([\w.@-]+)\s*\}\}", re.ASCII)
_PACKAGES = {"org.apache.kafka.": "kafkashaded.", "software.amazon.msk.": "shadedmskiam."}
_CLASS = re.compile(r"(?<![\w.])(?:" + "|".join(map(re.escape, _PACKAGES)) + ")")


class SecretNotReadable(RunError):
    """The workspace does not hand out a secret."""

    def __init__(self, scope: str, key: str) -> None:
        message = "the workspace has no such secret, or whoever the pipeline runs as may not read it"
        put, grant = f"put-secret {scope} {key}", f"put-acl {scope} APPLICATION_ID READ"
        fix = f"`databricks secrets {put}`, or `databricks secrets {grant}`."
        super().__init__(RunCondition.SECRET_REFUSED, f"{{{{secrets/{scope}/{key}}}}}", message, fix)


def secret_reader(source: Mapping[str, Any]) -> SecretReader | None:
    """The workspace's own reader of secrets, None where there is no workspace.

    Args:
        source: the globals of a pipeline's source file: only there does Databricks provide ``dbutils``.
    """
    dbutils = source.get("dbutils", getattr(builtins, "dbutils", None))
    return None if dbutils is None else dbutils.secrets.get


def with_secrets(text: str, read: SecretReader | None) -> str:
    """The text with each ``{{secrets/<scope>/<key>}}`` replaced by the secret; without a reader, as it is.

    >>> with_secrets('password="{{secrets/shop/password}}";', lambda scope, key: f"{key} of {scope}")
    'password="password of shop";'

    Raises:
        SecretNotReadable: the secret does not exist, or may not be read.
    """
    return text if read is None else _REFERENCE.sub(lambda found: _read(read, found[1], found[2]), text)


def with_shaded_classes(text: str) -> str:
    """The text with the classes of Kafka's client and of MSK's login under the names that Databricks gives them.

    >>> with_shaded_classes("org.apache.kafka.common.security.plain.PlainLoginModule required;")
    'kafkashaded.org.apache.kafka.common.security.plain.PlainLoginModule required;'
    >>> with_shaded_classes("shadedmskiam.software.amazon.msk.auth.iam.IAMLoginModule required;")
    'shadedmskiam.software.amazon.msk.auth.iam.IAMLoginModule required;'
    """
    return _CLASS.sub(lambda found: _PACKAGES[found[0]] + found[0], text)


def _read(read: SecretReader, scope: str, key: str) -> str:
    try:
        return read(scope, key)
    except Exception as refused:  # of a class that only Databricks has
        raise SecretNotReadable(scope, key) from refused
