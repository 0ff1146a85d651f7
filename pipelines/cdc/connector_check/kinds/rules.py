"""What advice on a connector's configuration needs to know of its kind."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config

Modes = Mapping[str, tuple[Level, str, str | None]]
"""Value of a setting, in lower case -> how much it costs, what it means, and what to change."""


@dataclass(frozen=True)
class Rules:
    """The settings of one kind of connector beside those that all have."""

    kind: str
    """The kind's name."""
    position: tuple[str, ...]
    """What `add.fields` of flattened records needs for the position: ``source.commit_lsn``, ``source.ts_ms``."""
    modes: Mapping[str, Modes] = field(hash=False)
    """Setting -> its values, such as those of ``time.precision.mode``."""
    spec_fields: Mapping[str, str] = field(hash=False)
    """Field of a connector spec -> the setting whose value it has."""
    own: Callable[[Config], Iterator[Advice]]
    """Advice on the settings that only this kind has: on its order first, then on values that its log lacks."""
    topics: Callable[[Config], str] = lambda _: "topics may not be named as the connector names them by default."
    """What a naming strategy of the user's own changes."""
    pattern: Callable[[Config], str | None] = lambda _: None
    """`topic_pattern` of the fitting spec; None for the kind's own."""
    old_topics: str | None = None
    """How topics of 1.x connectors are named, where that differs."""
    snapshots: Modes = field(default_factory=dict, hash=False)
    """Values of ``snapshot.mode`` that only this kind has, or that mean something else in it."""
    defaults: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Setting -> its default in this kind, beside those that all kinds share."""
    counts: bool = True
    """Whether the connector's count of a transaction's events orders its changes (`within_transaction`)."""
    reads_record_keys: bool = False
    """Whether a row's key is that of its record alone, so that record keys have to be JSON."""
    signals: Callable[[Config], str] = lambda config: config.get("signal.data.collection")
    """The rest of the signal table's topic, behind the prefix."""


def delimited(*parts: str) -> Callable[[Config], str | None]:
    """`Rules.pattern` of a kind whose topics are these parts with the delimiter between them: `{prefix}`, `{table}`."""

    def pattern(config: Config) -> str | None:
        delimiter = config.get("topic.delimiter")
        return None if delimiter == "." else delimiter.join(("{prefix}", *parts))

    return pattern
