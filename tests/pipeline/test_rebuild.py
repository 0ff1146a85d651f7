"""A rebuild: everything between a table that keeps its rows and the views at the end is built anew, beside the rows."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.crash import die_at
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import UpdateFailed
from dlt_local.observability.progress import Silent

CHAIN = f"""
    from pyspark import pipelines as dp

    @dp.table(table_properties={{"pipelines.reset.allowed": "false"}})
    def raw():
        return {ROWS}

    @dp.table(table_properties={{"rows.definition": '{{"name": "NAME"}}'}})
    def typed():
        return spark.readStream.table("raw").selectExpr("id", "NAME AS name")

    dp.create_streaming_table("people")
    dp.create_auto_cdc_flow(target="people", source="typed", keys=["id"], sequence_by="id", stored_as_scd_type=1)

    @dp.materialized_view
    def names():
        return spark.read.table("people").groupBy("name").count()

    @dp.table
    def others():
        return spark.readStream.table("raw").select("id")
"""
EDITED = CHAIN.replace("NAME", "upper(name)")
BEFORE, AFTER = [{"id": 1, "name": "a"}], [{"id": 1, "name": "A"}, {"id": 2, "name": "B"}]


@pytest.fixture
def chain(spark: SparkSession, tmp_path: Path) -> SmallPipeline:
    """The chain after one update, edited, with another row to come."""
    small = SmallPipeline(tmp_path, spark, CHAIN.replace("NAME", "name"))
    small.drop(*BEFORE)
    small.pipeline.run()
    small.write(EDITED)
    small.drop({"id": 2, "name": "b"})
    return small


def test_a_changed_row_definition_stops_its_table_until_a_rebuild(chain: SmallPipeline) -> None:
    with pytest.raises(UpdateFailed) as failed:
        chain.pipeline.run()
    (error,) = failed.value.errors
    assert str(error).split("\n", 1)[0].startswith("ROW_DEFINITION_CHANGED")
    assert str(error).split("\n", 1)[1] == (
        "  the rows of default.typed were made by another definition, and would differ by this one:\n"
        "    name: name -> upper(name)\n"
        "  fix: undo the change, or build the rows again with --rebuild default.typed"
    )
    update = failed.value.update
    assert update is not None
    assert {each.name.partition(".")[2]: each.state for each in update.datasets} == {
        "raw": "COMPLETED",
        "typed": "FAILED",
        "people": "SKIPPED",
        "names": "SKIPPED",
        "others": "COMPLETED",
    }
    assert chain.table("people") == BEFORE
    raw = chain.versions()["default/raw"]
    assert {each.name for each in chain.pipeline.run(rebuild=["typed"]).datasets} == {
        "default.typed",
        "default.people",
        "default.names",
    }
    assert chain.table("people") == AFTER
    assert chain.table("names") == [{"name": "A", "count": 1}, {"name": "B", "count": 1}]
    assert chain.versions()["default/raw"] == raw
    chain.drop({"id": 3, "name": "c"})
    chain.pipeline.run()
    assert chain.table("people") == [*AFTER, {"id": 3, "name": "C"}]
    assert all(dataset.is_idle for dataset in chain.pipeline.run().datasets)
    assert not (chain.pipeline.storage.system / "rebuild").exists()


class _Reader(Silent):
    """Reads the target when the last view starts to run."""

    def __init__(self, chain: SmallPipeline) -> None:
        self.chain = chain
        self.seen: list[dict[str, Any]] = []

    def state(self, dataset: str, state: str) -> None:
        if (dataset, state) == ("default.names", "RUNNING"):
            self.seen = self.chain.table("people")


def test_readers_see_the_old_rows_until_everything_is_rebuilt(chain: SmallPipeline) -> None:
    chain.pipeline.run(refresh=["raw"])
    chain.pipeline.progress = reader = _Reader(chain)
    chain.pipeline.run(rebuild=["people"])
    assert reader.seen == BEFORE
    assert chain.table("people") == AFTER


def test_a_rebuild_that_fails_leaves_the_old_rows(chain: SmallPipeline) -> None:
    chain.write(EDITED.replace(".groupBy(", '.selectExpr("name", "raise_error(name) AS e").groupBy("e", '))
    with pytest.raises(UpdateFailed, match="names"):
        chain.pipeline.run(rebuild=["people"])
    assert chain.table("people") == BEFORE
    chain.write(EDITED)
    chain.pipeline.run(refresh=["raw"])
    chain.pipeline.run(rebuild=["people"])
    assert chain.table("people") == AFTER


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param("cdc.between", marks=pytest.mark.long),
        "rebuild.built",
        pytest.param("rebuild.replacing", marks=pytest.mark.long),
        "rebuild.replacing:7",
    ],
)
def test_a_killed_rebuild_leaves_the_old_rows_or_the_new(chain: SmallPipeline, fault: str) -> None:
    chain.pipeline.run(refresh=["raw"])
    arguments = ("--set", f"rows={chain.rows}", "--rebuild", "people")
    die_at(chain.file, chain.pipeline.storage.root, fault, arguments)
    if fault.startswith("rebuild.replacing"):
        chain.pipeline.run()
    else:
        assert chain.table("people") == BEFORE
        with pytest.raises(UpdateFailed, match="ROW_DEFINITION_CHANGED"):
            chain.pipeline.run()
        chain.pipeline.run(rebuild=["people"])
    assert chain.table("people") == AFTER
    assert chain.table("names") == [{"name": "A", "count": 1}, {"name": "B", "count": 1}]


def test_what_cannot_be_rebuilt_is_refused(chain: SmallPipeline) -> None:
    with pytest.raises(UpdateFailed, match=r"no dataset poeple \(did you mean `people`\?\)"):
        chain.pipeline.run(rebuild=["poeple"])
    with pytest.raises(UpdateFailed, match="RESET_NOT_ALLOWED"):
        chain.pipeline.run(rebuild=["raw"])
    chain.write(
        EDITED
        + """
    dp.create_sink("out", "delta", {"path": PATH})

    @dp.append_flow(target="out")
    def sent():
        return spark.readStream.table("typed")
""".replace("PATH", json.dumps(str(chain.folder / "out")))
    )
    with pytest.raises(UpdateFailed, match=r"REBUILD_REACHES_SINK(.|\n)*--full-refresh out"):
        chain.pipeline.run(rebuild=["people"])
    assert chain.table("people") == BEFORE
    chain.pipeline.run(refresh=["raw"])
    chain.pipeline.run(rebuild=["people"], full_refresh=["out"])
    assert chain.table("people") == AFTER


def test_new_parts_and_lost_entries_concern_the_rows_that_the_table_names(spark: SparkSession, tmp_path: Path) -> None:
    source = f"""
        from pyspark import pipelines as dp

        DEFINITION = {{}}

        @dp.table(table_properties={{"rows.definition": DEFINITION, "rows.concerned": "name = :part"}})
        def people():
            return {ROWS}
    """
    small = SmallPipeline(tmp_path, spark, "")

    def run(definition: dict[str, Any]) -> str:
        small.write(source.replace("DEFINITION = {}", f"DEFINITION = {json.dumps(definition)!r}"))
        try:
            return small.pipeline.run().state
        except UpdateFailed as failed:
            return str(failed).split("\n")[2].strip()

    small.drop({"id": 1, "name": "met"})
    assert run({"id": "int", "not null": ["met", "free"]}) == "COMPLETED"
    assert run({"id": "int", "not null": ["met"], "unmet": "int"}) == "COMPLETED"
    assert run({"id": "int", "not null": [], "unmet": "int"}) == "not null: no longer met"
    assert run({"id": "int", "not null": ["met", "id"], "unmet": "int"}) == "not null: also id"
    assert run({"id": "int", "not null": ["met"], "unmet": "int", "met": "int"}) == "met: int (new)"
    assert run({"id": "int", "not null": ["met"]}) == "unmet: int -> gone"
    assert run({"id": "int", "not null": ["met"], "unmet": "int"}) == "COMPLETED"
