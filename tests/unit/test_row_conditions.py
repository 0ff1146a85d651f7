"""What the pipeline's declarations say about changes that a filter or an expectation concerns."""

from tests.support.tables import column, table

from cdc import expectations, known_values, removes_row

COLUMNS = {"id": "int not null", "region": "nvarchar(2)"}
OUTSIDE = "(_op IN ('c', 'u', 'r') AND NOT coalesce((\nregion = 'EU'\n), false))"


def test_only_deletes_remove_a_row_by_default() -> None:
    assert removes_row(table(COLUMNS)) == "_op = 'd'"


def test_a_change_outside_the_filter_removes_its_row_too() -> None:
    assert removes_row(table(COLUMNS, filter="region = 'EU'")) == f"_op = 'd' OR {OUTSIDE}"


def test_a_soft_delete_removes_nothing() -> None:
    assert removes_row(table(COLUMNS, deletes="soft")) is None
    assert removes_row(table(COLUMNS, deletes="soft", filter="region = 'EU'")) == OUTSIDE


def test_only_changes_with_a_row_inside_the_filter_are_dropped_or_fail() -> None:
    spec = table(
        COLUMNS,
        filter="region = 'EU'",
        expectations={"a": "id > 0", "b": "id > 1", "c": "id > 2"},
        actions={"b": "drop", "c": "quarantine"},
    )
    assert expectations(spec, "warn") == {"a": "id > 0"}
    assert expectations(spec, "drop") == {
        "b": "NOT (_op IN ('c', 'u', 'r')) OR NOT coalesce((\nregion = 'EU'\n), false) OR (\nid > 1\n)"
    }
    assert expectations(spec, "fail") == {}


def test_a_create_without_a_value_that_the_log_should_have_is_noticed() -> None:
    large = {**COLUMNS, "note": column("note", "nvarchar(max)", target="it's", unavailable="merge")}
    (condition,) = known_values(table(large)).values()
    assert condition == "_op <> 'c' OR size(array_except(array('it\\'s'), _columns_to_update)) = 0"
    assert known_values(table(COLUMNS)) == {} == known_values(table(large, append_only=True))
