"""The outcome of a record: a change, a reject with its reason, or ignored by kind; never anything else."""

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from tests.support.messages import REJECT_MESSAGES
from tests.support.records import Record, Topic, frame
from tests.support.tables import column, table

from cdc import changes, decode, rejects
from cdc.debezium.rejects import Reason

ORDERS = table(
    {
        "id": "int not null",
        "customer": "nvarchar(20) not null",
        "total": "decimal(18,2)",
        "note": column("note", "nvarchar(max)", unavailable="reject"),
        "late": column("late", "int", on_missing="reject"),
    }
)
orders = Topic(ORDERS.topic)
ROW = {"id": 1, "customer": "Ada", "total": "AMg=", "note": None, "late": None}


def row(**other: object) -> dict[str, object]:
    return ROW | other


def outcomes(spark: SparkSession, records: list[Record]) -> list[tuple[str, str | None, str | None]]:
    decoded = decode(frame(spark, records), ORDERS).orderBy("_offset")
    return [tuple(found) for found in decoded.select("_outcome", "_reason", "_message").collect()]


REJECTS = {
    "truncated": (orders.create(**ROW).with_text('{"op":"c","after":{"id":1'), Reason.BROKEN_JSON),
    "empty": (orders.create(**ROW).with_text(""), Reason.BROKEN_JSON),
    "text": (orders.create(**ROW).with_text("hello"), Reason.BROKEN_JSON),
    "text after the object": (orders.create(**ROW).with_text('{"op":"c"} {"op":"c"}'), Reason.BROKEN_JSON),
    "latin-1": (orders.create(**ROW).with_text('{"op":"c","x":"ü"}'.encode("latin-1")), Reason.NOT_UTF8),
    "an array": (orders.create(**ROW).with_text('[{"op":"c"}]'), Reason.NOT_AN_ENVELOPE),
    "null": (orders.create(**ROW).with_text("null"), Reason.NOT_AN_ENVELOPE),
    "a number": (orders.create(**ROW).with_text("5"), Reason.NOT_AN_ENVELOPE),
    "no fields": (orders.create(**ROW).with_text("{}"), Reason.NOT_AN_ENVELOPE),
    "no op": (orders.create(**ROW).without("op"), Reason.NOT_AN_ENVELOPE),
    "after is a text": (orders.create(**ROW).with_value(after="x"), Reason.NOT_AN_ENVELOPE),
    "after is an array": (orders.create(**ROW).with_value(after=[ROW]), Reason.NOT_AN_ENVELOPE),
    "source is a text": (orders.create(**ROW).with_value(source="x"), Reason.NOT_AN_ENVELOPE),
    "another kind of connector": (orders.create(**ROW).with_source(connector="PostgreSQL"), Reason.WRONG_CONNECTOR),
    "another kind in its form": (
        orders.create(**ROW).with_value(after="{}").with_source(connector="mongodb"),
        Reason.WRONG_CONNECTOR,
    ),
    "unknown op": (orders.create(**ROW).with_value(op="x"), Reason.UNKNOWN_OP),
    "truncate of a table with history": (
        orders.create(**ROW).with_value(op="t", after=None),
        Reason.TRUNCATED,
    ),
    "create without after": (orders.create(**ROW).with_value(after=None), Reason.MISSING_ROW),
    "no key": (orders.create(**row(id=None)).with_key(None), Reason.MISSING_KEY),
    "no position": (orders.create(**ROW).with_source(commit_lsn=None), Reason.MISSING_POSITION),
    "position NULL": (orders.create(**ROW).with_source(commit_lsn="NULL"), Reason.MISSING_POSITION),
    "no source": (orders.create(**ROW).without("source"), Reason.MISSING_POSITION),
    "malformed commit LSN": (orders.create(**ROW).with_source(commit_lsn="12:34"), Reason.MISSING_POSITION),
    "malformed change LSN": (orders.create(**ROW).with_source(change_lsn="zz"), Reason.MISSING_POSITION),
    "malformed serial number": (orders.create(**ROW).with_source(event_serial_no="one"), Reason.MISSING_POSITION),
    "no commit time": (orders.create(**ROW).with_source(ts_ms=None), Reason.MISSING_POSITION),
    "wrong type": (orders.create(**row(total="12.50 EUR")), Reason.WRONG_TYPE),
    "wrong key type": (orders.create(**row(id="one")), Reason.WRONG_TYPE),
    "an object for a number": (orders.create(**row(id={"a": 1})), Reason.WRONG_TYPE),
    "null where not null": (orders.create(**row(customer=None)), Reason.UNEXPECTED_NULL),
    "placeholder": (orders.create(**row(note="__debezium_unavailable_value")), Reason.UNAVAILABLE_VALUE),
    "field missing": (orders.create(id=1, customer="Ada"), Reason.MISSING_FIELD),
}


BY_RULES = ("PARTIAL_VALUE", "FAILED_SQL", "QUARANTINED")
"""Reasons that updates of documents give (tests/decoding/test_mongodb.py), and those of a spec's own rules
(test_decode_row_rules.py)."""


@pytest.fixture(scope="module")
def verdicts(spark: SparkSession) -> dict[str, tuple[str, str | None, str | None]]:
    found = outcomes(spark, [record for record, _ in REJECTS.values()])
    return dict(zip(REJECTS, found, strict=True))


@pytest.mark.parametrize("case", REJECTS)
def test_a_record_is_rejected_for_its_reason(
    verdicts: dict[str, tuple[str, str | None, str | None]], case: str
) -> None:
    assert verdicts[case][:2] == ("reject", REJECTS[case][1].name)


def test_a_message_of_each_reason_word_for_word(verdicts: dict[str, tuple[str, str | None, str | None]]) -> None:
    """docs/troubleshooting.md shows these: a line of the file for each reason."""
    lines = REJECT_MESSAGES.read_text(encoding="utf-8").splitlines()
    shown = [("reject", *line.split("  ", 1)) for line in lines]
    assert [reason for _, reason, _ in shown] == [reason.name for reason in Reason]
    assert [each for each in shown if each not in verdicts.values() and each[1] not in BY_RULES] == []


def test_every_reason_has_a_case() -> None:
    assert {reason for _, reason in REJECTS.values()} == set(Reason) - {Reason[name] for name in BY_RULES}


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("wrong type", "column total: `12.50 EUR` is not of type decimal(18,2)"),
        ("wrong key type", "column id: `one` is not of type int"),
        ("null where not null", "column customer: null, but nvarchar(20) NOT NULL at the source"),
        ("no key", "column id: null in both the row and the record key"),
        ("no position", "source.commit_lsn is null"),
        ("malformed commit LSN", "source.commit_lsn is `12:34`"),
        ("field missing", "column late: the record has no such field"),
        ("unknown op", "op is `x`"),
        ("text", "the value is `hello`"),
        ("latin-1", 'the value is `{"op":"c","x":"\ufffd"}`'),
    ],
)
def test_a_message_names_column_and_value(
    verdicts: dict[str, tuple[str, str | None, str | None]], case: str, message: str
) -> None:
    assert verdicts[case][2] == message


UNION = {"string": "00000025:00000160:0005"}
HINTS = {
    "a number for base64": (
        {},
        orders.create(**row(total=12.5)),
        "column total: `12.5` is not of type decimal(18,2); in the connector spec write `decimal_format: numeric` if"
        " the converter writes numbers, or `decimal_handling_mode: string` if the connector writes text",
    ),
    "base64 for a number": (
        {"decimal_format": "numeric"},
        orders.create(**row(total="AMg=")),
        "column total: `AMg=` is not of type decimal(18,2); if the converter writes base64, write"
        " `decimal_format: base64` in the connector spec",
    ),
    "base64 for a text": (
        {"decimal_handling_mode": "string"},
        orders.create(**row(total="AMg=")),
        "column total: `AMg=` is not of type decimal(18,2); if the converter writes base64, write"
        " `decimal_handling_mode: precise` in the connector spec",
    ),
    "Avro's JSON": (
        {},
        orders.create(**ROW).with_source(commit_lsn=UNION).with_value(after={"orders.Value": ROW}),
        'source.commit_lsn is `{"string":"00000025:00000160:0005"}`; write `shape: avro_json` in the connector spec',
    ),
    "another shape": (
        {"shape": "envelope"},
        Record(ORDERS.topic, {"id": 1}, {**ROW, "__op": "c"}),
        "the value has no `op`; the connector spec has `shape: envelope`, and `shape: auto` reads every shape but"
        " `avro_json`",
    ),
}


@pytest.mark.parametrize("case", HINTS)
def test_a_message_names_the_setting_of_the_connector_spec_to_change(spark: SparkSession, case: str) -> None:
    modes, record, message = HINTS[case]
    spec = replace(ORDERS, connector=replace(ORDERS.connector, **modes))
    assert [found._message for found in decode(frame(spark, [record]), spec).collect()] == [message]


def test_a_record_that_is_not_a_change_of_a_row_is_ignored_by_kind(spark: SparkSession) -> None:
    kinds = {
        "tombstone": orders.tombstone(id=1),
        "heartbeat": Record(ORDERS.topic, {"serverName": "server1"}, {"ts_ms": 1}),
        "transaction": Record(ORDERS.topic, {"id": "1"}, {"status": "END", "id": "1", "ts_ms": 1}),
        "schema_change": Record(ORDERS.topic, None, {"source": {}, "ts_ms": 1, "ddl": None, "tableChanges": []}),
        "logical_decoding_message": orders.create(**ROW).with_value(op="m", after=None),
    }
    assert outcomes(spark, list(kinds.values())) == [("ignored", kind, None) for kind in kinds]


def test_changes_rejects_and_ignored_records_add_up_to_all_records(spark: SparkSession) -> None:
    records = [
        *(orders.create(**row(id=number)) for number in range(5)),
        *(record for record, _ in REJECTS.values()),
        orders.delete(**ROW),
        orders.tombstone(id=1),
    ]
    decoded = decode(frame(spark, records), ORDERS)
    assert decoded.count() == len(records)
    assert changes(decoded, ORDERS).count() == 6
    assert rejects(decoded, ORDERS).count() == len(REJECTS)
    assert decoded.where("_outcome = 'ignored'").count() == 1


def test_a_reject_keeps_the_record_byte_for_byte(spark: SparkSession) -> None:
    records = [REJECTS["latin-1"][0].with_key_text(b"\xff"), orders.create(**ROW)]
    decoded = decode(frame(spark, records), ORDERS)
    (kept,) = rejects(decoded, ORDERS).collect()
    assert (kept.topic, kept.partition, kept.offset) == (ORDERS.topic, 0, 0)
    assert bytes(kept.key) == b"\xff"
    assert bytes(kept.value) == records[0].value_bytes
    assert decoded.where("_offset = 1 AND _key IS NULL AND _value IS NULL").count() == 1
