"""What happens beside the values of rows, from records of the real connector: order, replica identity, truncates.

The captures have one run of each version over the tables of every replica identity.
"""

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from tests.support.records import RECORDS
from tests.support.tables import kind_table
from tools.captures import Record
from tools.postgresql_connector import events as capture
from tools.postgresql_connector.types import VERSIONS, Version

from cdc import changes, decode, findings, known_values, rejects, sequence
from cdc.debezium.rejects import Reason
from cdc.spec.model import ConnectorSpec, TableSpec

NEWEST, *_, OLDEST = VERSIONS
COLUMNS = {"id": "integer not null", "n": "integer", "note": "text"}
CONNECTOR = ConnectorSpec("shop", capture.PREFIX, kind="postgresql")
LONG = "0123456789" * 220
TRUNCATED = ("by_default", "by_index")


def spec_of(name: str, **changed: Any) -> TableSpec:
    """A table's spec: without history, and a note that an update may lack is the previous one."""
    spec = kind_table(COLUMNS, connector=CONNECTOR, source=f"{capture.DATABASE}.public.{name}", name=name)
    merging = tuple(replace(each, unavailable="merge") if each.name == "note" else each for each in spec.columns)
    return replace(spec, **{"history": False, "columns": merging, **changed})


def captured(version: Version, topic: str) -> list[Record]:
    with gzip.open(capture.file(version), "rt", encoding="utf-8") as lines:
        return [each for each in map(Record.from_line, lines) if each.topic == f"{capture.PREFIX}.{topic}"]


def frame(spark: SparkSession, records: list[Record]) -> DataFrame:
    rows = [
        (each.topic, 0, number, datetime.fromtimestamp(each.timestamp / 1000, UTC), 0, None, each.key, each.value)
        for number, each in enumerate(records)
    ]
    return spark.createDataFrame(rows, RECORDS)


def decoded(spark: SparkSession, version: Version, name: str, **changed: Any) -> list[Row]:
    """A table's changes in the order of their sequences; of equal ones, in that of their arrival."""
    spec = spec_of(name, **changed)
    found = changes(decode(frame(spark, captured(version, f"public.{name}")), spec), spec)
    return found.withColumn("sequence", sequence(spec)).orderBy("sequence", "_offset").collect()


def edited(record: Record, **source: Any) -> Record:
    """The record with other fields in `source`."""
    value = json.loads(record.value or b"")
    value["source"] |= source
    return replace(record, value=json.dumps(value).encode())


def update_of(version: Version = NEWEST) -> Record:
    """An update of the first row."""
    return next(each for each in captured(version, "public.by_default") if b'"op":"u"' in (each.value or b""))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["by_default", "by_full", "by_index"])
def test_the_order_is_that_of_the_log_and_a_redelivery_changes_nothing(
    spark: SparkSession, version: Version, name: str
) -> None:
    found = decoded(spark, version, name)
    by_change: dict[Any, list[int]] = {}
    for change in found:
        by_change.setdefault((change.sequence, change._op, change.id), []).append(change._offset)
    first = [offsets[0] for offsets in by_change.values()]
    assert first == sorted(first)
    again = {(op, id_) for (_, op, id_), offsets in by_change.items() if len(offsets) > 1}
    assert again == {"by_default": {("u", 12)}, "by_full": {("d", 12)}, "by_index": set()}[name]


def test_a_changed_key_is_a_delete_and_a_create_at_one_place(spark: SparkSession) -> None:
    for name in ("by_default", "by_full", "by_index"):
        found = decoded(spark, NEWEST, name)
        places = [place for place in {each._lsn for each in found} if sum(each._lsn == place for each in found) == 2]
        pairs = [[(each._op, each.id) for each in found if each._lsn == place] for place in sorted(places)]
        assert [pair for pair in pairs if pair[0][0] == "d"][:2] == [[("d", 2), ("c", 12)], [("d", 3), ("c", 13)]]


def test_a_value_that_the_create_of_a_changed_key_lacks_is_noticed(spark: SparkSession) -> None:
    unmet = {}
    for name in ("by_default", "by_full", "by_index"):
        spec = spec_of(name)
        found = changes(decode(frame(spark, captured(NEWEST, f"public.{name}")), spec), spec)
        (condition,) = known_values(spec).values()
        unmet[name] = [each.id for each in found.where(f"NOT ({condition})").collect()]
    assert unmet == {"by_default": [13], "by_full": [], "by_index": [13]}


def test_reads_of_an_incremental_snapshot_are_between_the_changes_around_them(spark: SparkSession) -> None:
    for version in VERSIONS[:2]:
        ops = [each._snapshot if each._op == "r" else each._op for each in decoded(spark, version, "by_default")]
        assert ops[:2] == ["first", "last_in_data_collection"] or version != NEWEST
        place = ops.index("incremental")
        assert ops[place : place + 5] == ["incremental"] * 3 + ["u", "u"]
        assert "d" in ops[:place]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_an_update_and_a_delete_carry_depends_on_the_replica_identity(
    spark: SparkSession, version: Version
) -> None:
    for name in ("by_default", "by_index", "by_full"):
        found = decoded(spark, version, name)
        (update,) = [each for each in found if each._op == "u" and each.n == 11]
        carried = {"id", "n", "note"} if name == "by_full" else {"id", "n"}
        assert set(update._columns_to_update) == carried
        assert update.note == (LONG if name == "by_full" else None)
        (note,) = [each for each in found if each._op == "u" and each.note == "changed" and each.id == 2]
        assert set(note._columns_to_update) == {"id", "n", "note"}
        deletes = [each.id for each in found if each._op == "d"]
        assert deletes[:4] == [2, 3, 4, 1]
    assert [(each._op, each.id) for each in decoded(spark, version, "by_nothing")] == [("r", 1), ("r", 2), ("c", 3)]


def test_a_missing_value_is_a_reject_or_null_if_the_spec_does_not_merge_it(spark: SparkSession) -> None:
    plain = spec_of("by_default")
    specs = {
        policy: replace(plain, columns=tuple(replace(each, unavailable=policy) for each in plain.columns))
        for policy in ("reject", "as_null")
    }
    (rejected,) = rejects(decode(frame(spark, [update_of()]), specs["reject"]), specs["reject"]).collect()
    assert rejected.reason == Reason.UNAVAILABLE_VALUE.name
    (null,) = changes(decode(frame(spark, [update_of()]), specs["as_null"]), specs["as_null"]).collect()
    assert (null.n, null.note) == (11, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_index_of_the_replica_identity_has_to_be_the_key(spark: SparkSession, version: Version) -> None:
    """Of a delete the log has the index's columns only, and the connector writes 0 for a number that it lacks."""
    columns = {"code": "integer not null", **COLUMNS}
    of_code = kind_table(columns, connector=CONNECTOR, source=f"{capture.DATABASE}.public.by_other", name="by_other")
    spec = replace(of_code, key=("code",), columns=tuple(replace(c, unavailable="merge") for c in of_code.columns))
    found = changes(decode(frame(spark, captured(version, "public.by_other")), spec), spec).orderBy("_offset")
    assert [(each._op, each.code) for each in found.collect()] == [("r", 71), ("r", 72), ("u", 71), ("d", 72)]
    last = next(each for each in captured(version, "public.by_other") if b'"op":"d"' in (each.value or b""))
    assert json.loads(last.value or b"")["before"]["id"] == 0


@pytest.mark.parametrize("version", VERSIONS[:2])
def test_a_truncate_of_several_tables_is_a_change_of_each_or_a_reject(spark: SparkSession, version: Version) -> None:
    places = set()
    for name in TRUNCATED:
        truncates = [each for each in decoded(spark, version, name) if each._op == "t"]
        places |= {each._lsn for each in truncates}
        assert [each.id for each in truncates] == [None]
        spec = spec_of(name, history=True)
        found = rejects(decode(frame(spark, captured(version, f"public.{name}")), spec), spec).collect()
        assert [each.reason for each in found] == [Reason.TRUNCATED.name]
    assert len(places) == 1


@pytest.mark.parametrize("version", VERSIONS[:2])
def test_logical_messages_are_ignored_by_name(spark: SparkSession, version: Version) -> None:
    found = decode(frame(spark, captured(version, "message")), spec_of("by_default")).collect()
    assert [(each._outcome, each._reason) for each in found] == [("ignored", "logical_decoding_message")] * 2


def test_a_transaction_that_commits_later_sorts_later_though_it_wrote_earlier(spark: SparkSession) -> None:
    # The read of an incremental snapshot at 500 does not show a change at 400 that was committed after it.
    late = edited(update_of(), lsn=400, sequence='["600","400"]')
    read = edited(update_of(), lsn=None, sequence='["500","500"]', snapshot="incremental")
    before = edited(update_of(), lsn=450, sequence='["100","450"]')
    assert order_of(spark, [late, read, before]) == [2, 1, 0]


def test_without_the_sequence_the_place_in_the_log_decides(spark: SparkSession) -> None:
    numbers = [edited(update_of(OLDEST), lsn=lsn) for lsn in (1000, 999, 2**63 - 1)]
    assert order_of(spark, numbers) == [1, 0, 2]


def order_of(spark: SparkSession, records: list[Record]) -> list[int]:
    spec = spec_of("by_default")
    found = changes(decode(frame(spark, records), spec), spec).withColumn("sequence", sequence(spec))
    assert found.count() == len(records)
    return [each._offset for each in found.orderBy("sequence").collect()]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lsn": None, "sequence": None}, "source.lsn is null"),
        ({"lsn": "0/16B3748"}, "source.lsn is `0/16B3748`"),
        ({"lsn": 2**63}, "source.lsn is `9223372036854775808`"),
        ({"sequence": "[]"}, "source.sequence is `[]`"),
        ({"sequence": '["1","2","3"]'}, 'source.sequence is `["1","2","3"]`'),
        ({"lsn": None, "sequence": '["1",null]'}, 'source.sequence is `["1",null]`'),
        ({"ts_ms": "now"}, "source.ts_ms is `now`"),
    ],
)
def test_a_record_without_a_position_is_rejected(spark: SparkSession, fields: Mapping[str, Any], message: str) -> None:
    spec = spec_of("by_default")
    (reject,) = rejects(decode(frame(spark, [edited(update_of(), **fields)]), spec), spec).collect()
    assert (reject.reason, reject.message) == (Reason.MISSING_POSITION.name, message)


def test_another_server_is_found_and_a_later_incarnation_orders_its_changes(spark: SparkSession) -> None:
    before = update_of()
    later = replace(edited(before, lsn=100, sequence='["90","100"]'), timestamp=before.timestamp + 60_000)
    spec = spec_of("by_default")
    decoded_ = changes(decode(frame(spark, [before, later]), spec), spec)
    assert "lsn_backwards" in {row.finding for row in findings({spec: decoded_}).collect()}
    moment = datetime.fromtimestamp(before.timestamp / 1000 + 30, UTC)
    restored = replace(spec, connector=replace(CONNECTOR, restored_at=(moment,)))
    found = changes(decode(frame(spark, [later, before]), restored), restored)
    ordered = found.withColumn("sequence", sequence(restored)).orderBy("sequence").collect()
    assert [each._incarnation for each in ordered] == [0, 1]
    assert "lsn_backwards" not in {row.finding for row in findings({restored: found}).collect()}
