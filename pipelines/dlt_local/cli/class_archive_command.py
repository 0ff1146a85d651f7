"""The command `dlt-local class-archive`: Spark starts in less time afterwards."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from pyspark.sql import SparkSession

from dlt_local.cli.errors import plain_errors
from dlt_local.errors import ClassArchiveNotWritten
from dlt_local.spark.class_archive import class_archive
from dlt_local.spark.jvm import end_java
from dlt_local.spark.session import create_session
from dlt_local.updates.pipeline import LocalPipeline

# A flow of each kind, so that the archive has the classes that each needs.
_PIPELINE = """
from pyspark import pipelines as dp

@dp.table
@dp.expect_or_drop("has an id", "id IS NOT NULL")
def changes():
    rows = spark.readStream.schema("text STRING").json(spark.conf.get("rows"))
    return rows.selectExpr("from_json(text, 'id INT, name STRING, at TIMESTAMP') AS row").select("row.*")

dp.create_streaming_table("current")
dp.create_auto_cdc_flow(target="current", source="changes", keys=["id"], sequence_by="at")

dp.create_streaming_table("history")
dp.create_auto_cdc_flow(target="history", source="changes", keys=["id"], sequence_by="at", stored_as_scd_type=2)

@dp.materialized_view
def names():
    return spark.read.table("current").groupBy("name").count()
"""


@click.command("class-archive")
def write_class_archive() -> None:
    """Make Spark start faster, by an archive of its classes (200 MB, for this Python environment).

    Needed once; again after another Java or another version of this package is installed.
    """
    with plain_errors():
        archive = class_archive()
        archive.parent.mkdir(parents=True, exist_ok=True)
        # Renamed when it is complete: other processes may be starting.
        with TemporaryDirectory(dir=archive.parent) as folder:
            written = Path(folder) / archive.name
            session = create_session(archive_classes_to=written)
            _run_updates(session, Path(folder))
            end_java(session)
            if not written.exists():
                raise ClassArchiveNotWritten(archive)
            written.replace(archive)
        click.echo(archive)


def _run_updates(session: SparkSession, folder: Path) -> None:
    source, rows = folder / "pipeline.py", folder / "rows"
    source.write_text(_PIPELINE, encoding="utf-8")
    rows.mkdir()
    pipeline = LocalPipeline("archived", [source], folder / "storage", spark=session, configuration={"rows": str(rows)})
    for number in range(2):
        changes = [{"id": key, "name": "a name", "at": f"2026-01-01T00:00:0{number}Z"} for key in range(3)]
        lines = [json.dumps({"text": json.dumps(change)}) + "\n" for change in changes]
        (rows / f"{number}.json").write_text("".join(lines), encoding="utf-8")
        pipeline.run()
