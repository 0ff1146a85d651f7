"""What sdp-meta's files cannot say of a spec: settings that only the spec has, and tables that would become others."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cdc import names
from cdc.errors import Diagnostic, RunCondition
from cdc.interop.texts import silver_table
from cdc.spec.columns import excluded_columns
from cdc.spec.document import ValuePath
from cdc.spec.load import Conf
from cdc.spec.model import TableSpec
from cdc.spec.reading import Fault, Reading, listed
from cdc.spec.table import ReadTable

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_IN_THE_FILES = {
    *("table", "key", "columns", "name", "history", "expectations", "comment", "cluster_by", "topic", "append_only"),
    *("tombstone_retention", "allow_short_retention", "topic_prefix", "topic_pattern", "within_transaction", "kind"),
    *("deletes", "into", "target_schemas", "table_properties", "gold"),
}
"""Fields whose values are in the files, and those that are looked at one by one."""
_IN_THE_FILES_OF_A_COLUMN = {"type"}
_DECODED = {
    *("computed", "shared_topic", "physical_table", "unavailable", "large_nulls", "on_missing", "overflow"),
    *("datetime_zone", "rename", "nullable", "exclude", "mask", "keep_offset", "filter", "incarnation", "restored_at"),
    *("reads_without_position", "time_precision_mode", "decimal_handling_mode", "binary_handling_mode"),
    *("decimal_format", "schemas", "shape", "flat_prefix", "placeholder"),
}
"""Fields that are in no file, and that `decode_bronze` follows all the same."""


def losses(conf: Conf, tables: Iterable[ReadTable]) -> Iterator[Diagnostic]:
    """A warning for each setting of the exported tables and of their connectors that no file of an export has."""
    exported = list(tables)
    connectors = {table.spec.connector.name for table in exported if table.spec}
    readings = [each.reading for each in conf.read_connectors if each.name in connectors]
    for reading in [*([conf.defaults] if conf.defaults else []), *readings]:
        yield from map(reading.diagnostic, (*_of_fields(reading, reading.data), *_of_gold(reading)))
    for reading in readings:
        if "within_transaction" in reading.data and not any(table.spec.key for table in exported if table.spec):
            yield reading.diagnostic(_only_decoded(("within_transaction",), "`within_transaction`"))
    for table in exported:
        yield from map(table.reading.diagnostic, _of_table(table))


def why_left_out(tables: Iterable[ReadTable]) -> Mapping[str, Diagnostic]:
    """File of a table -> why sdp-meta would make other rows of it than we do."""
    found: dict[str, Diagnostic] = {}
    first_with: dict[str, TableSpec] = {}
    for table in tables:
        if table.spec:
            fault = next(_other_rows(table.spec), None) or _same_name(table.spec, first_with)
            if fault:
                found[table.reading.document.file] = table.reading.diagnostic(fault)
    return found


def _other_rows(table: TableSpec) -> Iterator[Fault]:
    if table.into:
        detail = f"it flows into `{table.into.table}` with other tables; an export has one data flow for each target"
        yield _left_out(("into",), detail, "keep it here, or give it a target of its own.")
    if table.keeps_deleted:
        detail = "`deletes: soft` needs changes that leave columns as they are; sdp-meta would set them to null"
        yield _left_out(("deletes",), detail, "keep it here, or write `deletes: hard`.")
    if table.merges:
        detail = (
            f"changes may leave {listed([f'`{each.target}`' for each in table.columns if each.merges])} as they are"
            " (`unavailable: merge`, `large_nulls: unchanged`); sdp-meta would set them to null"
        )
        yield _left_out(("columns",), detail, "keep it here, or write `as_null` in place of both.")
    if bad := [name for name in table.key if not _KEY.fullmatch(name)]:
        detail = f"sdp-meta refuses the key {listed([f'`{name}`' for name in bad])}: letters, digits and `_` only"
        yield _left_out(("key",), detail, "give the column such a name with `rename:`.", bad[0])


def _same_name(table: TableSpec, first_with: dict[str, TableSpec]) -> Fault | None:
    silver = silver_table(table)
    first = first_with.setdefault(silver, table)
    if first is table:
        return None
    detail = f"`{first.source}` has a table `{silver}` in silver too; sdp-meta knows transformations by this name"
    return _left_out(("name",), detail, "give one of the two another `name:`.", silver)


def _of_table(table: ReadTable) -> Iterator[Fault]:
    reading, spec = table.reading, table.spec
    assert spec is not None
    yield from _of_fields(reading, reading.data)
    yield from _of_columns(reading)
    if not spec.append_only:
        tables = [names.rows_dataset(spec), *([names.history_dataset(spec)] if spec.history else [])]
        detail = f"{' and '.join(tables)} {'are' if len(tables) > 1 else 'is'} in no file: sdp-meta ends at silver"
        rows = f"{names.versions_dataset(spec)}{' where __END_AT is null' if spec.history else ''}"
        yield _lost(("gold",) if "gold" in reading.data else ("table",), detail, f"select current rows from {rows}.")
    yield from _of_gold(reading)
    for name in spec.expected("drop"):
        detail = f"`{name}` drops a change before bronze has it, and its record with it; here bronze has every record"
        yield _lost(("expectations", name), detail, "`action: quarantine` keeps the record.")


def _of_fields(reading: Reading, data: Mapping[str, object]) -> Iterator[Fault]:
    for field in data:
        if field in _DECODED:
            # A table's filter removes rows by `apply_as_deletes`, which is in the files.
            if field != "filter" or data.get("append_only"):
                yield _only_decoded((field,), f"`{field}`")
        elif field not in _IN_THE_FILES and field != "filter":
            yield _lost((field,), f"`{field}` has no place in sdp-meta's files", "do without it there.")


def _of_columns(reading: Reading) -> Iterator[Fault]:
    """One warning for each option, with the columns that have it."""
    with_option: dict[str, list[str]] = {}
    for name, stated in reading.data["columns"].items():
        for option in stated if isinstance(stated, dict) else ():
            if option not in _IN_THE_FILES_OF_A_COLUMN and (
                option == "exclude" or name not in excluded_columns(reading)
            ):
                with_option.setdefault(option, []).append(name)
    for option, columns in with_option.items():
        path, what = ("columns", columns[0], option), f"`{option}` of {_columns(columns)}"
        if option in _DECODED:
            yield _only_decoded(path, what)
        else:
            yield _lost(path, f"{what} has no place in sdp-meta's files", "do without it there.")


def _of_gold(reading: Reading) -> Iterator[Fault]:
    """What a file sets for gold, whose tables sdp-meta does not make."""
    for field in ("target_schemas", "table_properties"):
        if "gold" in reading.data.get(field, {}):
            yield _lost(
                (field, "gold"), f"`gold` of `{field}` has no place in sdp-meta's files", "do without it there."
            )


def _only_decoded(path: ValuePath, what: str) -> Fault:
    detail = f"{what} is in no file; `decode_bronze` follows the spec, and an import could not bring it back"
    return _lost(path, detail, "keep the conf folder with the pipeline, and edit it there.")


def _lost(path: ValuePath, detail: str, fix: str) -> Fault:
    return Fault(RunCondition.NOT_EXPORTED, path, detail, fix, of_key=True, severity="warning")


def _left_out(path: ValuePath, detail: str, fix: str, value: str | None = None) -> Fault:
    return Fault(RunCondition.TABLE_NOT_EXPORTED, path, f"left out: {detail}", fix, value=value)


def _columns(columns: Sequence[str]) -> str:
    return f"column{'s' if len(columns) > 1 else ''} {listed([f'`{name}`' for name in columns])}"
