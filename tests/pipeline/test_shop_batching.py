"""Every division of the shop's records into files and updates leads to the same silver and gold.

SHOP_SEED repeats a division; a failure shows it.
"""

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from demo import shop
from pyspark.sql import SparkSession
from tests.support.shop_model import captures_until
from tests.support.shop_pipeline import Shop, StagedShop, Tables, difference, one_by_one, records, split

SEED = int(os.environ.get("SHOP_SEED") or time.time_ns() % 1_000_000_007)
_UPDATES = 3


@pytest.fixture(scope="module")
def at_once(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A shop for one update of all captures."""
    return Shop(tmp_path_factory.mktemp("at-once"), spark)


@pytest.fixture(scope="module")
def in_pieces(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A shop for several updates, with a few records in each file."""
    return Shop(tmp_path_factory.mktemp("in-pieces"), spark)


@pytest.fixture(scope="module")
def both(at_once: Shop, in_pieces: Shop, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tables, Tables]:
    """The tables of both in the end; the only update of one runs beside the first of the other."""
    parts = split(records(), _UPDATES, tmp_path_factory.mktemp("parts"), Random(SEED))
    with ThreadPoolExecutor(2) as pool:
        running = [
            pool.submit(at_once.update, *captures_until("4-damaged")),
            pool.submit(in_pieces.update, *parts[0]),
        ]
        assert [update.result().state for update in running] == ["COMPLETED", "COMPLETED"]
    for part in parts[1:]:
        in_pieces.update(*part)
    return at_once.tables(), in_pieces.tables()


def test_one_update_of_all_captures_gives_the_tables_of_an_update_for_each(
    staged_shop: StagedShop, both: tuple[Tables, Tables]
) -> None:
    assert not difference(staged_shop.tables, both[0])


def test_a_random_division_into_files_and_updates_gives_the_same_tables(
    staged_shop: StagedShop, both: tuple[Tables, Tables]
) -> None:
    different = difference(staged_shop.tables, both[1])
    assert not different, f"SHOP_SEED={SEED}\n{different}"


@pytest.mark.long
@pytest.mark.parametrize("name", ("products", "customers", "orders"))
def test_an_update_for_each_record_gives_the_same_tables(
    staged_shop: StagedShop, spark: SparkSession, tmp_path: Path, name: str
) -> None:
    alone = Shop(tmp_path, spark, conf=_conf_of_one(tmp_path / "conf", name))
    topic = next(table.topic for table in shop.tables(alone.conf))
    files = one_by_one([record for record in records() if record.topic == topic], tmp_path / "records")
    for file in files:
        alone.update(file)
    expected = {dataset: rows for dataset, rows in staged_shop.tables.items() if _is_of(dataset, name)}
    assert len(expected) == 6
    assert not difference(expected, alone.tables())


def _conf_of_one(conf: Path, name: str) -> Path:
    """A conf folder with one of the shop's tables."""
    shutil.copytree(shop.CONF, conf)
    for file in (conf / "tables" / "shop").iterdir():
        if file.stem != name:
            file.unlink()
    return conf


def _is_of(dataset: str, name: str) -> bool:
    suffixes = ("", "_changes", "_rejects", "_history")
    return dataset.partition(".")[2] in {name + suffix for suffix in suffixes}
