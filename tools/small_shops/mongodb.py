"""The shop in MongoDB: a scripted primary of a replica set."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tools.debezium_connector import Worker, worker
from tools.mongodb_connector import Change, Document, Primary, Update, changed_document, described, primary
from tools.mongodb_connector.primary import CONNECTOR_CLASS, VERSIONS
from tools.small_shops.database import PREFIX, Database
from tools.small_shops.scenario import KEYS, Operation, Row

_TIMES = ("placed_at", "paid_at")


class MongoDb(Database):
    """Collections whose documents have the table's key as `_id`."""

    def __init__(self, running: Primary, jvm: Worker, folder: Path) -> None:
        self._server = running
        self._documents: dict[str, dict[int, Document]] = {table: {} for table in KEYS}
        self._now = datetime(2026, 3, 2, 8, tzinfo=UTC)
        self._is_logged = False
        # Else an update has the document as it is when the connector reads the update, which may be later.
        properties = {**running.properties(PREFIX), "capture.mode.full.update.type": "post_image"}
        self.connector = jvm.connector(CONNECTOR_CLASS, properties, folder / "offsets")

    def transact(self, operations: Sequence[Operation]) -> None:
        """One transaction, a minute after the one before."""
        changes = [change for operation in operations for change in self._changes(operation)]
        self._now += timedelta(minutes=1)
        self._server.clock(f"{self._now:%Y-%m-%dT%H:%M:%S}.250Z")
        if self._is_logged:
            (self._server.change if len(changes) == 1 else self._server.transact)(*changes)

    def add_column(self, table: str, column: str) -> None:
        """Nothing: a document needs no declaration of its fields."""

    def start(self) -> None:
        """Start the connector; what was written before is there, but not in the log."""
        for table, documents in self._documents.items():
            self._server.seed(f"shop.{table}", documents.values())
        self._is_logged = True
        super().start()

    def _changes(self, operation: Operation) -> Iterator[Change]:
        """An `_id` cannot change: another key is a delete and an insert."""
        namespace, documents = f"shop.{operation.table}", self._documents[operation.table]
        if operation.verb == "insert":
            documents[operation.key] = document = _document(operation.values, KEYS[operation.table])
            yield Change(op="insert", ns=namespace, id=document["_id"], document=document)
            return
        before = documents.pop(operation.key)
        if operation.verb == "update":
            update = Update(sets={name: _value(name, value) for name, value in operation.values.items()})
            documents[operation.key] = after = changed_document(before, update)
            description = described(before, update)
            yield Change(op="update", ns=namespace, id=before["_id"], document=after, description=description)
            return
        yield Change(op="delete", ns=namespace, id=before["_id"])
        if operation.new_key is not None:
            documents[operation.new_key] = moved = before | {"_id": _value("order_id", operation.new_key)}
            yield Change(op="insert", ns=namespace, id=moved["_id"], document=moved)


def _document(row: Row, key: str) -> Document:
    return {"_id" if name == key else name: _value(name, value) for name, value in row.items() if value is not None}


def _value(name: str, value: Any) -> Any:
    """A column's value in extended JSON."""
    if value is None:
        return None
    if name == "order_id":
        return {"$numberLong": str(value)}
    if name == "total":
        return {"$numberDecimal": value}
    if name in _TIMES:
        moment = datetime.fromisoformat(value).replace(tzinfo=UTC)
        return {"$date": {"$numberLong": str(round(moment.timestamp() * 1000))}}
    return value


@contextmanager
def opened(folder: Path) -> Iterator[MongoDb]:
    """The shop's database on a server of its own."""
    with primary() as running, worker(VERSIONS["3.6.1.Final"]) as jvm:
        yield MongoDb(running, jvm, folder)
