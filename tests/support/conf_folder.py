"""Write and read a test's conf folder: a mapping from paths to texts."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

from cdc.spec.load import Conf as Conf
from cdc.spec.load import load_tables, read_conf
from cdc.spec.model import TableSpec

CONNECTOR = "topic_prefix: shopserver\n"


def write_conf(conf: Path, files: Mapping[str, str]) -> Path:
    """Write files by their path in the folder; a connector `shop` is added unless the files have one."""
    if not any(name.startswith("connectors/") for name in files):
        files = {"connectors/shop.yml": CONNECTOR, **files}
    for name, text in files.items():
        (conf / name).parent.mkdir(parents=True, exist_ok=True)
        (conf / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return conf


def one_table(conf: Path, table: str, **others: str) -> TableSpec:
    """The spec of a valid folder's one table; ``others`` are `connector=` and `defaults=` texts."""
    (spec,) = load_tables(write_conf(conf, _files(table, others)))
    return spec


def one_faulty(conf: Path, table: str, **others: str) -> Conf:
    """A folder with one table, read with its faults."""
    return read_conf(write_conf(conf, _files(table, others)))


def _files(table: str, others: Mapping[str, str]) -> dict[str, str]:
    paths = {"connector": "connectors/shop.yml", "defaults": "defaults.yml"}
    return {"tables/shop/orders.yml": table} | {paths[name]: text for name, text in others.items()}
