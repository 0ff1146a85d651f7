"""The settings of a pipeline's configuration: every `cdc.*` key, and what to do about one that does not exist."""

from collections.abc import Iterable
from dataclasses import dataclass

from cdc.credentials import SHADED
from cdc.errors import CdcError, Condition, near_match
from cdc.records import KAFKA_SETTINGS
from cdc.row_tracking import SETTING as ROW_TRACKING
from cdc.spec import deployment

_PREFIX = "cdc."
_KAFKA = f"{_PREFIX}kafka."
SETTINGS = {
    "cdc.conf": "the conf folder",
    "cdc.connector": "the one connector whose tables the pipeline declares; by default all of them",
    "cdc.source": "where records come from: `kafka`, or `capture:<folder>`",
    "cdc.drift": "true: a table with everything in which records and specs differ",
    "cdc.findings": "true: a table with the anomalies in the changes",
    "cdc.gaps": "true, or the least number of missing offsets that counts: a table with the gaps in bronze's offsets",
    "cdc.least_counts": "true: versions take each event's least count in its transaction, for a rebuild of versions",
    ROW_TRACKING: "true: silver's versions have row tracking, from which Databricks refreshes gold incrementally",
    "cdc.replay_rejects": "the name of a replay of the rejects",
    **deployment.SETTINGS,
    SHADED: "true: classes of Kafka's client are named as Databricks names them, in a JAAS text for example",
    f"{_KAFKA}options": "options of Spark's Kafka reader that have no setting of their own, as a JSON object",
}
"""Setting -> what it means; the others are ``cdc.kafka.<name>``."""
_KNOWN = (*SETTINGS, *(f"{_KAFKA}{name}" for name in KAFKA_SETTINGS))


@dataclass(frozen=True)
class SettingFault:
    """A setting that does not exist, and so would have no effect."""

    name: str
    detail: str
    fix: str
    near_match: str | None

    def __str__(self) -> str:
        """Three lines, as the faults of a conf folder have."""
        near = f" (did you mean `{self.near_match}`?)" if self.near_match else ""
        return f"{Condition.UNKNOWN_SETTING.name}  {self.name}\n  {self.detail}{near}\n  fix: {self.fix}"


class UnknownSetting(CdcError, ValueError):
    """A pipeline's configuration has ``cdc.*`` settings that do not exist."""

    def __init__(self, faults: Iterable[SettingFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n\n".join(map(str, self.faults)))


def setting_faults(settings: Iterable[str]) -> list[SettingFault]:
    """The ``cdc.*`` settings that do not exist; their values, which may be secrets, are not asked for.

    >>> [fault.near_match for fault in setting_faults(["cdc.findngs", "cdc.source", "spark.x", "cdc.conf"])]
    ['cdc.findings']
    """
    return [_fault(name) for name in sorted(settings) if name.startswith(_PREFIX) and name not in _KNOWN]


def _fault(name: str) -> SettingFault:
    # Without the prefix, which every setting shares and which would make any two alike.
    near = near_match(name.removeprefix(_PREFIX), (known.removeprefix(_PREFIX) for known in _KNOWN))
    near = near and f"{_PREFIX}{near}"
    detail = f"`{name}` is not a setting of cdc, so it would have no effect"
    fix = "correct the name in the pipeline's `configuration`, or remove it."
    if name.startswith(_KAFKA):
        fix = "correct the name; any option of Spark's Kafka reader can be passed in cdc.kafka.options, a JSON object."
    elif near is None:
        detail += f"; known settings: {', '.join(SETTINGS)}, cdc.kafka.<name>"
    return SettingFault(name, detail, fix, near)
