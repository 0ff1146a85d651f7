"""Feeds that deliver captures to the pipeline: a landing folder, or a real Kafka broker."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tools.kafka_broker import Broker
from tools.produce_captures import produce


class Feed(Protocol):
    """Delivers captures to a source that the pipeline reads."""

    @property
    def source(self) -> Mapping[str, str]:
        """The configuration with which the pipeline reads from here."""

    def deliver(self, captures: Iterable[Path]) -> None:
        """Deliver these records, after those of earlier calls."""


class Landing:
    """A folder that receives capture files; an existing file is left alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def source(self) -> Mapping[str, str]:
        """The folder as a source of records."""
        return {"cdc.source": f"capture:{self.folder}"}

    def deliver(self, captures: Iterable[Path]) -> None:
        """Copy the files to the folder, each atomically, because an update may be reading it."""
        for capture in captures:
            if not (self.folder / capture.name).exists():
                arriving = self.folder / f"{capture.name}.arriving"
                shutil.copyfile(capture, arriving)
                os.replace(arriving, self.folder / capture.name)


class Kafka:
    """A broker's topics."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    @property
    def source(self) -> Mapping[str, str]:
        """The broker as a source of records."""
        return {"cdc.source": "kafka", "cdc.kafka.bootstrap.servers": self._bootstrap}

    def deliver(self, captures: Iterable[Path]) -> None:
        """Produce the records with keys, headers, timestamps and tombstones; missing topics are created."""
        produce(captures, self._bootstrap)


@contextmanager
def kafka() -> Iterator[Kafka]:
    """A broker for the duration of a block; its records are discarded afterwards."""
    with Broker() as broker:
        yield Kafka(broker.bootstrap)
