"""Checks the topics of a flow before its stream starts: they can be read, and no record between is missing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from dlt_local.declarations.elements import Table
from dlt_local.delta import delta_log
from dlt_local.flows.context import FlowRun
from dlt_local.flows.kafka import checkpoint, errors, gaps
from dlt_local.flows.kafka.gaps import Gap, Topic
from dlt_local.graph.stream_sources import KafkaSource
from dlt_local.spark import jvm

_PATIENCE = {
    "default.api.timeout.ms": "15000",
    "request.timeout.ms": "10000",
    "socket.connection.setup.timeout.ms": "5000",
}
"""How long the client asks a broker that does not answer: shorter than a user's patience."""


def check(run: FlowRun) -> None:
    """Ask the broker for the topics that a flow streams, and compare them with what the flow has read.

    What was read of each topic is kept in `kafka.json` in the flow's checkpoint, with the topic's id and the gaps that
    the flow went on over.

    Raises:
        FlowError: the broker cannot be reached, a topic is not there, or KAFKA_RECORDS_MISSING.
    """
    for source in run.flow.kafka:
        checkpoint.finish_move(run.checkpoint.folder)
        progress = checkpoint.read(run.checkpoint.folder, lambda batch: _is_written(run, batch))
        read = progress.positions if progress else {}
        if len(run.flow.kafka) > 1:
            read = {topic: offsets for topic, offsets in read.items() if topic in source.topics}
        topics = _topics(run, source, {*source.topics, *read})
        if missing := [name for name in source.topics if name not in topics]:
            raise errors.topic_missing(run.node.name, run.flow, source, missing)
        known = checkpoint.known(run.checkpoint.folder)
        found = gaps.find(read, _ids(known), _assigned(source, topics, read), _named(source, read))
        if found and not (source.goes_on_after_loss or _is_accepted(run)):
            raise errors.records_missing(run, source, found, _may_rebuild(run))
        updated = _recorded(known, topics, found)
        if found and progress is not None:
            others = {topic: offsets for topic, offsets in progress.positions.items() if topic not in read}
            checkpoint.move(run.checkpoint.folder, progress, {**others, **gaps.past(found, read, topics)}, updated)
            run.update.on_notice(f"{run.node.name} went on over a gap: {errors.listed(found)}")
        else:
            checkpoint.note(run.checkpoint.folder, updated)


def _topics(run: FlowRun, source: KafkaSource, names: set[str]) -> Mapping[str, Topic]:
    try:
        found = jvm.kafka_topics(run.update.session, {**source.client, **_PATIENCE}, sorted(names))
    except Exception as error:
        explained = errors.explained(run.node.name, run.flow, source, error)
        if explained is None:
            raise
        raise explained from error
    return {name: Topic(id, partitions) for name, (id, partitions) in found.items()}


def _assigned(source: KafkaSource, topics: Mapping[str, Topic], read: gaps.Positions) -> Mapping[str, Topic]:
    """The topics with the partitions that the flow reads."""
    if not source.assigns_partitions:
        return topics
    return {
        name: Topic(topic.id, {p: offsets for p, offsets in topic.partitions.items() if p in read.get(name, {})})
        for name, topic in topics.items()
    }


def _named(source: KafkaSource, read: gaps.Positions) -> Mapping[str, bool]:
    return {name: name in source.topics for name in read} if source.topics else {}


def _is_written(run: FlowRun, batch: int) -> bool:
    """True if the target's log has the batch, although a kill came before its commit in the checkpoint."""
    table = run.node.dataset
    if not isinstance(table, Table) or run.flow.changes is not None:
        return False
    written = delta_log.transactions(run.update.path(table.name))
    return written.get(run.checkpoint.query_id(), -1) >= batch


def _is_accepted(run: FlowRun) -> bool:
    accepted = str(run.update.session.conf.get(errors.SETTING, ""))
    return run.node.name in [name.strip() for name in accepted.split(",")]


def _may_rebuild(run: FlowRun) -> bool:
    table = run.node.dataset
    return isinstance(table, Table) and table.may_reset


def _ids(known: Mapping[str, Any]) -> Mapping[str, str]:
    return {name: topic["id"] for name, topic in known.get("topics", {}).items()}


def _recorded(known: Mapping[str, Any], topics: Mapping[str, Topic], found: list[Gap]) -> dict[str, Any]:
    before = known.get("topics", {})
    recorded: dict[str, Any] = {}
    for name, topic in topics.items():
        first = {str(partition): offsets[0] for partition, offsets in topic.partitions.items()}
        is_same = before.get(name, {}).get("id") == topic.id
        # The first offsets as of the flow's first read: the broker's move on as records expire.
        recorded[name] = {"id": topic.id, "first": first | (before[name]["first"] if is_same else {})}
    at = datetime.now(UTC).isoformat(timespec="seconds")
    entries = [{**vars(gap), "at": at} for gap in found]
    return {"topics": {**before, **recorded}, "gaps": [*known.get("gaps", ()), *entries]}
