from pathlib import Path

import dlt

folder = spark.conf.get("snapshots")


def next_snapshot_and_version(latest_version):
    versions = sorted(int(f.name.removesuffix("/")) for f in dbutils.fs.ls(folder))
    newer = [v for v in versions if latest_version is None or v > latest_version]
    if not newer:
        return None
    return spark.read.schema("id INT, plan STRING").json(f"{folder}/{newer[0]}"), newer[0]


dlt.create_streaming_table("subscriptions")
dlt.apply_changes_from_snapshot(
    target="subscriptions",
    snapshot_and_version=next_snapshot_and_version,
    keys=["id"],
    stored_as_scd_type=2,
)

dlt.create_streaming_table("stock")
dlt.create_auto_cdc_from_snapshot_flow(
    target="stock", source="erp.warehouse.stock", keys=["item"], stored_as_scd_type=1
)
