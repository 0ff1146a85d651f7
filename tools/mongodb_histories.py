"""Generation of tests/decoding/histories/mongodb: random changes of documents, through the connectors.

Each history has a seed: its records, and the states that each document had. The connectors are Debezium's, of three
versions in three modes; the server is scripted (tools/mongodb_connector), and the states are those of a small model.
"""

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import click

from tools.debezium_connector import worker
from tools.mongodb_captures import MODES, play, settled
from tools.mongodb_connector import Change, Document, Update, changed_document, described, primary
from tools.mongodb_connector.primary import CONNECTOR_CLASS, VERSIONS

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "decoding" / "histories" / "mongodb"
COLLECTION = "shop.items"
KINDS = (("3.6.1.Final", "partial"), ("2.5.4.Final", "partial"), ("1.4.2.Final", "oplog"), ("3.6.1.Final", "pre_image"))
"""Versions and modes, by the seed. Not update_full: documents that are looked up later are no history."""
_KEYS = 5
_STEPS = 14
_SURE = 900
"""From this millisecond of a second on, and in a transaction, a redelivery repeats versions: none is provoked then."""


class History:
    """Random steps of a scenario, and what they make of each document."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._documents: dict[int, Document] = {}
        self._millis = 1_772_366_400_000
        self.states: dict[int, list[Document | None]] = {}
        """Document's key -> its states in order; None where it was deleted."""

    def steps(self) -> Iterator[dict[str, Any]]:
        """The steps, each of which counts as played once the next one is asked for."""
        first = [self._new(key) for key in range(0, _KEYS, 2)]
        for document in first:
            self._set(document["_id"], document)
        yield {"seed": COLLECTION, "documents": first}
        yield {"start": True}
        yield {"wait": len(first)}
        yield {"quiet": 0.5}
        # Killed before it has stored that the snapshot is complete, the connector would take another, whose reads have
        # no position (docs/connectors/mongodb.md).
        yield {"flush": True}
        for _ in range(_STEPS):
            yield from self._step()

    def _step(self) -> Iterator[dict[str, Any]]:
        random = self._random
        self._millis += random.choice((1, 20, 700, 3000))
        seconds, millis = divmod(self._millis, 1000)
        yield {"clock": f"2026-03-01T12:{(seconds - 1_772_366_400) // 60:02}:{seconds % 60:02}.{millis:03}Z"}
        kind = random.choice(("changes", "changes", "changes", "transaction", "restart"))
        if kind == "restart":
            yield {"kill": True}
            yield {"start": True}
        else:
            yield {kind: [self._change() for _ in range(random.randrange(1, 5))]}
        yield {"quiet": 0.35}
        if kind == "transaction" or millis >= _SURE:
            yield {"flush": True}

    def _change(self) -> Change:
        random = self._random
        key = random.randrange(_KEYS)
        document = self._documents.get(key)
        if document is None:
            new = self._new(key)
            self._set(key, new)
            return {"op": "insert", "ns": COLLECTION, "id": key, "document": new}
        kind = random.choice(("update", "update", "update", "update", "replace", "delete"))
        if kind == "delete":
            self._set(key, None)
            return {"op": "delete", "ns": COLLECTION, "id": key}
        if kind == "replace":
            new = self._new(key)
            self._set(key, new)
            return {"op": "replace", "ns": COLLECTION, "id": key, "document": new}
        update = self._update(document)
        new = changed_document(document, update)
        self._set(key, new)
        description = described(document, update)
        return {"op": "update", "ns": COLLECTION, "id": key, "document": new, "description": description}

    def _update(self, document: Document) -> Update:
        random = self._random
        choices = [
            Update(sets={"name": random.choice(("Ada", "", None, 'quote "', "5"))}),
            Update(sets={"size.height": random.randrange(9)}),
            Update(sets={"size.unit": "cm", "name": "Bea"}),
            Update(sets={"size": {"unit": "m"}}),
            Update(sets={"weight": {"$numberDouble": repr(random.randrange(99) / 8)}}, unsets=("name",)),
            Update(unsets=("size.unit",)),
            Update(unsets=("size",)),
            Update(pushes={"tags": random.randrange(9)}),
            Update(sets={"other": random.randrange(9)}),
        ]
        if document.get("tags"):
            choices += [Update(sets={"tags.0": 7}), Update(pops=("tags",))]
        return random.choice(choices)

    def _new(self, key: int) -> Document:
        random = self._random
        document: Document = {"_id": key, "name": random.choice(("Ada", "Bea", "Cyd"))}
        if random.random() < 0.7:
            document["size"] = {"height": random.randrange(9), "unit": "cm"}
        if random.random() < 0.5:
            document["weight"] = {"$numberDouble": repr(random.randrange(99) / 8)}
        return document

    def _set(self, key: int, document: Document | None) -> None:
        self.states.setdefault(key, []).append(document)
        if document is None:
            self._documents.pop(key, None)
        else:
            self._documents[key] = document


def kind_of(seed: int) -> tuple[str, str]:
    """The version and the mode of a history."""
    return KINDS[seed % len(KINDS)]


def files_of(seed: int) -> tuple[Path, Path]:
    """Its records, and its states."""
    return FOLDER / f"{seed:02}.jsonl.gz", FOLDER / f"{seed:02}.json"


@click.command(name="mongodb_histories")
@click.option("--seeds", default=20, show_default=True, help="Number of histories, from seed 0.")
def main(seeds: int) -> None:
    """Run the connectors on random histories (takes ten minutes) and rewrite the files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder, worker(VERSIONS[kind[0]]) as jvm:
            for seed in (each for each in range(seeds) if kind_of(each) == kind):
                history = History(seed)
                with primary() as server:
                    properties = {**server.properties("server1"), **MODES.get(kind[1], {})}
                    connector = jvm.connector(CONNECTOR_CLASS, properties, Path(folder) / f"offsets{seed}")
                    records = settled(play(history.steps(), server, connector))
                lines = "".join(record.line() + "\n" for record in records)
                captured, states = files_of(seed)
                captured.write_bytes(gzip.compress(lines.encode(), mtime=0))
                states.write_text(json.dumps(history.states, indent=None) + "\n", encoding="utf-8")
                click.echo(f"seed {seed}: {len(records)} records of {kind[0]}, {kind[1]}")


if __name__ == "__main__":
    main()
