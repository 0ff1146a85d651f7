"""How captures reach the pipeline: as files in a landing folder, or through a real Kafka."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tools.kafka_broker import Broker
from tools.produce_captures import produce


class Feed(Protocol):
    """Takes captures to where the pipeline reads."""

    @property
    def source(self) -> Mapping[str, str]:
        """The pipeline's configuration that makes it read from here."""

    def deliver(self, captures: Iterable[Path]) -> None:
        """Let these records arrive, after those of earlier calls."""


class Landing:
    """A folder into which capture files are put; a file that is there already is left alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def source(self) -> Mapping[str, str]:
        """The folder as a source of records."""
        return {"cdc.source": f"capture:{self.folder}"}

    def deliver(self, captures: Iterable[Path]) -> None:
        """Put the files into the folder, each at once and whole: an update may be reading it."""
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
        """Produce the records with their keys, headers, times and tombstones; topics are made as needed."""
        produce(captures, self._bootstrap)


@contextmanager
def kafka() -> Iterator[Kafka]:
    """A broker that is started here, and stopped again; its records go with it."""
    with Broker() as broker:
        yield Kafka(broker.bootstrap)
