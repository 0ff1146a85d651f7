"""Specs scaffolded from the real connector's records with schema blocks: they are sound, and read these records."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession
from tests.decoding.postgresql.expected import Source
from tests.decoding.test_postgresql_types import TYPES, decoded, faults_of
from tests.support.conf_folder import write_conf
from tools.captures import Record
from tools.postgresql_connector.types import VERSIONS, Modes, Version, capture_file, combinations

from cdc.__main__ import cdc
from cdc.spec.kinds import KINDS
from cdc.spec.load import load_tables
from cdc.spec.model import TableSpec

KIND = KINDS["postgresql"]
NEWEST = VERSIONS[0]
PRECISE, AS_TEXT = combinations(NEWEST)[:2]
"""The modes whose captures have schema blocks: `adaptive`, `precise`, `bytes`, `numeric`, `json`, and
`adaptive_time_microseconds`, `string`, `base64`, `string`, `map`."""
RUNS = [(version, modes) for version in VERSIONS for modes in (PRECISE, AS_TEXT)]
VECTORS = ("c_vector", "c_halfvec", "c_sparsevec")


def names(run: object) -> str:
    return run.decimal if isinstance(run, Modes) else str(run)


def lines_of(version: Version, modes: Modes) -> list[str]:
    """The records of a run."""
    with gzip.open(capture_file(version, with_schema=True), "rt", encoding="utf-8") as lines:
        return [line for line in lines if json.loads(line)["topic"].startswith(f"{modes.prefix}.public.")]


def run(*words: object) -> Result:
    return CliRunner().invoke(cdc, list(map(str, words)), catch_exceptions=False)


def scaffolded(folder: Path, version: Version, modes: Modes) -> tuple[Path, Path]:
    """A capture of a run alone, and a conf folder made from it."""
    capture, conf = folder / "records.jsonl", folder / "conf"
    folder.mkdir(exist_ok=True)
    capture.write_text("".join(lines_of(version, modes)), encoding="utf-8")
    made = run("scaffold", "--connector", "shop", "--capture", capture, "--write", conf)
    assert made.exit_code == 0, made.output
    return capture, conf


def table_in(conf: Path) -> TableSpec:
    """The spec of the table of all types."""
    (spec,) = (each for each in load_tables(conf) if each.name == "types")
    return spec


def assert_no_differences(capture: Path, conf: Path) -> None:
    compared = run("scaffold", "--connector", "shop", "--capture", capture, "--diff", "--conf", conf)
    assert compared.output == f"0 differences between the source and {conf}\n"


@pytest.mark.parametrize(("version", "modes"), RUNS, ids=names)
def test_scaffolded_specs_have_no_faults_and_no_differences(tmp_path: Path, version: Version, modes: Modes) -> None:
    capture, conf = scaffolded(tmp_path, version, modes)
    checked = run("check", conf, "--records", capture)
    assert checked.exit_code == 0, checked.output
    assert_no_differences(capture, conf)


@pytest.mark.parametrize(("version", "modes"), RUNS, ids=names)
def test_a_spec_with_the_types_of_the_ddl_has_no_differences(tmp_path: Path, version: Version, modes: Modes) -> None:
    """A schema block does not tell numeric from text, for example: the spec's type counts, with the spec's modes."""
    capture, conf = scaffolded(tmp_path, version, modes)
    spec = table_in(conf)
    # 1.x writes the text of a vector, which no spec can read as one.
    unlike = VECTORS if version != NEWEST else ()
    of_ddl = {each.name: TYPES.get(each.name, str(each.type)) for each in spec.columns if each.name not in unlike}
    left_out = {name: {"exclude": True} for name in (*unlike, "a_ltree")}
    connector = {
        "topic_prefix": modes.prefix,
        "kind": "postgresql",
        "time_precision_mode": modes.temporal,
        "decimal_handling_mode": modes.decimal,
        "binary_handling_mode": modes.binary,
        "interval_handling_mode": modes.interval,
        "hstore_handling_mode": modes.hstore,
    }
    types = {"table": spec.source, "key": ["id"], "columns": of_ddl | left_out}
    files = {"connectors/shop.yml": json.dumps(connector), "tables/shop/types.yml": json.dumps(types)}
    assert_no_differences(capture, write_conf(conf, files))


def test_a_type_that_the_mode_of_the_spec_does_not_write_is_a_difference(tmp_path: Path) -> None:
    capture, conf = scaffolded(tmp_path, NEWEST, AS_TEXT)
    file = conf / "tables/shop/types.yml"
    file.write_text(file.read_text().replace("c_numeric_6_3: text", 'c_numeric_6_3: "numeric(6,3)"'))
    compared = run("scaffold", "--connector", "shop", "--capture", capture, "--diff", "--conf", conf)
    assert "column `c_numeric_6_3` is text in the source and numeric(6,3) in the spec" in compared.output
    assert compared.output.endswith(f"1 difference between the source and {conf}\n")


def test_modes_that_blocks_show_are_written_and_what_they_do_not_show_is_said(tmp_path: Path) -> None:
    written = {}
    for modes in (PRECISE, AS_TEXT):
        _, conf = scaffolded(tmp_path / modes.decimal, NEWEST, modes)
        connector = (conf / "connectors/shop.yml").read_text().splitlines()[2:]
        comments = [line for line in (conf / "tables/shop/types.yml").read_text().splitlines() if line.startswith("# ")]
        written[modes] = connector, [comment.partition(":")[0] for comment in comments[1:]]
    less = "# Types are from records' schema blocks, which tell less than the DDL (varchar, citext, time(0))"
    assert written == {
        PRECISE: (["kind: postgresql", "unavailable: merge"], [less]),
        AS_TEXT: (
            ["kind: postgresql", "interval_handling_mode: string", "hstore_handling_mode: map", "unavailable: merge"],
            [
                less,
                "# A text may be a numeric or money if the connector has decimal.handling.mode=string",
                "# A double precision may be a numeric or money if the connector has decimal.handling.mode=double",
                "# A text may be a bytea if the connector has another binary.handling.mode than bytes",
            ],
        ),
    }


@pytest.mark.parametrize(
    ("version", "modes"),
    [pytest.param(*each, marks=[] if each == (NEWEST, AS_TEXT) else [pytest.mark.long]) for each in RUNS],
    ids=names,
)
def test_scaffolded_specs_read_the_records(tmp_path: Path, spark: SparkSession, version: Version, modes: Modes) -> None:
    """Only what no type can hold is a reject; a column whose type is that of the DDL has the database's values."""
    _, conf = scaffolded(tmp_path, version, modes)
    spec = table_in(conf)
    types = {each.name: str(each.type) for each in spec.columns}
    of_ddl = {name: type_ for name, type_ in TYPES.items() if name in types and same(types[name], type_)}
    assert len(of_ddl) > 40
    records = [each for each in map(Record.from_line, lines_of(version, modes)) if each.topic == spec.topic]
    found = decoded(spark, spec, records)
    source = Source(version, modes)
    faults = [
        fault
        for got, record in zip(found, records, strict=True)
        for fault in faults_of(got, record, source, {**types, **of_ddl}, of_ddl)
    ]
    assert not faults, "\n".join(faults[:40])
    rejects = [got._partition for got in found if got._outcome != "change"]
    assert len(rejects) < len(records) // 2


def same(written: str, type_: str) -> bool:
    return str(KIND.parse_type(written)[0]) == str(KIND.parse_type(type_)[0])
