"""One dataset of each kind that has state of its own in the storage folder (tests/support/earlier_version.py)."""

from pathlib import Path

import dlt

COLUMNS = "op STRING, id INT, seq INT, name STRING, amount INT"
events_folder = spark.conf.get("events")
snapshots_folder = Path(spark.conf.get("snapshots"))
# Deletes are remembered for good: the storage may be years old when it is opened.
REMEMBER_DELETES = {"pipelines.cdc.tombstoneGCThresholdInSeconds": str(100 * 365 * 24 * 3600)}


@dlt.table
def events():
    return spark.readStream.schema(COLUMNS).json(events_folder)


@dlt.table(private=True)
def changes():
    return spark.readStream.table("events").where("op <> 'truncate'")


dlt.create_streaming_table("ledger")


@dlt.append_flow(target="ledger", once=True)
def opening_balance():
    return spark.createDataFrame([("open", 0, 0, "opening", 1000)], COLUMNS)


@dlt.append_flow(target="ledger")
def bookings():
    return spark.readStream.table("changes")


dlt.create_streaming_table("current", table_properties=REMEMBER_DELETES)
dlt.create_auto_cdc_flow(
    target="current",
    source="events",
    keys=["id"],
    sequence_by="seq",
    apply_as_deletes="op = 'delete'",
    apply_as_truncates="op = 'truncate'",
    except_column_list=["op", "seq"],
)

dlt.create_streaming_table("patched", table_properties=REMEMBER_DELETES)
dlt.create_auto_cdc_flow(
    target="patched",
    source="changes",
    keys=["id"],
    sequence_by="seq",
    apply_as_deletes="op = 'delete'",
    ignore_null_updates=True,
    except_column_list=["op", "seq"],
)

dlt.create_streaming_table("versions", table_properties=REMEMBER_DELETES)
dlt.create_auto_cdc_flow(
    target="versions",
    source="changes",
    keys=["id"],
    sequence_by="seq",
    apply_as_deletes="op = 'delete'",
    except_column_list=["op", "seq"],
    stored_as_scd_type=2,
)


def next_snapshot(latest_version):
    version = (latest_version or 0) + 1
    path = snapshots_folder / f"{version}.json"
    return (spark.read.schema("id INT, name STRING").json(str(path)), version) if path.exists() else None


dlt.create_streaming_table("snapshot_versions", table_properties=REMEMBER_DELETES)
dlt.create_auto_cdc_from_snapshot_flow(
    target="snapshot_versions", source=next_snapshot, keys=["id"], stored_as_scd_type=2
)


@dlt.table
@dlt.expect_or_drop("named", "name IS NOT NULL")
def named():
    return spark.read.table("patched")
