"""Table specs, and their connector's, from sdp-meta's onboarding file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cdc.errors import Condition, Diagnostic, RunCondition, in_reading_order
from cdc.interop.imported import Imported, connector_yaml, table_yaml
from cdc.interop.onboarding import Onboarding, Part
from cdc.interop.sources import Topics, connector_of, own_topic, source_of, topic
from cdc.interop.take_over import LAYERS, known_fields, take_over
from cdc.spec.layers import TargetSchemas
from cdc.spec.model import ConnectorSpec


@dataclass(frozen=True)
class Asked:
    """What an import is asked for."""

    connector: str
    """Name of the connector that the tables get."""
    existing: ConnectorSpec | None
    """The connector's spec, if the conf folder has one."""
    topics: Topics


@dataclass(frozen=True)
class Import:
    """The files of an import, and what they do not say."""

    files: Mapping[str, str]
    """Path in the conf folder -> content."""
    found: tuple[Diagnostic, ...]

    @property
    def faults(self) -> tuple[Diagnostic, ...]:
        """What has to be corrected first; tables that are left out do not stop the others."""
        left_out = RunCondition.TABLE_NOT_IMPORTED
        return tuple(each for each in self.found if each.severity == "error" and each.condition is not left_out)


Table = tuple[Part, Imported]


def import_specs(onboarding: Onboarding, asked: Asked) -> Import:
    """The specs of all data flows that read a table's topic."""
    if not onboarding.env:
        return Import({}, in_reading_order(onboarding.faults))
    fields = [field for env in onboarding.envs for field in known_fields(env)]
    reading = [(flow, found) for flow in onboarding.flows if (found := topic(flow, flow.misspelt(fields)))]
    of_existing = asked.existing.topic_prefix if asked.existing else None
    known = replace(asked.topics, prefix=asked.topics.prefix or of_existing)
    connector = asked.existing or connector_of(asked.connector, reading, known)
    tables = [
        (flow, take_over(onboarding, flow, source, of_flow))
        for flow, of_flow in reading
        if (source := source_of(flow, of_flow, connector, known))
    ]
    if tables and not connector.topic_prefix:
        detail = "no topic tells the connector's `topic_prefix`: none ends with the name of its table"
        tables[0][0].report(Condition.MISSING_FIELD, ("source_details",), detail, "add `--topic-prefix PREFIX`.")
    _check_names(tables)
    connector = _with_order(connector, tables, is_new=asked.existing is None)
    files = dict(_files(connector, [table for _, table in tables], is_new=asked.existing is None)) if tables else {}
    # Flows share the files that they refer to, and so do their faults.
    faults = [*onboarding.faults, *(fault for flow in onboarding.flows for fault in flow.reading.faults)]
    return Import(files, in_reading_order(dict.fromkeys(faults)))


def _files(connector: ConnectorSpec, tables: Sequence[Imported], *, is_new: bool) -> Iterator[tuple[str, str]]:
    of_connector = _common_schemas(tables) if is_new else {}
    inherited = connector.target_schemas.over(of_connector)
    if is_new:
        yield f"connectors/{connector.name}.yml", connector_yaml(connector, of_connector)
    for table in tables:
        schemas = {layer: name for layer, name in table.schemas.items() if name != getattr(inherited, layer)}
        text = table_yaml(table, own_topic(table.topic, table.source, connector), schemas)
        yield f"tables/{connector.name}/{table.name}.yml", text


def _common_schemas(tables: Sequence[Imported]) -> Mapping[str, str]:
    """The schemas that most tables have, but for those that are the built-in defaults."""
    found = {}
    for layer in LAYERS:
        stated = Counter(table.schemas[layer] for table in tables if layer in table.schemas)
        if stated and (name := stated.most_common(1)[0][0]) != getattr(TargetSchemas(), layer):
            found[layer] = name
    return found


def _with_order(connector: ConnectorSpec, tables: Iterable[Table], *, is_new: bool) -> ConnectorSpec:
    """The connector with the order that most sequences have; others are reported."""
    orders = [(flow, table.within_transaction) for flow, table in tables if table.within_transaction]
    if is_new and orders:
        order = Counter(order for _, order in orders).most_common(1)[0][0]
        connector = replace(connector, within_transaction=order)
    for flow, order in orders:
        if order != connector.within_transaction:
            detail = f"its sequence is that of `within_transaction: {order}`; the connector's is"
            detail += f" `{connector.within_transaction}`, for all of its tables"
            place = ("silver_cdc_apply_changes", "sequence_by")
            flow.lost(place, detail, "set `within_transaction` in the connector spec.")
    return connector


def _check_names(tables: Iterable[Table]) -> None:
    first: dict[str, Imported] = {}
    for flow, table in tables:
        other = first.setdefault(table.name, table)
        if other is not table:
            detail = f"`{table.name}` is the name of {other.source} too, and of the file of its spec"
            field = "silver_table" if "silver_table" in flow.data else "bronze_table"
            flow.report(Condition.DUPLICATE_TABLE_NAME, field, detail, "rename one of the two here, and then import.")
