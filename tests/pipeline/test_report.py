"""The report page in a real browser: it shows the numbers of the run, offline, in dark mode and on a phone."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.chromium import Page, browser
from tests.support.small_pipeline import SmallPipeline

from dlt_local import UpdateFailed

SOURCE = """
import dlt
from pyspark.sql import functions as F

ROWS = "id INT, name STRING, at TIMESTAMP"

@dlt.table(table_properties={"report.newest": "at"}, name="raw.people")
@dlt.expect("named", "name IS NOT NULL")
@dlt.expect_or_drop("has_id", "id IS NOT NULL")
def people():
    return spark.readStream.schema(ROWS).json(spark.conf.get("rows"))

@dlt.view
def nameless():
    return spark.readStream.table("raw.people").where("name IS NULL")

@dlt.table(table_properties={"report.countBy": "reason"})
def refused():
    return spark.readStream.table("nameless").select("id", F.concat(F.lit("no <name> of "), "id").alias("reason"))

@dlt.table
def total():
    return spark.read.table("raw.people").groupBy().count()

dlt.create_streaming_table("current")
dlt.apply_changes(target="current", source="raw.people", keys=["id"], sequence_by="at")
"""


@pytest.fixture(scope="module")
def reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SmallPipeline:
    """A pipeline after two successful updates."""
    small = SmallPipeline(tmp_path_factory.mktemp("reported"), spark, SOURCE)
    small.drop({"id": 1, "name": "a", "at": "2026-01-01T10:00:00Z"}, {"id": 7, "at": "2026-01-01T11:00:00Z"})
    small.pipeline.run()
    small.drop(
        {"id": 1, "name": "b", "at": "2026-01-02T10:00:00Z"},
        {"id": 8, "at": "2026-01-02T11:00:00Z"},
        {"name": "dropped", "at": "2026-01-02T12:00:00Z"},
    )
    small.pipeline.run()
    return small


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser") / "profile") as shown:
        yield shown


def file_of(small: SmallPipeline) -> Path:
    return small.pipeline.storage.system / "report" / "index.html"


def measures(page: Page, dataset: str) -> dict[str, str]:
    """What the last update did to a dataset, from the first line of its own view's last updates."""
    page.ask(f"location.hash = '#/dataset/{dataset}'")
    page.settle()
    names = ("rows", "upserted", "deleted", "dropped")
    row = "#history tbody tr:first-child"
    return {name: value for name in names if (value := page.texts(f'{row} [data-measure="{name}"]')[0])}


def test_the_numbers_are_those_of_the_run(reported: SmallPipeline, page: Page) -> None:
    page.show(file_of(reported), 1200)
    assert page.texts("#state") == ["COMPLETED"]
    assert page.texts("#written") == ["6"]
    assert page.texts('[data-group="people"] [data-measure="rows"]') == ["2"]
    assert page.texts('[data-group="people"] [data-measure="rejected"]') == ["1"]
    assert page.texts("#account") == []
    assert len(page.texts("#updates tbody tr")) == 2
    assert measures(page, "default.refused") == {"rows": "1"}
    assert page.texts('[data-breakdown="default.refused"] td') == ["no <name> of 7", "1", "no <name> of 8", "1"]
    assert measures(page, "default.current") == {"upserted": "2"}
    assert measures(page, "raw.people") == {"rows": "2", "dropped": "1"}
    assert page.texts('[data-expectation="named"] [data-measure]') == ["3", "2"]
    assert page.texts('[data-expectation="has_id"] [data-measure]') == ["4", "1"]
    assert page.texts('[data-expectation="named"] td')[2] == "keep"
    assert re.match(r"2026-01-02 11:00:00 UTC, \d+ d \d+ h ago", page.texts('[data-fact="newest row"]')[0])
    assert [text.strip() for text in page.texts("#columns td")[:2]] == ["id", "int"]
    assert "def people():" in page.texts("#query pre")[0]


def test_the_graph_has_counts_on_its_edges_and_states_in_its_boxes(reported: SmallPipeline, page: Page) -> None:
    page.show(file_of(reported), 1200)
    page.ask("location.hash = '#/graph'")
    page.settle()
    boxes = page.ask(
        "Object.fromEntries(Array.from(document.querySelectorAll('svg.graph g'), g =>"
        " [g.dataset.dataset, g.querySelector('.small').textContent]))"
    )
    assert boxes == {
        "raw.people": "COMPLETED · 2 rows",
        "nameless": "view",
        "default.refused": "COMPLETED · 1 row",
        "default.total": "COMPLETED · 1 row",
        "default.current": "COMPLETED · 2 rows",
    }
    counts = page.ask("Array.from(document.querySelectorAll('.graph .count'), c => c.lastChild.data)")
    assert sorted(counts) == ["1", "1", "2"]


def test_it_loads_nothing_else_and_logs_no_errors(reported: SmallPipeline, page: Page) -> None:
    page.requested.clear()
    page.show(file_of(reported), 1200)
    assert [address for address in page.requested if not address.startswith("data:")] == [file_of(reported).as_uri()]
    assert page.complaints == []


_CONTRAST = """(selector => {
    const rgb = (e, p) => getComputedStyle(e)[p].match(/[\\d.]+/g).slice(0, 3).map(Number);
    const part = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    const pair = [rgb(document.querySelector(selector), 'color'), rgb(document.body, 'backgroundColor')].map(light);
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05) })"""


def contrast(page: Page, selector: str) -> float:
    """WCAG contrast of an element's text against the page."""
    return float(page.ask(f"{_CONTRAST}({json.dumps(selector)})"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_is_readable_in_light_and_dark_mode(dark: bool, reported: SmallPipeline, page: Page) -> None:
    page.show(file_of(reported), 1200, dark=dark)
    paper = page.ask("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is not dark
    for selector in ("body", ".faint", ".COMPLETED", ".late", "h1", "td a"):
        assert contrast(page, selector) >= 4.5, selector


def test_a_failure_is_shown_with_its_source_line(spark: SparkSession, page: Page, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SOURCE.replace('expect("named"', 'expect_or_fail("named"'))
    small.drop({"id": 1, "at": "2026-01-01T10:00:00Z"})
    with pytest.raises(UpdateFailed):
        small.pipeline.run()
    page.show(file_of(small), 1200)
    assert page.texts("#state") == ["FAILED"]
    (error,) = page.texts("#errors .error")
    assert "expectation `named` (name IS NOT NULL) is not met" in error
    assert [line.strip() for line in page.texts("#errors mark")] == [
        '7  @dlt.table(table_properties={"report.newest": "at"}, name="raw.people")'
    ]
    assert page.texts("tr.member .state.SKIPPED") == ["SKIPPED"] * 3

    small.write("import dlt\n\ndlt.read_nothing()\n")
    with pytest.raises(UpdateFailed):
        small.pipeline.run()
    page.show(file_of(small), 1200)
    assert "read_nothing" in page.texts("#errors .error")[0]
    assert len(page.texts("#updates tbody tr")) == 2
    assert page.texts("#view section p.faint, #view > p.faint") == ["No dataset has run in this update."]
