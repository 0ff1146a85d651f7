"""The report page of pipelines with 4, 29 and 281 datasets in a real browser: searched, sorted, opened, by clicks."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import report_histories
from tests.support.chromium import Page, browser

from dlt_local.observability.report import page as rendered

SIZES = (4, 29, 281)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser") / "profile") as shown:
        yield shown
        assert shown.complaints == []


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Number of datasets -> the page."""
    folder = tmp_path_factory.mktemp("pages")
    histories = {4: report_histories.small(), 29: report_histories.large(4), 281: report_histories.large(40)}
    for size, history in histories.items():
        (folder / f"{size}.html").write_text(rendered.render("shop", history), encoding="utf-8")
    return {size: folder / f"{size}.html" for size in histories}


def go(page: Page, view: str) -> None:
    page.ask(f"location.hash = '{view}'")
    page.settle()


def names(page: Page) -> list[str]:
    """The names in the first column, without what stands beside them."""
    shown: list[str] = page.ask(
        "Array.from(document.querySelectorAll('#datasets td.name'), e => e.querySelector('a, button').textContent)"
    )
    return shown


def test_a_small_pipeline_shows_every_dataset(page: Page, files: dict[int, Path]) -> None:
    page.show(files[4], 1200)
    assert names(page) == ["orders_raw", "shop.orders_raw", "shop.orders", "shop.orders_by_country"]
    assert page.texts("#state") == ["COMPLETED"]


def test_a_large_one_has_a_row_for_each_group_the_worst_first(page: Page, files: dict[int, Path]) -> None:
    page.show(files[281], 1200)
    shown = names(page)
    assert len(shown) == 41
    assert shown[0] == "products"
    assert page.texts('[data-group="products"] .state') == ["FAILED"]
    assert page.texts("#states button") == ["1 FAILED", "2 SKIPPED", "271 COMPLETED", "7 IDLE"]
    assert "NULL_IN_KEY" in page.texts("#errors .error")[0]
    assert page.texts("#errors .fix")[0].startswith("correct `key:`")


def test_records_are_accounted_for(page: Page, files: dict[int, Path]) -> None:
    page.show(files[29], 1200)
    (account,) = page.texts("#account")
    records, changes, ignored, rejects = map(int, re.findall(r"\d+", account))
    assert re.sub(r"\d+", "N", account) == "N new records = N change + N ignored + N reject"
    assert records == changes + ignored + rejects


def test_a_group_opens_and_closes(page: Page, files: dict[int, Path]) -> None:
    page.show(files[281], 1200)
    page.click('[data-group="products"] .open')
    assert len(names(page)) == 41 + 7
    states = dict(zip(names(page)[1:8], page.texts("#datasets tr.member .state")[:7], strict=True))
    assert states["silver.products"] == "FAILED" and states["gold.products"] == "SKIPPED"
    page.click('[data-group="products"] .open')
    assert len(names(page)) == 41
    page.click("#expand")
    assert len(names(page)) == 41 + 280
    page.click("#expand")
    assert len(names(page)) == 41


def test_it_is_searched_and_filtered(page: Page, files: dict[int, Path]) -> None:
    page.show(files[281], 1200)
    page.write("#search", "invoices_2 hist")
    assert names(page) == ["invoices_2"]
    page.write("#search", "nothing such")
    assert page.texts("#nothing") == ["Nothing fits. Clear the search, or show all states."]
    page.write("#search", "")
    page.click("#only-failed")
    assert names(page) == ["products"]
    page.click("#only-failed")
    page.click('#states [data-state="IDLE"]')
    assert names(page) == ["customers"]


def test_it_is_sorted_by_what_is_clicked(page: Page, files: dict[int, Path]) -> None:
    page.show(files[281], 1200)
    page.click("#datasets th:nth-child(2) button")
    assert names(page) == sorted(names(page))
    page.click("#datasets th:nth-child(2) button")
    assert names(page) == sorted(names(page), reverse=True)
    page.click("#datasets th:nth-child(3) button")
    rows = [int(text.replace(",", "")) for text in page.texts('#datasets [data-measure="rows"]') if text]
    assert rows == sorted(rows, reverse=True)


def test_the_lag_of_a_silent_feed_grows(page: Page, files: dict[int, Path]) -> None:
    page.show(files[29], 1200)
    assert page.texts('[data-group="customers"] .badge') == ["2 unmet", "silent"]
    hours = {name: page.texts(f'[data-group="{name}"] [data-measure="lag"]')[0] for name in ("customers", "orders")}
    assert hours == {"customers": "6 h 0 min", "orders": "1 h 0 min"}
    page.ask("Date.now = (now => () => now() + 7200e3)(Date.now.bind(Date)), route()")
    assert page.texts('[data-group="customers"] [data-measure="lag"]') == ["8 h 0 min"]


def test_a_dataset_has_a_view_of_its_own(page: Page, files: dict[int, Path]) -> None:
    page.show(files[29], 1200)
    page.click('[data-group="orders"] .open')
    page.click('[data-dataset="silver.orders_decoded"] a')
    assert page.texts("#dataset") == ["silver.orders_decoded COMPLETED"]
    assert page.texts('[data-fact="kind"]') == ["private streaming table"]
    assert page.texts('[data-fact="defined in"]') == ["conf/tables/shop/orders.yml"]
    assert page.texts('[data-fact="read by"]') == ["silver.orders_changes, silver.orders_rejects"]
    assert page.texts("#columns td")[:3] == ["order_id", "bigint", "Key of the source"]
    assert page.texts('[data-breakdown="silver.orders_decoded"] td')[:2] == ["change", "1,200"]
    assert page.texts("#samples td")[1] == "column total: `12.50 EUR` is not of type decimal(18,2)"
    assert page.texts("#notes td") == ["column added: discount", "3", "orders[0]@120"]
    assert "  13  def orders():" in page.texts("#query pre")[0]
    assert len(page.texts("#history tbody tr")) == report_histories.UPDATES
    page.ask("history.back()")
    page.settle()
    page.click('[data-dataset="silver.orders_changes"] a')
    assert page.texts('[data-expectation="total is positive"] [data-measure="failed"]') == ["24"]


def test_a_failed_dataset_shows_its_error_and_its_line(page: Page, files: dict[int, Path]) -> None:
    page.show(files[29], 1200)
    page.click("#errors .error a")
    assert page.texts("#dataset") == ["silver.products FAILED"]
    assert page.texts("#error mark") == ["12  @dp.table(comment=COMMENT)"]


def test_a_click_in_the_graph_opens_a_dataset(page: Page, files: dict[int, Path]) -> None:
    page.show(files[29], 1200)
    go(page, "#/dataset/silver.orders")
    page.click('svg.graph g[data-dataset="gold.orders_history"]')
    assert page.texts("#dataset") == ["gold.orders_history COMPLETED"]
    boxes = page.ask("Array.from(document.querySelectorAll('svg.graph g'), g => g.dataset.dataset)")
    expected = [
        "bronze.orders",
        "silver.orders_decoded",
        "silver.orders_changes",
        "silver.orders",
        "gold.orders_history",
    ]
    assert boxes == expected


def test_the_whole_graph_is_moved_and_zoomed(page: Page, files: dict[int, Path]) -> None:
    page.show(files[281], 1200)
    go(page, "#/graph")
    assert page.ask("document.querySelectorAll('svg.graph g').length") == 281

    def view() -> list[float]:
        return [float(each) for each in page.ask("document.querySelector('svg.graph').getAttribute('viewBox')").split()]

    before = view()
    page.click('.zoom [aria-label="zoom in"]')
    zoomed = view()
    assert zoomed[2] < before[2]
    page.drag("svg.graph", -120, -80)
    assert view()[0] > zoomed[0] and view()[1] > zoomed[1] and page.ask("location.hash") == "#/graph"
    page.click('.zoom [aria-label="show all of it"]')
    assert view()[2:] > before[2:]
    page.write("#find", "invoices_3")
    assert page.ask("document.querySelectorAll('svg.graph g:not(.dimmed)').length") == 7


def test_an_earlier_update_is_shown_and_left(page: Page, files: dict[int, Path]) -> None:
    page.show(files[29], 1200)
    page.click("#updates tbody tr:nth-child(2) a")
    assert page.texts("#state") == ["COMPLETED"]
    assert page.texts("#earlier") == ["An earlier update. Show the last one"]
    page.click("#earlier a")
    assert page.texts("#state") == ["FAILED"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("view", ["#/", "#/dataset/silver.orders_decoded", "#/graph"])
def test_it_fits_on_a_phone(size: int, view: str, page: Page, files: dict[int, Path]) -> None:
    page.show(files[size], 375, 800)
    go(page, view)
    assert page.ask("document.documentElement.scrollWidth") == 375
    # A graph is moved within its frame.
    lefts = "Array.from(document.querySelectorAll('main *:not(svg *)'), e => e.getBoundingClientRect().left)"
    assert page.ask(f"Math.min(...{lefts})") >= 0


def test_it_loads_nothing_else_and_does_not_hang(page: Page, files: dict[int, Path]) -> None:
    page.requested.clear()
    page.show(files[281], 1200)
    assert [each for each in page.requested if not each.startswith("data:")] == [files[281].as_uri()]
    assert files[281].stat().st_size < 2_000_000
    assert page.ask("(start => (route(), performance.now() - start))(performance.now())") < 10_000
