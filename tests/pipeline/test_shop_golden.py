"""The shop's gold tables against goldens that other code worked out, its records counted, an update without news."""

import pytest
from demo.counts import Counts
from demo.tables import folder, query
from tests.support.shop_model import KEYS, STAGES, golden, golden_counts, plain
from tests.support.shop_pipeline import StagedShop, difference

GOLD = [(name, suffix) for name in KEYS for suffix in ("", "_history")]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("name", "suffix"), GOLD)
def test_gold_is_as_the_golden_says(staged_shop: StagedShop, stage: str, name: str, suffix: str) -> None:
    order = (*KEYS[name], *(("version",) if suffix else ()))
    got = map(plain, staged_shop.after[stage][f"gold.{name}{suffix}"])
    assert sorted(got, key=lambda row: [row[c] for c in order]) == golden(stage, f"{name}{suffix}")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", KEYS)
def test_every_record_is_a_change_a_reject_or_ignored_by_name(staged_shop: StagedShop, stage: str, name: str) -> None:
    got, expected = staged_shop.counts[stage][name], golden_counts(stage)[name]
    assert got.adds_up
    assert got.records == got.changes + got.rejects + got.ignored.total()
    assert dict(got.ignored) == ({"tombstone": n} if (n := expected["tombstones"]) else {})
    assert (got.records, got.changes, got.rejects, got.redelivered) == tuple(
        expected[field] for field in ("records", "changes", "rejects", "duplicates")
    )


def test_a_record_that_is_lost_is_seen() -> None:
    assert not Counts(records=2, changes=1).adds_up


@pytest.mark.parametrize("name", KEYS)
def test_changes_and_rejects_have_each_record_at_most_once(staged_shop: StagedShop, name: str) -> None:
    storage = staged_shop.shop.storage
    places = """SELECT _topic AS t, _partition AS p, _offset AS o FROM changes
        UNION ALL SELECT topic, "partition", "offset" FROM rejects"""
    several = query(
        f"SELECT t, p, o FROM ({places}) GROUP BY t, p, o HAVING count(*) > 1",
        changes=folder(storage, f"silver.{name}_changes"),
        rejects=folder(storage, f"silver.{name}_rejects"),
    )
    assert several == []


def test_an_update_without_news_changes_nothing(staged_shop: StagedShop) -> None:
    shop = staged_shop.shop
    before, files = shop.versions(), _data_files(staged_shop)
    update = shop.update()
    assert update.state == "COMPLETED"
    with_rows = [d.name for d in update.datasets if any(flow.num_output_rows or flow.cdc for flow in d.flows.values())]
    assert with_rows == []
    assert shop.versions() == before
    assert _data_files(staged_shop) == files
    assert not difference(staged_shop.tables, shop.tables())


def _data_files(staged_shop: StagedShop) -> set[str]:
    return {str(path) for path in (staged_shop.shop.storage / "tables").rglob("*") if path.is_file()}
