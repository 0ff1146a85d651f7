"""Conf folders for tests, from texts."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

from cdc.spec.load import Conf as Conf
from cdc.spec.load import load_tables, read_conf
from cdc.spec.model import TableSpec

CONNECTOR = "topic_prefix: shopserver\n"


def write_conf(conf: Path, files: Mapping[str, str]) -> Path:
    """Write files by their path in the folder; the connector `shop` is there unless the files have one."""
    if not any(name.startswith("connectors/") for name in files):
        files = {"connectors/shop.yml": CONNECTOR, **files}
    for name, text in files.items():
        (conf / name).parent.mkdir(parents=True, exist_ok=True)
        (conf / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return conf


def one_table(conf: Path, table: str, **others: str) -> TableSpec:
    """The spec of the one table of a sound folder; ``others`` are `connector=` and `defaults=` texts."""
    (spec,) = load_tables(write_conf(conf, _files(table, others)))
    return spec


def one_faulty(conf: Path, table: str, **others: str) -> Conf:
    """What is said of a folder with one table."""
    return read_conf(write_conf(conf, _files(table, others)))


def _files(table: str, others: Mapping[str, str]) -> dict[str, str]:
    places = {"connector": "connectors/shop.yml", "defaults": "defaults.yml"}
    return {"tables/shop/orders.yml": table} | {places[name]: text for name, text in others.items()}
