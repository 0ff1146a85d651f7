"""Errors of Kafka as errors that a user can act on: which broker, which topic, what to do."""

from collections.abc import Iterable, Sequence

from dlt_local.errors import FlowError
from dlt_local.flows.context import FlowRun
from dlt_local.flows.kafka.gaps import Gap
from dlt_local.graph.graph import ResolvedFlow
from dlt_local.graph.stream_sources import KafkaSource
from dlt_local.spark import root_cause

SETTING = "dlt_local.accept_gaps"
"""Pipeline setting: the datasets, separated by commas, that go on where a topic has a gap."""
_KAFKA = "org.apache.kafka."
_NO_CLIENT = "create new KafkaAdminClient"
"""In the message of every error of settings that the client finds before it connects."""
_SHOWN = 10


def explained(dataset: str, flow: ResolvedFlow, source: KafkaSource, error: Exception) -> FlowError | None:
    """The error of a Kafka client in plain words; None if it is not one of those that users can cause."""
    classes = [name.rpartition(".")[2] for name in root_cause.java_classes(error) if name.startswith(_KAFKA)]
    where = f"flow `{flow.flow.name}` ({flow.flow.location})"
    broker, topics = source.broker or "(no address)", ", ".join(source.topics) or "(by pattern)"
    cause = root_cause.sentence(error)

    def has(*endings: str) -> bool:
        return any(name.endswith(endings) for name in classes)

    if has("AuthorizationException"):
        message = f"{where} may not read topic {topics} at {broker}: {cause}"
        fix = "grant the client DESCRIBE and READ on the topic, and READ on its consumer group"
        return FlowError("KAFKA_NOT_AUTHORIZED", dataset, message, fix, is_permanent=True)
    if has("AuthenticationException", "SslException"):
        message = f"{where}: the broker {broker} refused the client's login: {cause}"
        fix = (
            "correct kafka.security.protocol, kafka.sasl.* and kafka.ssl.* in the options of the stream, then run again"
        )
        return FlowError("KAFKA_AUTHENTICATION_FAILED", dataset, message, fix, is_permanent=True)
    if has("UnknownTopicOrPartitionException"):
        return topic_missing(dataset, flow, source, source.topics)
    if has("OffsetOutOfRangeException"):
        message = f"{where}: topic {topics} at {broker} lost records while they were read: {cause}"
        return FlowError(
            "KAFKA_RECORDS_MISSING", dataset, message, "run again: the update says which records, and what to do"
        )
    if (has("ConfigException") or _NO_CLIENT in str(error)) and "bootstrap" not in cause:
        message = f"{where}: Kafka's client refused its settings: {cause}"
        return FlowError(
            "KAFKA_SETTINGS_REFUSED", dataset, message, "correct the option of the stream", is_permanent=True
        )
    if has("ConfigException", "TimeoutException", "DisconnectException", "RetriableException"):
        message = f"{where}: no answer from the Kafka broker {broker} for topic {topics}: {cause}"
        fix = (
            "start the broker, or correct kafka.bootstrap.servers; if it is up, check that this machine reaches the"
            " addresses that it advertises, and that kafka.security.protocol is that of its listener"
        )
        return FlowError("KAFKA_UNREACHABLE", dataset, message, fix)
    return None


def topic_missing(dataset: str, flow: ResolvedFlow, source: KafkaSource, missing: Iterable[str]) -> FlowError:
    """The error of a flow whose topic is not there."""
    message = (
        f"flow `{flow.flow.name}` ({flow.flow.location}): the broker {source.broker} has no topic {', '.join(missing)}"
    )
    fix = "correct the topic's name in the options of the stream, or create the topic; then run again"
    return FlowError("KAFKA_TOPIC_MISSING", dataset, message, fix)


def records_missing(run: FlowRun, source: KafkaSource, gaps: Sequence[Gap], may_rebuild: bool) -> FlowError:
    """The error of a flow that must not go on over a gap by itself."""
    name, flow = run.node.name, run.flow.flow
    message = (
        f"flow `{flow.name}` ({flow.location}): the broker {source.broker} does not have all records that follow those"
        f" in {name}:\n    {listed(gaps)}\n  Nothing was written."
    )
    go_on = f"to go on with what there is and have the gap recorded, run once with --set {SETTING}={name}"
    rebuild = (
        f"to build the table again from what there is, run with --full-refresh {name}"
        if may_rebuild
        else "to have no gap, let the source send all its rows again (a new snapshot), and then go on like that"
    )
    return FlowError("KAFKA_RECORDS_MISSING", name, message, f"{go_on}\n  or {rebuild}", is_permanent=True)


def listed(gaps: Sequence[Gap]) -> str:
    """The gaps, one in a line."""
    more = [f"and {len(gaps) - _SHOWN} more"] if len(gaps) > _SHOWN else []
    return "\n    ".join([*map(str, gaps[:_SHOWN]), *more])
