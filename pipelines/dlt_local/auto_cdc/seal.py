"""Seal of a target's auxiliary state: a copy of its ledger in another folder, which knows when the state is lost.

It is written before the ledger when a batch begins, and after the ledger when the batch ends. So a killed update leaves
the two one step apart at most, and only while the seal is open.
"""

from dataclasses import dataclass
from pathlib import Path

from dlt_local.auto_cdc.ledger import Ledger
from dlt_local.delta.storage import read_json_if_intact, write_json


@dataclass(frozen=True)
class Sealed:
    """The content of a seal."""

    ledger: Ledger
    is_open: bool
    """A batch has begun since the ledger was last known to be complete."""

    def fits(self, ledger: Ledger) -> bool:
        """False for a ledger that is an older copy, or of another target."""
        return abs(ledger.count - self.ledger.count) <= self.is_open


@dataclass(frozen=True)
class Seal:
    """The seal of one target's state."""

    file: Path
    table: Path
    """The target's Delta table."""

    def read(self) -> Sealed | None:
        """Its content; None where there is none, as in storage of earlier versions, or where it is damaged.

        The state alone then says how far it has come, and the next batch writes the seal again.
        """
        content = read_json_if_intact(self.file, "ledger", "open")
        return None if content is None else Sealed(Ledger.from_json(content["ledger"]), content["open"])

    def write(self, ledger: Ledger, is_open: bool) -> None:
        """Replace its content."""
        write_json(self.file, {"ledger": ledger.to_json(), "open": is_open})
