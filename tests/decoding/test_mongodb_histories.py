"""Random histories of documents through the pipeline: rows, and the versions that each document had.

The records are those of three versions of the connector, over a scripted server (tools/mongodb_histories.py).
"""

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tools.captures import Record
from tools.mongodb_histories import files_of, kind_of

COLUMNS = {
    "_id": "int",
    "name": "string",
    "size.height": "int",
    "size.unit": "string",
    "weight": "double",
}
CONNECTOR = "topic_prefix: server1\nkind: mongodb\ncapture_mode: {}\n"
SEEDS = range(20)
OF_DOCUMENTS = [seed for seed in SEEDS if kind_of(seed)[1] == "pre_image"]
PARTIAL = [seed for seed in SEEDS if seed not in OF_DOCUMENTS]
SHOWN = ("id", "name", "size_height", "size_unit", "weight")
Row = tuple[Any, ...]


def test_one_history_of_partial_updates(tmp_path: Path, spark: SparkSession) -> None:
    check(tmp_path, spark, [0], "change_streams", updates=2)


@pytest.mark.long
def test_all_histories_of_partial_updates(tmp_path: Path, spark: SparkSession) -> None:
    check(tmp_path, spark, PARTIAL, "oplog")


@pytest.mark.long
def test_all_histories_of_whole_documents(tmp_path: Path, spark: SparkSession) -> None:
    check(tmp_path, spark, OF_DOCUMENTS, "change_streams_update_full_with_pre_image")


def check(folder: Path, spark: SparkSession, seeds: Iterable[int], capture_mode: str, updates: int = 3) -> None:
    """Deliver histories in parts, each a table of one pipeline, and compare rows and versions."""
    seeds = list(seeds)
    tables = {
        f"tables/shop/items{seed}.yml": json.dumps({"table": f"shop.items{seed}", "key": ["_id"], "columns": COLUMNS})
        for seed in seeds
    }
    pipeline = CdcPipeline(folder, spark, {"connectors/shop.yml": CONNECTOR.format(capture_mode), **tables})
    parts: list[list[Record]] = [[] for _ in range(updates)]
    for seed in seeds:
        records = captured(seed)
        cuts = sorted(Random(seed).sample(range(1, len(records)), updates - 1))
        for part, start, end in zip(parts, (0, *cuts), (*cuts, len(records)), strict=True):
            part += records[start:end]
    for part in parts:
        pipeline.deliver(part)
        pipeline.update()
    for seed in seeds:
        expected = versions(json.loads(files_of(seed)[1].read_text(encoding="utf-8")))
        where = f"seed {seed}, {kind_of(seed)}"
        assert pipeline.rows(f"silver.items{seed}_rejects", "message") == [], where
        found = pipeline.rows(f"gold.items{seed}_history", "version", *SHOWN)
        by_key = {
            key: [row[1:] for row in rows]
            for key, rows in groupby(sorted(found, key=lambda r: (r[1], r[0])), key=lambda row: row[1])
        }
        assert by_key == {key: every for key, (every, _) in expected.items()}, where
        current = sorted((row for _, row in expected.values() if row), key=repr)
        assert pipeline.rows(f"gold.items{seed}", *SHOWN) == current, where


def captured(seed: int) -> list[Record]:
    """The records of a history, in a topic of its own."""
    with gzip.open(files_of(seed)[0], "rt", encoding="utf-8") as lines:
        return [replace(record, topic=f"{record.topic}{seed}") for record in map(Record.from_line, lines)]


def versions(states: Mapping[str, list[dict[str, Any] | None]]) -> dict[int, tuple[list[Row], Row | None]]:
    """Each document's versions, and its row at the end; equal states in succession are one version."""
    found = {}
    for key, every in states.items():
        rows = [None if document is None else row(document) for document in every]
        distinct = [each for each, _ in groupby(rows)]
        found[int(key)] = ([each for each in distinct if each is not None], distinct[-1])
    return found


def row(document: Mapping[str, Any]) -> Row:
    """The columns of a document."""
    size = document.get("size") or {}
    weight = document.get("weight")
    number = None if weight is None else float(weight["$numberDouble"])
    return (document["_id"], document.get("name"), size.get("height"), size.get("unit"), number)
