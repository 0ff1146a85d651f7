"""The engine's JSON files: a damaged one is an error that names the file, what it is for, and what to do."""

from pathlib import Path

import pytest

from dlt_local.delta.storage import Storage, StorageFileDamaged, read_json, read_json_if_intact, write_json
from dlt_local.names import TableName

DAMAGES = {
    "": "it is empty",
    '{"a": ': "it is not valid JSON",
    "[1]": "it is not a JSON object",
    "\x00\x00": "it is not valid JSON",
    "{}": "it lacks a",
}
REBUILD = "restore the folder from a copy as old as the table, or rebuild it with --rebuild default.orders"
MEANINGS = {
    "progress/default.orders.json": (
        "what the last update of default.orders has read",
        "delete it: the next update continues from the checkpoints and writes it again",
    ),
    "auto_cdc/default.orders/log/parts.json": ("a part of the auxiliary state", REBUILD),
    "auto_cdc/default.orders/begun.json": ("a part of the auxiliary state", REBUILD),
    "checkpoints/default.orders/first/app.json": ("the identity of flow `first`", REBUILD),
    "checkpoints/default.orders/first/kafka.json": ("the topics of flow `first`", REBUILD),
    "rebuild.json": ("a rebuild that was not finished", "delete it, then run the same --rebuild again"),
    "seals/default.orders.json": (
        "how far the auxiliary state of default.orders has come",
        "delete it: the next batch writes it again",
    ),
    "resets/default.orders.json": (
        "a full refresh of default.orders that was not finished",
        "delete it, then run --full-refresh default.orders",
    ),
    "maintenance/default.orders.json": (
        "when the table was last maintained",
        "delete it: maintenance starts again",
    ),
    "report/history.json": ("the earlier updates that the report shows", "delete it: the report starts again"),
}


@pytest.mark.parametrize(("content", "what"), DAMAGES.items())
def test_every_kind_of_damage_has_its_words(tmp_path: Path, content: str, what: str) -> None:
    file = tmp_path / "progress" / "default.orders.json"
    file.parent.mkdir()
    file.write_text(content)
    with pytest.raises(StorageFileDamaged) as damaged:
        read_json(file, "a")
    assert damaged.value.what == what
    if content != "{}":
        assert read_json_if_intact(file) is None


@pytest.mark.parametrize(("name", "meaning"), MEANINGS.items())
def test_every_file_has_its_meaning_and_its_way_out(tmp_path: Path, name: str, meaning: tuple[str, str]) -> None:
    file = tmp_path / "system" / name
    write_json(file, {})
    file.write_text("{")
    with pytest.raises(StorageFileDamaged) as damaged:
        read_json(file)
    holds, fix = meaning
    assert str(damaged.value) == (
        f"STORAGE_FILE_DAMAGED  {file}\n  it is not valid JSON; the file holds {holds}\n  fix: {fix}"
    )
    assert file in Storage(tmp_path).files()


def test_a_full_refresh_that_cannot_be_read_names_itself(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    write_json(storage.resets / "default.orders.json", {"address": []})
    with pytest.raises(StorageFileDamaged, match=r"it lacks private, table(.|\n)*--full-refresh default\.orders"):
        storage.finish_resets()


def test_a_full_refresh_removes_the_seal(tmp_path: Path) -> None:
    storage, target = Storage(tmp_path), TableName("default", "orders")
    write_json(storage.seal(target), {})
    storage.reset(target)
    assert not storage.seal(target).exists()
