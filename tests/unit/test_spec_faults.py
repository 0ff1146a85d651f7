"""Every fault of a conf folder, word for word.

A case is a file of spec_faults/: why it matters, the conf folder's files, and what `check` reports.
`UPDATE_GOLDEN=1 pytest tests/unit/test_spec_faults.py` rewrites the reports; review their diff.
"""

import importlib
import inspect
import os
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.conf_folder import write_conf

import cdc
from cdc.errors import CdcError, Condition, Diagnostic, SpecError, in_reading_order
from cdc.spec.bundle_settings import bundle_faults
from cdc.spec.captures import captured_records
from cdc.spec.load import Conf, load_tables, read_conf
from cdc.spec.sql_check import check_sql
from cdc.spec.topics import topic_faults

CASES = {path.stem: path for path in sorted((Path(__file__).parent / "spec_faults").glob("*.txt"))}
REPORTED = "=== reported\n"
FILE = re.compile(r"^--- conf/(\S+)\n(.*?)(?=^--- conf/|\Z)", re.MULTILINE | re.DOTALL)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Writes the files of the case named by the parameter; returns the expected report."""
    case, _, expected = CASES[request.param].read_text(encoding="utf-8").partition(REPORTED)
    write_conf(tmp_path / "conf", dict(FILE.findall(case)))
    monkeypatch.chdir(tmp_path)
    return str(expected)


@pytest.mark.parametrize(("written", "name"), [(name, name) for name in CASES], indirect=["written"], ids=CASES)
def test_each_fault_is_reported_with_place_value_and_fix(written: str, name: str) -> None:
    conf = read_conf("conf", checks=[check_sql])
    found = (*conf.faults, *conf.warnings, *in_reading_order(beside_the_specs(conf)))
    reported = "\n\n".join(map(str, found)) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        case = CASES[name].read_text(encoding="utf-8").partition(REPORTED)[0]
        CASES[name].write_text(f"{case}{REPORTED}{reported}", encoding="utf-8")
        written = reported
    assert reported == written
    assert name == "twelve_at_once" or name.upper() in {each.condition.name for each in found}


def beside_the_specs(conf: Conf) -> Iterator[Diagnostic]:
    """What `check` finds in the captures and the bundle that a case has in its folder."""
    if (captures := Path("conf/captures")).is_dir():
        topics = {record["topic"] for record in captured_records([captures])}
        yield from topic_faults(conf, topics, f"in {captures}")
    if Path("conf/databricks.yml").exists():
        yield from bundle_faults(Path("conf"))


def test_every_condition_has_a_case() -> None:
    assert CASES.keys() - {"twelve_at_once"} == {condition.name.lower() for condition in Condition}


@pytest.mark.parametrize("written", ["twelve_at_once"], indirect=True)
def test_twelve_faults_are_reported_at_once(written: str) -> None:
    with pytest.raises(SpecError) as raised:
        load_tables("conf")
    assert str(raised.value).startswith("the conf folder has 12 faults\n\nUNKNOWN_FIELD  conf/connectors")
    assert [str(fault.location) for fault in raised.value.diagnostics] == [
        "conf/connectors/shop.yml:2:1",  # snapshot_mode is not a field
        "conf/connectors/shop.yml:3:10",  # schemas: sometimes
        "conf/defaults.yml:1:10",  # history: off
        "conf/tables/shop/customers.yml:2:7",  # custmer_id
        "conf/tables/shop/customers.yml:3:35",  # nvarchr(80)
        "conf/tables/shop/customers.yml:3:48",  # _op
        "conf/tables/shop/lines.yml:3:8",  # the bracket of line 2
        "conf/tables/shop/orders.yml:3:27",  # decimal(18,2) inside braces
        "conf/tables/shop/orders.yml:4:1",  # histroy
        "conf/tables/shop/orders_again.yml:1:1",  # no key
        "conf/tables/shop/orders_again.yml:1:8",  # shop.dbo.orders again
        "conf/tables/shop/orders_again.yml:4:22",  # 1 hour
    ]


@pytest.mark.parametrize("written", ["secret_in_spec"], indirect=True)
def test_a_secret_is_shown_nowhere(written: str) -> None:
    faults = read_conf("conf").faults
    assert [fault.condition for fault in faults].count(Condition.SECRET_IN_SPEC) == 5
    assert "hunter2" not in repr(faults) + written
    assert "2718281828" not in repr(faults) + written


def test_a_secret_in_broken_yaml_is_shown_nowhere(tmp_path: Path) -> None:
    text = "topic_prefix: shopserver\npassword: *hunter2\n"
    conf = write_conf(tmp_path, {"connectors/shop.yml": text})
    (fault,) = read_conf(conf).faults
    assert fault.condition is Condition.BROKEN_YAML
    assert "hunter2" not in repr(fault)


def test_a_reference_to_a_secret_is_not_a_secret_but_does_not_belong_in_a_spec(tmp_path: Path) -> None:
    text = 'topic_prefix: shopserver\npassword: "{{secrets/kafka/password}}"\n'
    (fault,) = read_conf(write_conf(tmp_path, {"connectors/shop.yml": text})).faults
    assert fault.condition is Condition.UNKNOWN_FIELD


def test_every_error_of_cdc_has_one_root() -> None:
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(cdc.__path__, "cdc.")]
    classes = {each for module in modules for _, each in inspect.getmembers(module, inspect.isclass)}
    errors = {each for each in classes if issubclass(each, Exception) and each.__module__.startswith("cdc.")}
    assert {each.__name__ for each in errors if not issubclass(each, CdcError | Warning)} == set()
    assert SpecError in errors
