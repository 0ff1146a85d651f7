"""Checks across the tables of a conf folder: no dataset is written twice, no topic is read twice."""

from collections.abc import Iterable, Sequence

from cdc import names
from cdc.debezium.events import event_kinds
from cdc.errors import Condition
from cdc.spec.document import ValuePath
from cdc.spec.into_faults import check_sources
from cdc.spec.model import ConnectorSpec
from cdc.spec.reading import Fault
from cdc.spec.table import ReadTable


def check_tables(tables: Sequence[ReadTable], connectors: Iterable[ConnectorSpec] = ()) -> None:
    """Report tables that write the same dataset, or a connector's, or read the same topic without declaring it."""
    _check_datasets(tables)
    for connector in connectors:
        _check_against(connector, tables)
    _check_topics(tables)
    check_sources(tables)


def _check_datasets(tables: Iterable[ReadTable]) -> None:
    first_with: dict[str, ReadTable] = {}
    for table in tables:
        if len(set(table.datasets)) < len(table.datasets):
            _layers_in_one_schema(table)
        clashes = [(dataset, first_with.setdefault(dataset, table)) for dataset in table.datasets]
        dataset, first = next((clash for clash in clashes if not _may_share(table, *clash)), (None, table))
        if dataset:
            table.reading.report(
                Fault(
                    Condition.DUPLICATE_TABLE_NAME,
                    _named_by(table, dataset),
                    f"`{table.name}` would write {dataset}, which `{first.name}` also writes ({_where(first)})",
                    "rename one of the two: `name:` for all of its datasets, `gold:` for those of gold.",
                    value=table.name,
                )
            )


def _may_share(table: ReadTable, dataset: str, first: ReadTable) -> bool:
    """True if a table may write a dataset that another one writes: its own, or a target that both flow into."""
    if first is table or table.into is None or first.into is None:
        return first is table
    return table.into.table == first.into.table and dataset not in table.own_datasets


def _layers_in_one_schema(table: ReadTable) -> None:
    """Report a table whose layers share a schema: their datasets have the same names."""
    twice = next(dataset for dataset in table.datasets if table.datasets.count(dataset) > 1)
    path: ValuePath = ("target_schemas",) if "target_schemas" in table.reading.data else ("table",)
    detail = f"`{table.name}` would write {twice} twice: its layers are in the schemas {table.target_schemas}"
    fix = "give each layer a schema of its own: in `target_schemas` of table, connector or defaults.yml, or in"
    fix += " the pipeline's settings `cdc.schemas.<layer>`."
    table.reading.report(Fault(Condition.DUPLICATE_TABLE_NAME, path, detail, fix, value=twice))


def _check_against(connector: ConnectorSpec, tables: Iterable[ReadTable]) -> None:
    """Report tables that would write a dataset of the connector's own topics."""
    kinds = event_kinds(connector)
    of_events = {
        make(connector, kind.name) for kind in kinds for make in (names.event_records_dataset, names.events_dataset)
    }
    of_events |= {names.event_view_dataset(connector, view) for kind in kinds for view in kind.views}
    for table in tables:
        for dataset in sorted(of_events.intersection(table.datasets))[:1]:
            table.reading.report(
                Fault(
                    Condition.DUPLICATE_TABLE_NAME,
                    _named_by(table, dataset),
                    f"`{table.name}` would write {dataset}, as the `topics:` of connector `{connector.name}` do",
                    "rename the table: `name:` for all of its datasets, `gold:` for those of gold.",
                    value=table.name,
                )
            )


def _named_by(table: ReadTable, dataset: str) -> ValuePath:
    """The path of the field that names the dataset."""
    in_gold = dataset.startswith(f"{table.target_schemas.gold}.")
    fields = ("gold", "name") if in_gold else ("name",)
    return next(((field,) for field in fields if field in table.reading.data), ("table",))


def _check_topics(tables: Iterable[ReadTable]) -> None:
    first_with: dict[str, ReadTable] = {}
    for table in tables:
        first = table if table.topic is None else first_with.setdefault(table.topic, table)
        if first is table or (_shares(first) and _shares(table)):
            continue
        path: ValuePath = ("topic",) if "topic" in table.reading.data else ("table",)
        table.reading.report(
            Fault(
                Condition.DUPLICATE_TOPIC,
                path,
                f"topic `{table.topic}` is already read for `{first.name}` ({_where(first)})",
                "remove one of the files; if the topic carries both tables, add `shared_topic: true` to each.",
                value=table.topic,
            )
        )


def _shares(table: ReadTable) -> bool:
    return table.reading.data.get("shared_topic") is True


def _where(table: ReadTable) -> str:
    place = table.reading.document.place(("table",), of_key=True)
    return f"{place.file}:{place.line}"
