"""Small shops: every division of the records into files and updates gives the tables of one update.

The kind of the connector is stated for the one update, and found from the records (`kind: auto`) for the others.
SHOP_SEED repeats a division; a failure shows it.
"""

import os
import shutil
import time
from pathlib import Path
from random import Random

import pytest
from demo import shop
from pyspark.sql import SparkSession
from tests.pipeline.test_small_shops import SMALL, captures
from tests.support.shop_pipeline import Shop, difference, split
from tools.captures import read

SEED = int(os.environ.get("SHOP_SEED") or time.time_ns() % 1_000_000_007)
_UPDATES = 2
_BY_DEFAULT = ("mongodb",)
"""Its changes differ most; test_two_kinds.py has two updates of MariaDB's and PostgreSQL's."""


@pytest.mark.parametrize(
    "kind", [kind if kind in _BY_DEFAULT else pytest.param(kind, marks=pytest.mark.long) for kind in SMALL]
)
def test_a_random_division_into_files_and_updates_gives_the_same_tables(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    at_once = Shop(tmp_path / "at-once", spark, shop.SHOPS[kind].conf)
    at_once.update(*captures(kind))
    in_pieces = Shop(tmp_path / "in-pieces", spark, _with_found_kind(tmp_path / "conf", kind))
    every = [record for capture in captures(kind) for record in read(capture)]
    for part in split(every, _UPDATES, tmp_path / "parts", Random(SEED)):
        in_pieces.update(*part)
    different = difference(at_once.tables(), in_pieces.tables())
    assert not different, f"SHOP_SEED={SEED}\n{different}"
    assert len(at_once.tables()["gold.orders"]) > 0


def _with_found_kind(conf: Path, kind: str) -> Path:
    """The conf folder of a small shop, with `kind: auto`."""
    shutil.copytree(shop.SHOPS[kind].conf, conf)
    connector = conf / "connectors" / f"{shop.CONNECTOR}.yml"
    text = connector.read_text(encoding="utf-8")
    assert text.count(f"kind: {kind}\n") == 1
    connector.write_text(text.replace(f"kind: {kind}\n", "kind: auto\n"), encoding="utf-8")
    return conf
