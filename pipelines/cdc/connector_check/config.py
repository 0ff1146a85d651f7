"""A connector's configuration in Kafka Connect's form, with the connector's defaults."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cdc.errors import RunCondition, RunError
from cdc.spec.secrets import looks_secret, names_secret

DEFAULTS: Mapping[str, str] = {
    "time.precision.mode": "adaptive",
    "decimal.handling.mode": "precise",
    "binary.handling.mode": "bytes",
    "unavailable.value.placeholder": "__debezium_unavailable_value",
    "snapshot.mode": "initial",
    "snapshot.isolation.mode": "repeatable_read",
    "tombstones.on.delete": "true",
    "include.schema.changes": "true",
    "provide.transaction.metadata": "false",
    "heartbeat.interval.ms": "0",
    "skipped.operations": "t",
    "topic.delimiter": ".",
    "topic.heartbeat.prefix": "__debezium-heartbeat",
    "topic.transaction": "transaction",
    "event.processing.failure.handling.mode": "fail",
    "event.converting.failure.handling.mode": "warn",
    "field.name.adjustment.mode": "none",
    "streaming.fetch.size": "0",
    "value.converter.schemas.enable": "true",
    "value.converter.replace.null.with.default": "true",
    "value.converter.decimal.format": "BASE64",
    "value.converter.serializer.type": "json",
    "value.converter.data.serializer.type": "json",
}
"""Effective values of settings that a configuration does not have, whatever the kind of connector."""


class UnreadableConfig(RunError):
    """A file is not a connector configuration; the message states why, and what one looks like."""


@dataclass(frozen=True)
class Config:
    """Settings by name, as strings."""

    settings: Mapping[str, str]
    defaults: Mapping[str, str] = field(default_factory=lambda: DEFAULTS)
    """Effective values of the settings that it does not have."""

    @classmethod
    def read(cls, file: Path) -> "Config":
        """Read ``{"name": ..., "config": {...}}``, or the settings alone.

        Raises:
            UnreadableConfig: the file contains neither.
        """
        form = 'give the JSON that Kafka Connect takes: {"name": "shop", "config": {"connector.class": ...}}.'
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            reason = f"the file is not JSON: {error}"
            raise UnreadableConfig(RunCondition.NOT_A_CONNECTOR_CONFIG, str(file), reason, form) from error
        settings = found.get("config", found) if isinstance(found, dict) else None
        if not isinstance(settings, dict) or any(isinstance(value, dict | list) for value in settings.values()):
            reason = "the file contains no settings"
            raise UnreadableConfig(RunCondition.NOT_A_CONNECTOR_CONFIG, str(file), reason, form)
        return cls({name: _text(value) for name, value in settings.items() if value is not None})

    def __contains__(self, name: str) -> bool:
        """True if the configuration itself has the setting."""
        return name in self.settings

    def get(self, name: str) -> str:
        """The effective value: the setting, its default, or an empty string."""
        return self.settings.get(name, self.defaults.get(name, "")).strip()

    def mode(self, name: str) -> str:
        """An enumerated setting, in lower case."""
        return self.get(name).lower()

    def is_true(self, name: str) -> bool:
        """A boolean setting."""
        return self.mode(name) == "true"

    def items(self, name: str) -> tuple[str, ...]:
        """A comma-separated setting."""
        return tuple(item.strip() for item in self.get(name).split(",") if item.strip())

    def shown(self, name: str) -> str:
        """A setting's value as shown to people; a secret is masked."""
        if name not in self:
            return f"not set (default: {self.defaults[name]})" if self.defaults.get(name) else "not set"
        value = self.get(name)
        return "(a secret, not shown)" if names_secret(name) or looks_secret(value) else value

    def transforms(self) -> tuple[str, ...]:
        """The names of the transformations, in order."""
        return self.items("transforms")

    def transform_of(self, *class_ends: str) -> str | None:
        """The name of the first transformation whose class ends with one of these."""
        return next(
            (name for name in self.transforms() if self.get(f"transforms.{name}.type").endswith(class_ends)), None
        )

    def first_set(self, names: Iterable[str]) -> str | None:
        """The first of these settings that the configuration has."""
        return next((name for name in names if name in self), None)

    @property
    def is_1x(self) -> bool:
        """True for Debezium 1.x, whose topic names do not include the database."""
        return "database.server.name" in self and "topic.prefix" not in self

    @property
    def prefix(self) -> str:
        """The topic prefix; empty if there is none."""
        return self.get("topic.prefix") or self.get("database.server.name")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
