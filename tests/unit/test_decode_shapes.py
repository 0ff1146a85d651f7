"""The shapes of a value: the same change in each of them."""

from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from tests.support.records import Record, Topic, frame, lsn
from tests.support.tables import CONNECTOR, table

from cdc import decode
from cdc.spec.model import TableSpec

ORDERS = table({"id": "int not null", "customer": "nvarchar(20)", "total": "decimal(18,2)"})
orders = Topic(ORDERS.topic)
ROW = {"id": 7, "customer": "Zoë", "total": "AMg="}


def flattened(op: str = "u", *, prefix: str = "__", **other: Any) -> Record:
    """As ExtractNewRecordState writes it, with every field that the position needs."""
    added = {
        "op": op,
        "source_commit_lsn": lsn("25:160:5"),
        "change_lsn": lsn("25:148:2"),
        "source_event_serial_no": 2,
        "source_ts_ms": 1_772_366_400_000,
        "source_snapshot": "false",
        "transaction_id": "tx",
        "transaction_total_order": 3,
        "deleted": "true" if op == "d" else "false",
    }
    marked = {f"{prefix}{name}": value for name, value in added.items()}
    return Record(ORDERS.topic, {"id": 7}, {**ROW, **marked, **other})


def cloud_event(op: str = "u", *, data: dict[str, Any] | None = None) -> Record:
    """As the CloudEventsConverter writes it in JSON."""
    attributes = {
        "id": "name:server1;change_lsn:1;commit_lsn:2",
        "source": "/debezium/sqlserver/server1",
        "specversion": "1.0",
        "type": "io.debezium.connector.sqlserver.DataChangeEvent",
        "iodebeziumop": op,
        "iodebeziumtsms": "1772366400000",
        "iodebeziumsnapshot": "false",
        "iodebeziumcommitlsn": lsn("25:160:5"),
        "iodebeziumchangelsn": lsn("25:148:2"),
        "iodebeziumeventserialno": "2",
        "iodebeziumtxid": "tx",
        "iodebeziumtxtotalorder": "3",
    }
    images = {"before": None if op == "c" else ROW, "after": None if op == "d" else ROW}
    return Record(ORDERS.topic, {"id": 7}, {**attributes, "data": images if data is None else data})


def in_avro_json(op: str = "u") -> Record:
    """As Avro's JSON encoding: a nullable value is nested under the name of its type."""
    row = {"id": 7, "customer": {"string": "Zoë"}, "total": {"bytes": "\u0000\u00c8"}}
    image = {"server1.shop.dbo.orders.Value": row}
    source = {
        **envelope().value["source"],  # type: ignore[index]
        "snapshot": {"string": "false"},
        "change_lsn": {"string": lsn("25:148:2")},
        "commit_lsn": {"string": lsn("25:160:5")},
        "event_serial_no": {"long": 2},
    }
    content = {
        "before": None if op == "c" else image,
        "after": None if op == "d" else image,
        "source": source,
        "transaction": {"event.block": {"id": "tx", "total_order": 3, "data_collection_order": 1}},
        "op": op,
        "ts_ms": {"long": 1_772_366_400_500},
    }
    return Record(ORDERS.topic, {"id": 7}, content)


def envelope(op: str = "u") -> Record:
    record = {"u": orders.update, "d": orders.delete}[op](**ROW)
    return record.with_source(event_serial_no=2).with_value(transaction={"id": "tx", "total_order": 3})


def of_1_x(op: str = "u") -> Record:
    """An envelope of connector 1.x, where snapshot is a boolean and ``source`` has fewer fields."""
    return envelope(op).without("transaction").with_source(snapshot=False, version="1.4.2.Final")


def decoded(spark: SparkSession, record: Record, spec: TableSpec = ORDERS) -> Row:
    (found,) = decode(frame(spark, [record]), spec).collect()
    return found


def shaped(shape: str, **settings: Any) -> TableSpec:
    return replace(ORDERS, connector=replace(CONNECTOR, shape=shape, **settings))


SHAPED = {"envelope": envelope, "flattened": flattened, "cloudevents": cloud_event}
COUNTED = {**SHAPED, "avro_json": in_avro_json}


@pytest.mark.parametrize("shape", COUNTED)
def test_the_position_in_the_transaction_is_read_in_every_shape(spark: SparkSession, shape: str) -> None:
    found = decoded(spark, COUNTED[shape](), shaped(shape, within_transaction="total_order"))
    assert (found._outcome, found._total_order) == ("change", 3)


@pytest.mark.parametrize("has_schema", [False, True], ids=["plain", "with schema"])
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "auto"])
@pytest.mark.parametrize("shape", SHAPED)
def test_a_change_is_the_same_in_every_shape(spark: SparkSession, shape: str, declared: bool, has_schema: bool) -> None:
    record = SHAPED[shape]()
    if has_schema and shape == "cloudevents":
        record = cloud_event(data={"schema": {}, "payload": {"before": None, "after": ROW}})
    elif has_schema:
        record = record.with_schema()
    found = decoded(spark, record, shaped(shape if declared else "auto"))
    assert found == decoded(spark, envelope())


@pytest.mark.parametrize("shape", SHAPED)
def test_a_delete_is_a_delete_in_every_shape(spark: SparkSession, shape: str) -> None:
    found = decoded(spark, SHAPED[shape]("d"))
    assert (found._outcome, found._op, found._operation, found.id) == ("change", "d", 0, 7)


def test_unions_of_avro_json_are_unwrapped(spark: SparkSession) -> None:
    spec = shaped("avro_json")
    assert decoded(spark, in_avro_json(), spec) == decoded(spark, envelope())
    deleted = decoded(spark, in_avro_json("d"), spec)
    assert (deleted._outcome, deleted._op, deleted.id) == ("change", "d", 7)
    assert decoded(spark, orders.tombstone(id=7), spec)._reason == "tombstone"


@pytest.mark.parametrize("total", [{"bytes": "\u0416"}, {"strange": "x"}, "\u0416"])
def test_a_union_without_a_value_of_the_type_is_rejected(spark: SparkSession, total: object) -> None:
    record = in_avro_json().with_value(after={"Value": {"id": 7, "customer": None, "total": total}})
    assert decoded(spark, record, shaped("avro_json"))._reason == "WRONG_TYPE"


def test_an_envelope_of_an_old_connector_is_an_envelope(spark: SparkSession) -> None:
    old, new = decoded(spark, of_1_x()), decoded(spark, envelope())
    assert old == Row(**{**new.asDict(), "_transaction_id": None, "_total_order": 0})


@pytest.mark.parametrize(("deleted", "op"), [("true", "d"), ("false", "u")])
def test_without_an_op_the_deleted_field_decides(spark: SparkSession, deleted: str, op: str) -> None:
    record = flattened(__deleted=deleted)
    assert decoded(spark, record.without("__op"))._op == op


def test_a_flattened_records_own_fields_are_not_unknown(spark: SparkSession) -> None:
    assert decoded(spark, flattened(added=5))._unknown == {"added": "5"}


def test_the_prefix_of_flattened_fields_is_the_connectors(spark: SparkSession) -> None:
    found = decoded(spark, flattened(prefix="cdc."), shaped("auto", flat_prefix="cdc."))
    assert found == decoded(spark, envelope())


def test_a_flattened_record_without_position_is_rejected(spark: SparkSession) -> None:
    found = decoded(spark, Record(ORDERS.topic, {"id": 7}, {**ROW, "__op": "c"}))
    assert (found._reason, found._message) == ("MISSING_POSITION", "source.commit_lsn is null")


def test_when_the_connector_handled_a_change_is_not_when_it_was_committed(spark: SparkSession) -> None:
    found = decoded(spark, flattened(__ts_ms=1).without("__source_ts_ms"))
    assert (found._reason, found._message) == ("MISSING_POSITION", "source.ts_ms is null")


@pytest.mark.parametrize("schemas", ["always", "never"])
def test_a_spec_may_state_whether_there_is_a_schema_block(spark: SparkSession, schemas: str) -> None:
    record = flattened().with_schema() if schemas == "always" else flattened()
    assert decoded(spark, record, shaped("flattened", schemas=schemas)) == decoded(spark, envelope())


@pytest.mark.parametrize("shape", ["flattened", "cloudevents"])
def test_a_record_of_another_shape_than_declared_is_rejected(spark: SparkSession, shape: str) -> None:
    assert decoded(spark, envelope(), shaped(shape))._reason == "NOT_AN_ENVELOPE"


def test_a_tombstone_is_a_tombstone_in_every_shape(spark: SparkSession) -> None:
    for shape in (*SHAPED, "auto"):
        assert decoded(spark, orders.tombstone(id=7), shaped(shape))._reason == "tombstone"
