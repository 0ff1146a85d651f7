"""Small shops, their orders: every division of the records into files and updates gives the tables of one update.

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
from tools.small_shops.scenario import final_rows

SEED = int(os.environ.get("SHOP_SEED") or time.time_ns() % 1_000_000_007)
_UPDATES = 2
_BY_DEFAULT = ("mysql",)
"""Others arrive in two updates too: MariaDB's and PostgreSQL's in test_two_kinds.py, MongoDB's as histories."""


@pytest.mark.parametrize(
    "kind", [kind if kind in _BY_DEFAULT else pytest.param(kind, marks=pytest.mark.long) for kind in SMALL]
)
def test_a_random_division_into_files_and_updates_gives_the_same_tables(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    at_once = Shop(tmp_path / "at-once", spark, _conf_of_orders(tmp_path / "conf", kind, kind))
    at_once.update(*captures(kind))
    in_pieces = Shop(tmp_path / "in-pieces", spark, _conf_of_orders(tmp_path / "auto", kind, "auto"))
    every = [record for capture in captures(kind) for record in read(capture)]
    for part in split(every, _UPDATES, tmp_path / "parts", Random(SEED)):
        in_pieces.update(*part)
    different = difference(at_once.tables(), in_pieces.tables())
    assert not different, f"SHOP_SEED={SEED}\n{different}"
    assert len(at_once.tables()["gold.orders"]) == len(final_rows()["orders"])


def _conf_of_orders(conf: Path, kind: str, written: str) -> Path:
    """The conf folder of a small shop with the orders only, and this as the connector's `kind:`."""
    shutil.copytree(shop.SHOPS[kind].conf, conf)
    (conf / "tables" / shop.CONNECTOR / "customers.yml").unlink()
    connector = conf / "connectors" / f"{shop.CONNECTOR}.yml"
    text = connector.read_text(encoding="utf-8")
    assert text.count(f"kind: {kind}\n") == 1
    connector.write_text(text.replace(f"kind: {kind}\n", f"kind: {written}\n"), encoding="utf-8")
    return conf
