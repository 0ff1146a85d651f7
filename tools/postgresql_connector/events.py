"""Generation of tests/decoding/captures/postgresql/events.<version>.jsonl.gz: what happens beside the values of rows.

Tables of every replica identity with updates, deletes and changes of keys; a truncate of two tables in one statement,
logical messages, an incremental snapshot, and a connector that is killed and delivers the end of its records again.
"""

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from tools.captures import Record
from tools.debezium_connector import worker
from tools.postgresql_connector.server import server
from tools.postgresql_connector.types import CAPTURES, CONNECTOR, VERSIONS, Version, configuration

PREFIX = "shop"
DATABASE = "shop"
TABLES = ("by_default", "by_full", "by_index", "by_nothing", "by_other")
_READS = 2 * len(TABLES)
_LONG = "repeat('0123456789', 220)"
"""A note that is stored apart from its row."""
BEFORE = f"""
CREATE TABLE by_default (id integer PRIMARY KEY, n integer, note text);
CREATE TABLE by_full (id integer PRIMARY KEY, n integer, note text);
CREATE TABLE by_index (id integer NOT NULL UNIQUE, n integer, note text);
CREATE TABLE by_nothing (id integer PRIMARY KEY, n integer, note text);
CREATE TABLE by_other (id integer PRIMARY KEY, code integer NOT NULL UNIQUE, n integer, note text);
CREATE TABLE dbz_signal (id text PRIMARY KEY, type text, data text);
ALTER TABLE by_full REPLICA IDENTITY FULL;
ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_id_key;
ALTER TABLE by_nothing REPLICA IDENTITY NOTHING;
ALTER TABLE by_other REPLICA IDENTITY USING INDEX by_other_code_key;
{"".join(f"ALTER TABLE {table} ALTER note SET STORAGE EXTERNAL;" for table in TABLES)}
{"".join(f"INSERT INTO {table} (id, n, note) VALUES (1, 1, {_LONG}), (2, 2, 'two');" for table in TABLES[:4])}
INSERT INTO by_other VALUES (1, 71, 1, {_LONG}), (2, 72, 2, 'two');
"""
CHANGES = f"""
INSERT INTO {{table}} (id, n, note) VALUES (3, 3, {_LONG}), (4, 4, NULL);
UPDATE {{table}} SET n = 11 WHERE id = 1;
UPDATE {{table}} SET note = 'changed' WHERE id = 2;
UPDATE {{table}} SET id = 12 WHERE id = 2;
UPDATE {{table}} SET id = 13 WHERE id = 3;
BEGIN; DELETE FROM {{table}} WHERE id = 4; INSERT INTO {{table}} (id, n, note) VALUES (4, 44, 'again'); COMMIT;
DELETE FROM {{table}} WHERE id = 1;
"""
"""Of each table that the server lets be updated."""
OTHERS = """
UPDATE by_other SET n = 11 WHERE id = 1;
DELETE FROM by_other WHERE id = 2;
INSERT INTO by_nothing VALUES (3, 3, 'three');
"""
REFUSED = """
DO $$ BEGIN
  UPDATE by_nothing SET n = 11 WHERE id = 1;
  RAISE EXCEPTION 'a published table without replica identity was updated';
EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL;
END $$;
"""
MESSAGES = """
SELECT pg_logical_emit_message(true, 'app', 'in a transaction');
SELECT pg_logical_emit_message(false, 'app', 'in none');
"""
SIGNAL = """
INSERT INTO dbz_signal
VALUES ('s1', 'execute-snapshot', '{"data-collections": ["public.by_default"], "type": "incremental"}');
"""
AGAIN = "UPDATE by_default SET n = 5 WHERE id = 12; DELETE FROM by_full WHERE id = 12;"
FREE = """
DO $$ BEGIN
  PERFORM pg_terminate_backend(active_pid, 10000) FROM pg_replication_slots WHERE active;
END $$;
"""
TRUNCATES = "TRUNCATE by_default, by_index; INSERT INTO by_default VALUES (9, 9, 'last');"


def file(version: Version) -> Path:
    """The capture file of a version."""
    return CAPTURES / f"events.{version}.jsonl.gz"


def records(version: Version) -> list[Record]:
    """The records of all topics, from one real run."""
    # 1.4 knows neither truncates, logical messages nor incremental snapshots.
    is_oldest = version.startswith("1.4")
    properties = {} if is_oldest else {"skipped.operations": "none", "truncate.handling.mode": "include"}
    with server() as database, worker(configuration(version)) as jvm, tempfile.TemporaryDirectory() as folder:
        database.run(f"CREATE DATABASE {DATABASE}")
        database.run(BEFORE, DATABASE)
        properties |= {
            **database.properties(DATABASE, PREFIX),
            "table.include.list": ",".join(f"public.{table}" for table in (*TABLES, "dbz_signal")),
            "signal.data.collection": "public.dbz_signal",
            "slot.name": "events",
            "slot.drop.on.stop": "false",
        }
        connector = jvm.connector(CONNECTOR, properties, Path(folder) / "offsets")
        connector.start()
        connector.wait(records=_READS)
        connector.wait(quiet=1)
        for table in TABLES[:3]:
            database.run(CHANGES.format(table=table), DATABASE)
        database.run(OTHERS + REFUSED + MESSAGES, DATABASE)
        connector.wait(until=_has(b'"three"'))
        if not is_oldest:
            database.run(SIGNAL, DATABASE)
        connector.wait(quiet=2)
        connector.flush()
        database.run(AGAIN, DATABASE)
        connector.wait(quiet=2)
        connector.kill()
        # 1.4 leaves its session to the server, and no second one can read the slot.
        database.run(FREE, DATABASE)
        connector.start()
        database.run(TRUNCATES, DATABASE)
        connector.wait(until=_has(b'"last"'))
        connector.wait(quiet=1)
        connector.stop()
        return connector.records()


def _has(text: bytes) -> Callable[[Record], bool]:
    return lambda record: text in (record.value or b"")


@click.command(name="postgresql_connector.events")
@click.option("--connector-version", "versions", type=click.Choice(VERSIONS), multiple=True, default=VERSIONS)
def main(versions: tuple[Version, ...]) -> None:
    """Make the captures of events again (takes a minute)."""
    CAPTURES.mkdir(parents=True, exist_ok=True)
    for version in versions:
        lines = [record.line() + "\n" for record in records(version)]
        file(version).write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
        click.echo(f"{len(lines)} records -> {file(version)}")


if __name__ == "__main__":
    main()
