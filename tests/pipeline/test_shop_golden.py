"""The shop's gold tables equal golden files made by independent code, and every record is accounted for."""

import pytest
from demo.counts import Counts
from demo.tables import folder, query
from tests.support.shop_model import KEYS, STAGES, golden, golden_counts, plain
from tests.support.shop_pipeline import StagedShop, difference

GOLD = [(name, suffix) for name in KEYS for suffix in ("", "_history")]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("name", "suffix"), GOLD)
def test_gold_equals_the_golden_file(staged_shop: StagedShop, stage: str, name: str, suffix: str) -> None:
    order = (*KEYS[name], *(("version",) if suffix else ()))
    got = map(plain, staged_shop.after[stage][f"gold.{name}{suffix}"])
    assert sorted(got, key=lambda row: [row[c] for c in order]) == golden(stage, f"{name}{suffix}")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", KEYS)
def test_every_record_is_counted_as_a_change_a_reject_or_ignored(
    staged_shop: StagedShop, stage: str, name: str
) -> None:
    got, expected = staged_shop.counts[stage][name], golden_counts(stage)[name]
    assert got.adds_up
    assert got.records == got.changes + got.rejects + got.ignored.total()
    assert dict(got.ignored) == ({"tombstone": n} if (n := expected["tombstones"]) else {})
    assert (got.records, got.changes, got.rejects, got.redelivered) == tuple(
        expected[field] for field in ("records", "changes", "rejects", "duplicates")
    )


def test_counts_that_miss_a_record_do_not_add_up() -> None:
    assert not Counts(records=2, changes=1).adds_up


@pytest.mark.parametrize("name", KEYS)
def test_each_record_is_in_changes_or_rejects_at_most_once(staged_shop: StagedShop, name: str) -> None:
    storage = staged_shop.shop.storage
    positions = """SELECT _topic AS t, _partition AS p, _offset AS o FROM changes
        UNION ALL SELECT topic, "partition", "offset" FROM rejects"""
    repeated = query(
        f"SELECT t, p, o FROM ({positions}) GROUP BY t, p, o HAVING count(*) > 1",
        changes=folder(storage, f"silver.{name}_changes"),
        rejects=folder(storage, f"silver.{name}_rejects"),
    )
    assert repeated == []


def test_an_update_without_new_records_writes_nothing(staged_shop: StagedShop) -> None:
    shop = staged_shop.shop
    before, files = shop.versions(), _data_files(staged_shop)
    update = shop.update()
    assert update.state == "COMPLETED"
    written = [d.name for d in update.datasets if any(flow.num_output_rows or flow.cdc for flow in d.flows.values())]
    assert written == []
    assert shop.versions() == before
    assert _data_files(staged_shop) == files
    assert not difference(staged_shop.tables, shop.tables())


def _data_files(staged_shop: StagedShop) -> set[str]:
    return {str(path) for path in (staged_shop.shop.storage / "tables").rglob("*") if path.is_file()}
