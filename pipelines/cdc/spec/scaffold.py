"""Specs generated from what a connector's records show."""

import json
import re
import string
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from cdc.spec.evidence import Evidence, SourceTable
from cdc.spec.kinds import DEFAULT, Kind, TypeFault
from cdc.spec.reserved import allowed_target
from cdc.spec.schema_faults import flow
from cdc.spec.topics import own_topics


def dataset_names(tables: Collection[SourceTable]) -> dict[str, str]:
    """A dataset name for each source table; tables with the same name get their schema as a prefix."""
    plain = {table.source: _dataset_name(table.source.rpartition(".")[2]) for table in tables}
    duplicates = {name for name, count in Counter(plain.values()).items() if count > 1}
    return {
        source: _dataset_name("_".join(source.split(".")[-2:])) if name in duplicates else name
        for source, name in plain.items()
    }


def topic_pattern(found: Evidence, prefix: str) -> str:
    """The naming pattern that most tables' topics in the capture follow; without such topics, by the version."""
    kind = found.kind(prefix)
    patterns = kind.topic_patterns
    topics = Counter({pattern: 0 for pattern in patterns})
    sources = {table.source for table in found.tables} | set(found.topic_of)
    for pattern in patterns:
        by_name = {source: kind.topic(pattern, prefix, source) for source in sources}
        fitting = (found.topic_of.get(source, name) == name for source, name in by_name.items() if name in found.topics)
        topics[pattern] = sum(fitting)
    return max(patterns, key=lambda pattern: (topics[pattern], found.is_1x and pattern in patterns[1:]))


def table_yaml(table: SourceTable, name: str, topic: str | None = None) -> str:
    """The table's spec, one line per column; reserved column names are renamed.

    Args:
        table: as the records describe it.
        name: of its datasets.
        topic: its topic, if that is not the one of the connector's pattern.
    """
    default_name = table.source.rpartition(".")[2].lower()
    key = f"key: {flow(list(table.key))}" if table.key else "append_only: true # the source has no primary key"
    lacks = f"which tell less than the DDL ({table.kind.block_lacks}): correct them."
    guess = [f"# Types are from records' schema blocks, {lacks}", *(f"# {doubt}." for doubt in table.doubts)]
    of_documents = "# Paths and types are those of the documents in the capture: others may have more, or other types."
    lines = [
        "# yaml-language-server: $schema=../../schema/table.schema.json",
        *([] if table.is_exact else [of_documents] if table.kind.has_documents else guess),
        f"table: {flow(table.source)}",
        *([f"name: {name}"] if name != default_name else []),
        *([f"topic: {flow(topic)}"] if topic else []),
        key,
        "columns:",
        *(f"  {column_yaml(*column, table.kind, table.others.get(column[0]))}" for column in table.columns),
    ]
    return "\n".join(lines) + "\n"


def connector_yaml(found: Evidence, prefix: str) -> str:
    """A connector's spec: its prefix, and what its records show to differ from the defaults."""
    kind, pattern = found.kind(prefix), topic_pattern(found, prefix)
    is_counted = "total_order" in kind.modes.get("within_transaction", ())
    modes = found.modes.get(prefix, {})
    topics: dict[str, Any] = {kind: True for topic, kind in own_topics(prefix).items() if topic in found.topics}
    if found.notifications:
        topics["notifications"] = found.notifications
    if signals := [found.topic_of[source] for source in sorted(found.signals) if source in found.topic_of]:
        topics["signals"] = signals[0]
    lines = [
        "# yaml-language-server: $schema=../schema/connector.schema.json",
        f"topic_prefix: {prefix}",
        *([f"kind: {kind.name}"] if kind is not DEFAULT else []),
        *([f"topic_pattern: {flow(pattern)}"] if pattern != kind.topic_patterns[0] else []),
        *(f"{mode}: {value}" for mode, value in modes.items() if value != kind.default_of(mode)),
        *([f"capture_mode: {found.capture_mode}"] if found.capture_mode in kind.partial_modes else []),
        *(["within_transaction: total_order"] if found.has_total_order and is_counted else []),
        *(["unavailable: merge"] if kind.merges_by_default else []),
        *(["topics:", *(f"  {kind}: {flow(topic)}" for kind, topic in topics.items())] if topics else []),
    ]
    return "\n".join(lines) + "\n"


def own_topic(found: Evidence, table: SourceTable) -> str | None:
    """The table's topic if the capture has it and it does not follow the connector's pattern."""
    by_pattern = table.kind.topic(topic_pattern(found, table.topic_prefix), table.topic_prefix, table.source)
    topic = found.topic_of.get(table.source, by_pattern)
    return topic if topic != by_pattern else None


def column_yaml(name: str, type_text: str, nullable: bool, kind: Kind, other: str | None = None) -> str:
    """One line of ``columns:``; a type that the column may have as well is in a comment."""
    key = column_key(name)
    if type_text in kind.omitted:
        return f"{key}: {{exclude: true}} # {type_text}: the connector omits it"
    written = column_type(type_text, nullable, kind)
    default = kind.target_of(name)
    target = allowed_target(default)
    line = f"{key}: {written}" if target == default else f"{key}: {flow({'type': written, 'rename': target})}"
    return f"{line} # or {other}, which has the same schema block" if other else line


def column_key(name: str) -> str:
    """A column's name as a key in YAML."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name, ensure_ascii=False)


def column_type(type_text: str, nullable: bool, kind: Kind) -> str:
    """A type as a spec writes it: ``decimal(18,2) not null``."""
    try:
        text = str(kind.parse_type(type_text)[0])
    except TypeFault:
        text = type_text
    return text if nullable else f"{text} not null"


def _dataset_name(words: str) -> str:
    """A valid dataset name, made from a source table's name.

    >>> _dataset_name("Order Lines"), _dataset_name("2024 sales")
    ('order_lines', 't_2024_sales')
    """
    plain = re.sub(r"[^a-z0-9_]", "_", words.lower())
    return plain if plain[0] in string.ascii_lowercase else f"t_{plain}"


def files(found: Evidence, connector: str) -> Mapping[str, str]:
    """Contents of a conf folder's files for all tables found, by path; they are of one topic prefix."""
    by_source = dataset_names(found.tables)
    specs = {
        f"tables/{connector}/{by_source[each.source]}.yml": table_yaml(
            each, by_source[each.source], own_topic(found, each)
        )
        for each in found.tables
    }
    return {f"connectors/{connector}.yml": connector_yaml(found, found.tables[0].topic_prefix), **specs}
