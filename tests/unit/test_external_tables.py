"""Where a table outside of a pipeline lies, and what its files are."""

from pathlib import Path

from dlt_local.spark.external_tables import ExternalTables, registered_name


def test_a_folder_of_tables_is_no_table(tmp_path: Path) -> None:
    for file in ("samples/nyctaxi/trips/1.parquet", "samples/nyctaxi/days/day=1/a.CSV", "lone/_SUCCESS"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "delta/_delta_log").mkdir(parents=True)
    (tmp_path / "rules.jsonl").touch()
    tables = ExternalTables.of({"dlt_local.table.Ref.Rules": str(tmp_path / "rules.jsonl"), "other": "x"}, tmp_path)
    names = (
        "samples.nyctaxi.trips",
        "samples.nyctaxi.days",
        "samples.nyctaxi",
        "samples",
        "lone",
        "delta",
        "ref.rules",
    )
    found = {name: tables.find(tuple(name.split("."))) for name in (*names, "no.such")}
    assert {name: None if table is None else table.format for name, table in found.items()} == {
        "samples.nyctaxi.trips": "parquet",
        "samples.nyctaxi.days": "csv",
        "samples.nyctaxi": None,
        "samples": None,
        "lone": None,
        "delta": "delta",
        "ref.rules": "json",
        "no.such": None,
    }
    assert tables.find(("delta", str(tmp_path / "delta"))) is None


def test_two_names_are_registered_as_two() -> None:
    names = [("a", "b-c"), ("a", "b_c"), ("a.b", "c"), ("a_b", "c")]
    assert len({registered_name(name) for name in names}) == 4
    assert all(registered_name(name).table.isidentifier() for name in names)
