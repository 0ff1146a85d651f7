"""A conf folder with faults: the update fails before anything is written, and each fault is reported once."""

import shutil
from pathlib import Path

import pytest
from demo import shop
from pyspark.sql import SparkSession
from tests.support.shop_pipeline import Shop

from dlt_local import UpdateFailed

_FAULTS = ("UNKNOWN_KEY_COLUMN", "UNKNOWN_FIELD", "DUPLICATE_TABLE_NAME")


@pytest.fixture(scope="module")
def faulty(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop with an unknown key column, a misspelt field and two tables with the same name."""
    folder = tmp_path_factory.mktemp("faulty")
    tables = shutil.copytree(shop.CONF, folder / "conf") / "tables" / "shop"
    _replace(tables / "orders.yml", "key: [order_id]", "key: [order_no]")
    _replace(tables / "products.yml", "expectations:", "expectatoins:")
    shutil.copy(tables / "customers.yml", tables / "clients.yml")
    _replace(tables / "clients.yml", "table: shop.dbo.customers", "table: shop.dbo.clients\nname: customers")
    return Shop(folder, spark, conf=folder / "conf")


@pytest.fixture(scope="module")
def refusal(faulty: Shop) -> str:
    """What the user reads."""
    with pytest.raises(UpdateFailed) as raised:
        faulty.update()
    return str(raised.value)


def test_nothing_is_written(faulty: Shop, refusal: str) -> None:
    assert not (faulty.storage / "tables").exists()
    assert not (faulty.storage / "system" / "checkpoints").exists()
    assert not (faulty.storage / "system" / "private").exists()


@pytest.mark.parametrize("condition", _FAULTS)
def test_each_fault_is_reported_once(refusal: str, condition: str) -> None:
    assert refusal.count(f"{condition}  ") == 1


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("orders.yml:3:7", "did you mean `order_id`?"),
        ("products.yml:13:1", "did you mean `expectations`?"),
        ("customers.yml:2:8", "clients.yml:2"),
    ],
)
def test_each_fault_has_its_place_and_its_fix(faulty: Shop, refusal: str, place: str, expected: str) -> None:
    lines = refusal.splitlines()
    at = next(number for number, line in enumerate(lines) if place in line)
    assert str(faulty.conf / "tables" / "shop" / place) in lines[at]
    assert expected in lines[at + 1]
    assert lines[at + 2].strip().startswith("fix: ")


def test_a_fixed_folder_runs(faulty: Shop, refusal: str) -> None:
    shutil.rmtree(faulty.conf)
    shutil.copytree(shop.CONF, faulty.conf)
    assert len(faulty.pipeline.dry_run().tables) == 28


def test_faulty_sql_names_the_spec_and_not_the_pipelines_code(spark: SparkSession, tmp_path: Path) -> None:
    conf = shutil.copytree(shop.CONF, tmp_path / "conf")
    orders = conf / "tables" / "shop" / "orders.yml"
    _replace(orders, "total_not_negative: total >= 0", "total_not_negative: totl >= 0")
    with pytest.raises(UpdateFailed) as raised:
        Shop(tmp_path, spark, conf=conf).update()
    assert str(raised.value).count(f"UNKNOWN_SQL_COLUMN  {orders}:15:23   table shop.dbo.orders") == 1
    assert "(did you mean `total`?)" in str(raised.value)
    assert "decoded.py" not in str(raised.value)


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
