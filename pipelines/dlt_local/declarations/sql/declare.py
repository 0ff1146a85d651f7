"""From statements to declarations: each CREATE, FLOW and AUTO CDC says to the registry what a decorator would."""

import re
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from dlt_local.declarations import auto_cdc_decorators, compatibility, decorators
from dlt_local.declarations.registry import current, standing_at
from dlt_local.declarations.sql.columns import ColumnList, column_list
from dlt_local.declarations.sql.reader import Reader, substituted
from dlt_local.declarations.sql.tokens import statements
from dlt_local.errors import DeclarationError

_NO_EFFECT = (("LOCATION",), ("SCHEDULE",), ("TRIGGER",), ("WITH", "ROW", "FILTER"), ("DEFAULT", "COLLATION"))
_REFUSED = re.compile(r"\b(read_files|cloud_files|read_kafka|read_kinesis|read_pubsub|read_pulsar)\s*\(", re.IGNORECASE)


def run_file(file: Path, spark: SparkSession) -> None:
    """Declare what a file's statements declare.

    Raises:
        DeclarationError: a statement is not understood, or refused; with its file and line.
    """
    source = file.read_text(encoding="utf-8")
    settings = _settings(source, str(file))
    source = substituted(source, dict(spark.conf.getAll) | settings, str(file))
    for statement in statements(source):
        reader = Reader(statement, str(file))
        with standing_at(reader.location()):
            _declare(reader, settings)


def _settings(source: str, file: str) -> dict[str, str]:
    """What the file's SET statements say; they hold for the whole file."""
    found = {}
    for statement in statements(source):
        reader = Reader(statement, file)
        if reader.takes("SET"):
            name, equals, value = statement.text(1, len(statement.tokens)).partition("=")
            if not equals:
                raise reader.fault("SET is to be of the form `SET name = value`")
            found[name.strip()] = value.strip().strip("'\"")
    return found


def _declare(reader: Reader, settings: dict[str, str]) -> None:
    if reader.takes("SET"):
        return
    if reader.takes("AUTO", "CDC") or reader.takes("APPLY", "CHANGES"):
        _auto_cdc(reader, None)
    elif reader.takes("CREATE"):
        _create(reader, settings)
    else:
        known = "CREATE TABLE, VIEW or FLOW, AUTO CDC INTO, APPLY CHANGES INTO and SET are"
        raise reader.fault(
            f"a pipeline's statement begins with {reader.next_text()}, which none does", f"{known} known"
        )


def _create(reader: Reader, settings: dict[str, str]) -> None:
    _ = reader.takes("OR", "REFRESH") or reader.takes("OR", "REPLACE")
    if reader.takes("FLOW"):
        _flow(reader)
        return
    words = set()
    known = ("TEMPORARY", "TEMP", "PRIVATE", "STREAMING", "INCREMENTAL", "LIVE", "MATERIALIZED")
    while not reader.is_done and reader.tokens[reader.at].is_word(*known):
        words.add(reader.tokens[reader.at].text.upper())
        reader.at += 1
    if reader.takes("TABLE") or ("MATERIALIZED" in words and reader.takes("VIEW")):
        _table(reader, words, settings)
    elif reader.takes("VIEW"):
        _view(reader, settings)
    else:
        raise reader.fault(f"TABLE, VIEW or FLOW is to stand here, this is {reader.next_text()}")


def _name(reader: Reader) -> str:
    reader.takes("IF", "NOT", "EXISTS")
    return reader.name()


def _table(reader: Reader, words: set[str], settings: dict[str, str]) -> None:
    name = _name(reader)
    listed = _columns(reader)
    streaming = bool(words & {"STREAMING", "INCREMENTAL"})
    comment, properties, partitions, clusters = None, {}, [], []
    while not reader.is_done and not reader.sees("AS"):
        if reader.takes("COMMENT"):
            comment = reader.quoted()
        elif reader.takes("TBLPROPERTIES"):
            properties = reader.properties()
        elif reader.takes("PARTITIONED", "BY"):
            partitions = reader.names()
        elif reader.takes("CLUSTER", "BY"):
            clusters = _clusters(reader)
        elif reader.takes("USING"):
            reader.needs("DELTA")
        else:
            _without_effect(reader)
    query = _query(reader, listed)
    private = bool(words & {"PRIVATE", "TEMPORARY", "TEMP"})
    described = {"comment": comment, "table_properties": properties, "schema": listed.schema, "spark_conf": settings}
    if query is not None:
        decorators.declare_table(
            "streaming table" if streaming else "materialized view",
            listed.attach(query),
            name,
            partition_cols=_plain(partitions),
            cluster_by=_plain(clusters),
            private=private,
            **described,
        )
    elif streaming:
        decorators.create_streaming_table(
            name,
            comment=comment,
            table_properties=properties,
            schema=listed.schema,
            spark_conf=settings,
            partition_cols=_plain(partitions),
            cluster_by=_plain(clusters),
            expect_all=listed.conditions("warn"),
            expect_all_or_drop=listed.conditions("drop"),
            expect_all_or_fail=listed.conditions("fail"),
        )
    else:
        raise reader.fault(f"{name} has no query", "write it behind AS, or say CREATE STREAMING TABLE and add a flow")


def _columns(reader: Reader) -> ColumnList:
    if reader.is_done or reader.tokens[reader.at].text != "(":
        return ColumnList()
    return column_list(reader)


def _clusters(reader: Reader) -> list[str]:
    if reader.takes("AUTO"):
        _notice("cluster_by_auto")
        return []
    return [] if reader.takes("NONE") else reader.names()


def _without_effect(reader: Reader) -> None:
    """Pass a clause by that has no effect here: all up to the next known one."""
    words = next((words for words in _NO_EFFECT if reader.sees(*words)), None)
    if words is None:
        raise reader.fault(f"{reader.next_text()} is no clause of this statement")
    argument = {"LOCATION": "path", "WITH": "row_filter"}.get(words[0])
    if argument is not None:
        _notice(argument)
    else:
        current().notice(f"`{' '.join(words)}` has no effect locally")
    reader.at += len(words)
    known = ("AS", "COMMENT", "TBLPROPERTIES", "PARTITIONED", "CLUSTER", "LOCATION", "WITH", "DEFAULT")
    while not reader.is_done and not (reader.tokens[reader.at].depth == 0 and reader.tokens[reader.at].is_word(*known)):
        reader.at += 1


def _notice(argument: str) -> None:
    told = compatibility.notice(argument)
    assert told is not None, argument
    current().notice(told)


def _plain(columns: list[str]) -> list[str]:
    return [column.strip("`") for column in columns]


def _view(reader: Reader, settings: dict[str, str]) -> None:
    name = _name(reader)
    listed = _columns(reader)
    comment = None
    while not reader.is_done and not reader.sees("AS"):
        if reader.takes("COMMENT"):
            comment = reader.quoted()
        elif reader.takes("TBLPROPERTIES"):
            reader.properties()
        else:
            raise reader.fault(f"{reader.next_text()} is no clause of a view")
    query = _query(reader, listed)
    if query is None:
        raise reader.fault(f"view {name} has no query", "write it behind AS")
    if listed.schema is not None:
        raise reader.fault(f"the columns of view {name} have types", "cast them in the query")
    decorators.temporary_view(name=name.strip("`"), comment=comment, spark_conf=settings)(listed.attach(query))


Query = Callable[[], DataFrame]


def _query(reader: Reader, listed: ColumnList) -> Query | None:
    """What follows AS, up to the statement's end, as a query; the columns renamed as the list says."""
    if not reader.takes("AS"):
        return None
    return _query_of(reader, listed)


def _query_of(reader: Reader, listed: ColumnList) -> Query:
    if reader.is_done:
        raise reader.fault("the query is missing")
    text = reader.statement.text_in_place(reader.at, len(reader.tokens))
    if refused := _REFUSED.search(text):
        location = reader.location()
        message = f"`{refused[1]}` is Databricks' own"
        fix = "declare the read as a view in a Python source file: spark.readStream.format(...)"
        raise DeclarationError("NOT_SUPPORTED_LOCALLY", message, location, fix)

    def query() -> DataFrame:
        return listed.named(current().spark.sql(text))

    return query


def _flow(reader: Reader) -> None:
    name = reader.name()
    comment = reader.quoted() if reader.takes("COMMENT") else None
    reader.needs("AS")
    if reader.takes("AUTO", "CDC"):
        _auto_cdc(reader, name)
        return
    reader.needs("INSERT")
    once = reader.takes("ONCE")
    reader.needs("INTO")
    once = reader.takes("ONCE") or once
    target = reader.name()
    reader.takes("BY", "NAME")
    query = _query_of(reader, ColumnList())
    decorators.append_flow(name=name.strip("`"), target=_target(target), comment=comment, once=once)(query)


def _target(name: str) -> str:
    return name[5:] if name.lower().startswith("live.") else name


_CLAUSES: tuple[tuple[str, ...], ...] = (
    ("KEYS",),
    ("IGNORE", "NULL", "UPDATES"),
    ("WHERE",),
    ("APPLY", "AS", "DELETE", "WHEN"),
    ("APPLY", "AS", "TRUNCATE", "WHEN"),
    ("SEQUENCE", "BY"),
    ("SYSTEM", "SEQUENCE", "BY"),
    ("COLUMNS", "TO", "UPDATE"),
    ("COLUMNS",),
    ("STORED", "AS"),
    ("TRACK", "HISTORY", "ON"),
)


def _auto_cdc(reader: Reader, name: str | None) -> None:
    said: dict[str, object] = {"once": reader.takes("ONCE")}
    reader.needs("INTO")
    said["target"] = _target(reader.name())
    reader.needs("FROM")
    said["source"] = _source(reader)
    while not reader.is_done:
        clause = next((words for words in _CLAUSES if reader.takes(*words)), None)
        if clause is None:
            raise reader.fault(f"{reader.next_text()} is no clause of AUTO CDC")
        _clause(reader, clause, said)
    for needed, words in (("keys", "KEYS"), ("sequence_by", "SEQUENCE BY")):
        if needed not in said:
            raise reader.fault(f"{words} is missing")
    auto_cdc_decorators.apply_changes(**said, flow_name=name)  # type: ignore[arg-type]


def _source(reader: Reader) -> str:
    if not reader.takes("STREAM"):
        return reader.name()
    if not reader.sign("("):
        return reader.name()
    source = reader.name()
    if not reader.sign(")"):
        raise reader.fault(
            "a dataset's name is to stand in STREAM(...)", "give a query a name first: CREATE TEMPORARY VIEW"
        )
    return source


def _clause(reader: Reader, clause: tuple[str, ...], said: dict[str, object]) -> None:
    match clause:
        case ("KEYS",):
            said["keys"] = reader.names()
        case ("IGNORE", *_):
            if reader.takes("ON"):
                _listed(reader, said, "ignore_null_updates_column_list", "ignore_null_updates_except_column_list")
            else:
                said["ignore_null_updates"] = True
        case ("COLUMNS",):
            _listed(reader, said, "column_list", "except_column_list")
        case ("TRACK", *_):
            _listed(reader, said, "track_history_column_list", "track_history_except_column_list")
        case ("STORED", "AS"):
            said["stored_as_scd_type"] = _scd_type(reader)
        case _:
            argument = {
                ("WHERE",): "where",
                ("APPLY", "AS", "DELETE", "WHEN"): "apply_as_deletes",
                ("APPLY", "AS", "TRUNCATE", "WHEN"): "apply_as_truncates",
                ("SEQUENCE", "BY"): "sequence_by",
                ("SYSTEM", "SEQUENCE", "BY"): "system_sequence_by",
                ("COLUMNS", "TO", "UPDATE"): "columns_to_update",
            }[clause]
            said[argument] = reader.until(*_CLAUSES)


def _listed(reader: Reader, said: dict[str, object], chosen: str, excepted: str) -> None:
    if reader.sign("*"):
        reader.needs("EXCEPT")
        said[excepted] = reader.names()
    elif not reader.is_done and reader.tokens[reader.at].text == "(":
        said[chosen] = reader.names()
    else:
        said[chosen] = [part.strip() for part in reader.until(*_CLAUSES).split(",")]


def _scd_type(reader: Reader) -> str:
    if reader.takes("BITEMPORAL"):
        raise DeclarationError(
            "AUTOCDC_BITEMPORAL_NOT_SUPPORTED", "bitemporal targets are not supported", reader.location()
        )
    reader.needs("SCD", "TYPE")
    return reader.until(*_CLAUSES)
