"""A storage folder written by an earlier version of the engine, packed in `tests/data/earlier_version`.

`storage.tar.gz` was made once, by the last version before the engine's modules moved into folders (commit 854f527). To
make it again, check that commit out into `$EARLIER`, set it up (`make setup`), and run here:

    PYTHONPATH=$EARLIER/pipelines $EARLIER/.venv/bin/python -m tests.support.earlier_version

It ran two updates in `MADE_IN`. The only absolute paths that count later are those of the streamed files: in the
checkpoint of `events` and in its progress. `unpack` rewrites both for the folder that it unpacks into.
"""

import hashlib
import json
import shutil
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from dlt_local import LocalPipeline, create_session

DATA = Path(__file__).parents[1] / "data" / "earlier_version"
# The engine's fingerprints leave out a path up to a folder of such a name, so they hold wherever it is unpacked.
_FOLDER = "dlt_local-earlier"
MADE_IN = Path("/tmp") / _FOLDER

Row = Mapping[str, Any]


def event(op: str, id: int | None, seq: int, name: str | None = None, amount: int | None = None) -> Row:
    """A row of `events`."""
    return {"op": op, "id": id, "seq": seq, "name": name, "amount": amount}


EVENTS: Sequence[Sequence[Row]] = (
    (
        event("upsert", 1, 10, "ann", 10),
        event("upsert", 2, 20, "bob", 20),
        event("upsert", 3, 30, "cid", 30),
        event("upsert", 4, 40, None, 40),
        event("upsert", 1, 50, None, 11),
        event("delete", 3, 60),
    ),
    (
        event("upsert", 2, 70, "bea", 21),
        event("truncate", None, 80),
        event("upsert", 5, 90, "eve", 50),
        event("upsert", 1, 100, "ann", 12),
        event("delete", 2, 110),
        event("upsert", 5, 120, None, 51),
    ),
)
"""What each update of the earlier version read."""
SNAPSHOTS: Sequence[Sequence[Row]] = (
    ({"id": 1, "name": "ann"}, {"id": 2, "name": "bob"}),
    ({"id": 1, "name": "anna"}, {"id": 3, "name": "cid"}),
)


class EarlierPipeline:
    """The pipeline of `tests/data/earlier_version` in a folder, with its inputs and its storage."""

    def __init__(self, folder: Path, spark: SparkSession, **configuration: str) -> None:
        self.folder = folder
        self._inputs = {name: folder / name for name in ("events", "snapshots")}
        for path in self._inputs.values():
            path.mkdir(parents=True, exist_ok=True)
        shutil.copy(DATA / "pipeline.py", folder)
        self.pipeline = LocalPipeline(
            "earlier",
            [folder / "pipeline.py"],
            folder / "storage",
            configuration={name: str(path) for name, path in self._inputs.items()} | configuration,
            spark=spark,
        )

    def deliver(self, name: str, number: int, rows: Sequence[Row]) -> None:
        """Write the file ``number`` of an input, `events` or `snapshots`."""
        (self._inputs[name] / f"{number}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def table(self, name: str) -> list[tuple[Any, ...]]:
        """A dataset's rows, in an order that is always the same."""
        return sorted((tuple(row) for row in self.pipeline.table(name).collect()), key=repr)


def unpack(folder: Path) -> Path:
    """Unpack what the earlier version left into ``folder``, and give the folder of the pipeline."""
    unpacked = folder / _FOLDER
    with tarfile.open(DATA / "storage.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    system = unpacked / "storage" / "system"
    for file in system.glob("checkpoints/*/*/sources/*/[0-9]*"):
        file.write_text(file.read_text().replace(str(MADE_IN), str(unpacked)))
        # Hadoop's checksum of the file as it was.
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    for file in system.glob("progress/*.json"):
        progress = json.loads(file.read_text())
        for path in [each for each in progress["inputs"] if each.startswith(str(MADE_IN))]:
            del progress["inputs"][path]
            read = Path(path.replace(str(MADE_IN), str(unpacked)))
            progress["inputs"][str(read)] = _listing(read)
        file.write_text(json.dumps(progress, indent=1, sort_keys=True))
    return unpacked


def _listing(folder: Path) -> str:
    """A folder's files as the earlier version noted them, with the times that they have here."""
    files = [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in folder.iterdir()]
    return hashlib.sha256(repr(sorted(files)).encode()).hexdigest()


def make() -> None:
    """Run the two updates with the `dlt_local` on the path, and pack what they leave."""
    shutil.rmtree(MADE_IN, ignore_errors=True)
    spark = create_session({"spark.master": "local[2]"})
    earlier = EarlierPipeline(MADE_IN, spark)
    for number, (events, snapshot) in enumerate(zip(EVENTS, SNAPSHOTS, strict=True), start=1):
        earlier.deliver("events", number, events)
        earlier.deliver("snapshots", number, snapshot)
        earlier.pipeline.run()
    spark.stop()
    (MADE_IN / "pipeline.py").unlink()
    with tarfile.open(DATA / "storage.tar.gz", "w:gz", compresslevel=9) as archive:
        archive.add(MADE_IN, MADE_IN.name, filter=_without_owner)
    shutil.rmtree(MADE_IN)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    sys.exit(make())
