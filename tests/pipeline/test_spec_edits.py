"""Random edits of specs between random updates: the tables end as if built from scratch, or the edit was refused.

Each history edits the specs of a few tables, lets changes arrive, and runs updates of everything or of some datasets,
which leaves the others at another place, as a kill does. A table that is refused is rebuilt, or its edit undone.
SPEC_EDITS_SEED repeats a history; a failure shows it.
"""

import os
import re
import time
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.edited_specs import SourceTable

from cdc.__main__ import cdc
from dlt_local import LocalPipeline, UpdateFailed

SEED = int(os.environ.get("SPEC_EDITS_SEED") or time.time_ns() % 1_000_000_007)
_LAYERS = ("bronze.{}", "silver.{}_decoded", "silver.{}_changes", "silver.{}_rejects", "silver.{}", "gold.{}")


def test_specs_edited_between_updates_end_in_the_tables_of_a_fresh_build(spark: SparkSession, tmp_path: Path) -> None:
    _History(tmp_path, spark, Random(SEED), tables=2).run(steps=2)


@pytest.mark.long
@pytest.mark.parametrize("run", range(10))
def test_many_specs_edited_many_times_end_in_the_tables_of_a_fresh_build(
    spark: SparkSession, tmp_path: Path, run: int
) -> None:
    _History(tmp_path, spark, Random(SEED + run), tables=6).run(steps=4)


class _History:
    """The life of a few tables whose specs are edited."""

    def __init__(self, folder: Path, spark: SparkSession, random: Random, tables: int) -> None:
        self.folder, self.spark, self.random = folder, spark, random
        self.tables = {name: SourceTable(name, random) for name in [f"t{number}" for number in range(tables)]}
        self.pipeline = CdcPipeline(folder / "edited", spark, self._conf())

    def run(self, steps: int) -> None:
        """So many edits, each followed by an update; then everything is compared with a fresh build."""
        print(f"SPEC_EDITS_SEED={SEED}")
        self._deliver()
        if self.random.random() < 0.8:
            self._update()
        for _ in range(steps):
            before = {name: table.spec for name, table in self.tables.items()}
            for table in self.tables.values():
                if self.random.random() < 0.8:
                    table.edit()
            self._deliver()
            self.pipeline.configure(self._conf())
            refused = self._update()
            if refused and self.random.random() < 0.3:
                for name in refused:
                    self.tables[name].spec = before[name]
                    self.tables[name].edits.append("undone")
                self.pipeline.configure(self._conf())
            elif refused:
                self._rebuild(refused)
        if refused := self._update(whole=True):
            self._rebuild(refused)
        self._replay_rejects()
        self._compare()

    def _conf(self) -> dict[str, str]:
        return {f"tables/shop/{name}.yml": table.text() for name, table in self.tables.items()}

    def _deliver(self) -> None:
        self.pipeline.deliver(record for table in self.tables.values() for record in table.deliver())

    def _update(self, whole: bool = False) -> list[str]:
        """Run an update; returns the tables that were refused, as the plan has said before."""
        planned = self._planned()
        some = {template.format(name) for name in self.tables for template in _LAYERS if self.random.random() < 0.6}
        refresh = [] if whole or self.random.random() < 0.5 else self._of_graph(some)
        try:
            self.pipeline.pipeline().run(refresh=refresh)
        except UpdateFailed as failed:
            errors = [str(error) for error in failed.errors]
            if refresh:
                # What a partial update lacks, the next whole one builds.
                errors = [error for error in errors if not error.startswith(("SOURCE_NOT_BUILT", "SOURCE_NOT_UPDATED"))]
            refused = sorted({_to_rebuild(error) for error in errors})
            assert set(refused) <= planned["needs a rebuild"] | planned["changed, existing rows stay"], errors
        else:
            refused = []
        if whole:
            assert planned["needs a rebuild"] <= set(refused), self._told()
        return refused

    def _of_graph(self, names: set[str]) -> list[str]:
        """The names that the graph has; none, for a whole update, if a dry run refuses a table."""
        try:
            return sorted(names & {node.name for node in self._local().dry_run().tables})
        except UpdateFailed:
            return []

    def _local(self) -> LocalPipeline:
        return self.pipeline.pipeline()

    def _planned(self) -> dict[str, set[str]]:
        storage = self.pipeline.folder / "storage"
        storage.mkdir(exist_ok=True)
        arguments = ["plan", str(self.pipeline.folder / "conf"), "--storage", str(storage)]
        output = CliRunner().invoke(cdc, arguments).output
        found = re.findall(r"^(\w+): (needs a rebuild|changed, existing rows stay)", output, re.MULTILINE)
        kinds = ("needs a rebuild", "changed, existing rows stay")
        return {kind: {table for table, effect in found if effect == kind} for kind in kinds}

    def _rebuild(self, tables: list[str]) -> None:
        self.pipeline.pipeline().run(rebuild=tables)

    def _replay_rejects(self) -> None:
        """Records that an earlier spec rejected, and the present one would not, come in by a replay."""
        self.pipeline.update(replay_rejects="end")

    def _compare(self) -> None:
        scratch = CdcPipeline(self.folder / "scratch", self.spark, self._conf())
        scratch.landing = self.pipeline.landing
        scratch.update()
        for name, table in self.tables.items():
            gold = [f"gold.{name}"]
            if table.spec.more.get("history") != "false":
                is_named = "gold" in table.spec.more
                gold.append(f"gold.versions_of_{name}" if is_named else f"gold.{name}_history")
            for dataset in gold:
                types = sorted(scratch.pipeline().table(dataset).dtypes)
                assert sorted(self.pipeline.pipeline().table(dataset).dtypes) == types, self._told()
                text = f"to_json(struct({', '.join(f'`{column}`' for column, _ in types)}))"
                assert self.pipeline.rows(dataset, text) == scratch.rows(dataset, text), f"{dataset}\n{self._told()}"

    def _told(self) -> str:
        return "\n".join([f"SPEC_EDITS_SEED={SEED}", *(f"{name}: {t.edits}" for name, t in self.tables.items())])


def _to_rebuild(error: str) -> str:
    """The table in the command that a refusal names."""
    found = re.search(r"--rebuild (?:\w+\.)?(\w+?)(?:_decoded|_changes|_rejects)?$", error, re.MULTILINE)
    assert error.startswith(("ROW_DEFINITION_CHANGED", "AUTOCDC")) and found, error
    return found[1]
