"""Specs of MongoDB's collections: paths as columns, the scaffold, the check of a connector, the pages about it."""

import gzip
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.conf_folder import one_faulty, one_table, write_conf
from tools.mongodb_captures import capture_file

from cdc.connector_check.config import Config
from cdc.connector_check.fitting_spec import fitting_spec
from cdc.connector_check.rules import advice
from cdc.spec.kinds import KINDS
from cdc.spec.load import read_conf
from cdc.spec.scaffold_command import scaffold

CONNECTOR = "topic_prefix: server1\nkind: mongodb\n"
PAGE = Path(__file__).parents[2] / "docs" / "connectors" / "mongodb.md"
TABLE = """
    table: shop.orders
    key: [_id]
    document: whole
    columns:
      _id: objectid
      address.city: varchar
      address.geo.lat: double
      total: {type: "decimal(18,2)", rename: amount}
"""


def test_columns_are_named_by_their_paths(tmp_path: Path) -> None:
    table = one_table(tmp_path, TABLE, connector=CONNECTOR)
    assert [(column.name, str(column.type), column.target) for column in table.columns] == [
        ("_id", "objectid", "id"),
        ("address.city", "string", "address_city"),
        ("address.geo.lat", "double", "address_geo_lat"),
        ("total", "decimal(18,2)", "amount"),
        ("$", "json", "whole"),
    ]
    assert (table.key, table.topic) == (("id",), "server1.shop.orders")
    assert not table.has_partial_changes


def test_columns_may_be_left_out_where_updates_are_partial(tmp_path: Path) -> None:
    table = one_table(tmp_path, TABLE, connector=f"{CONNECTOR}capture_mode: change_streams\n")
    assert [column.name for column in table.columns if column.may_be_left_out] == [
        "address.city",
        "address.geo.lat",
        "total",
        "$",
    ]


@pytest.mark.parametrize(
    ("line", "condition", "fix"),
    [
        ("  address_city: string", "DUPLICATE_COLUMN", "rename: address_city_2"),
        ("  n: nvarchar", "BAD_TYPE", "string, int, long"),
        ("  whole: string", "DUPLICATE_COLUMN", "document: whole_2"),
    ],
    ids=["two of one name", "a type of another database", "the document's name"],
)
def test_faults(tmp_path: Path, line: str, condition: str, fix: str) -> None:
    (fault,) = one_faulty(tmp_path, f"{TABLE}    {line}\n", connector=CONNECTOR).faults
    assert fault.condition.name == condition
    assert fix in str(fault)


@pytest.mark.parametrize(
    ("key", "detail"),
    [
        ("key: [name]", "key column `name` is not of the key of a document: MongoDB identifies documents by `_id`"),
        ("append_only: true", "`append_only` is for rows without a key: MongoDB identifies documents by `_id`"),
    ],
    ids=["another column", "none"],
)
def test_no_other_key_identifies_a_document(tmp_path: Path, key: str, detail: str) -> None:
    table = f"table: shop.orders\n{key}\ncolumns: {{_id: int, name: string}}\n"
    (fault,) = [each for each in one_faulty(tmp_path, table, connector=CONNECTOR).faults if each.severity == "error"]
    assert fault.condition.name == "MISPLACED_FIELD"
    assert fault.detail == f"{detail}, and a delete has nothing else"


def test_a_key_may_be_of_parts_of_the_documents_key(tmp_path: Path) -> None:
    table = "table: shop.orders\nkey: [_id.region, _id.nr]\ncolumns: {_id.region: string, _id.nr: long}\n"
    assert one_table(tmp_path, table, connector=CONNECTOR).key == ("id_region", "id_nr")


def test_a_document_is_for_documents(tmp_path: Path) -> None:
    table = "table: shop.dbo.orders\nkey: [id]\ndocument: whole\ncolumns: {id: int}\n"
    (fault,) = one_faulty(tmp_path, table).faults
    assert (fault.condition.name, fault.detail) == (
        "MISPLACED_FIELD",
        "`document` is for rows that are documents; those of SQL Server are not",
    )


def test_a_scaffold_has_the_paths_of_the_documents(tmp_path: Path) -> None:
    capture, conf = tmp_path / "orders.jsonl", tmp_path / "conf"
    with gzip.open(capture_file("3.6.1.Final", with_schema=True), "rt", encoding="utf-8") as lines:
        capture.write_text("".join(line for line in lines if '"partial.server1.' in line), encoding="utf-8")
    run = CliRunner().invoke(scaffold, ["--capture", str(capture), "--connector", "shop", "--write", str(conf)])
    assert run.exit_code == 0, run.output
    assert (conf / "connectors/shop.yml").read_text(encoding="utf-8").splitlines()[1:] == [
        "topic_prefix: partial.server1",
        "kind: mongodb",
        "capture_mode: change_streams",
    ]
    assert (conf / "tables/shop/orders.yml").read_text(encoding="utf-8").splitlines()[2:] == [
        "table: shop.orders",
        "key: [_id]",
        "columns:",
        "  _id: int not null",
        "  name: string",
        '  "address.city": string',
        '  "address.zip": string',
        "  tags: json",
        "  total: decimal128",
    ]
    assert read_conf(conf).faults == ()
    # What the scaffold has made is no difference.
    same = CliRunner().invoke(
        scaffold, ["--capture", str(capture), "--connector", "shop", "--diff", "--conf", str(conf)]
    )
    assert same.exit_code == 0, same.output


def test_a_connector_is_checked_by_its_capture_mode() -> None:
    settings = {
        "connector.class": KINDS["mongodb"].connector_class,
        "topic.prefix": "server1",
        "capture.mode": "change_streams",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    levels = {each.setting: each.level.name for each in advice(Config(settings))}
    assert (levels["capture.mode"], levels["key.converter"]) == ("RISK", "LOST")
    assert fitting_spec(Config(settings)) == "topic_prefix: server1\nkind: mongodb\ncapture_mode: change_streams\n"


def test_the_pages_examples_are_a_sound_conf_folder(tmp_path: Path) -> None:
    examples = dict(re.findall(r"```yaml\n# conf/(\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    conf = read_conf(write_conf(tmp_path, examples))
    assert conf.faults == ()
    assert [table.name for table in conf.tables] == ["customers"]
