"""Production of captures to a real Kafka: same topics, partitions, offsets, keys, headers, values and times."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tools.captures import Record, read

_TIMEOUT_SECONDS = 60.0


class NotProduced(Exception):
    """Kafka did not accept a record, or assigned an offset that differs from the capture's."""

    def __init__(self, record: Record, problem: str) -> None:
        super().__init__(f"{record.topic}[{record.partition}]@{record.offset}: {problem}")


def produce(captures: Iterable[Path], bootstrap: str) -> int:
    """Produce the records of captures in order; missing topics are created.

    A later call can continue where an earlier one ended. The offsets acknowledged by Kafka are compared with the
    captures'.

    Args:
        captures: files in the order in which their records arrived.
        bootstrap: ``host:port`` of a broker.

    Returns:
        Number of records produced.

    Raises:
        NotProduced: a record was not accepted, or has another offset.
    """
    records = [record for capture in captures for record in read(capture)]
    _create_topics(records, bootstrap)
    # Idempotent: a retry neither changes the order nor duplicates a record.
    # log_level 3: waiting for the coordinator of a broker that has just started is not worth a warning.
    settings = {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 5, "log_level": 3}
    producer = Producer(settings)
    problems: list[NotProduced] = []
    for record in records:
        producer.produce(
            record.topic,
            value=record.value,
            key=record.key,
            partition=record.partition,
            timestamp=record.timestamp,
            headers=list(record.headers),
            on_delivery=_checked(record, problems),
        )
        producer.poll(0)
    left = producer.flush(_TIMEOUT_SECONDS)
    if problems:
        raise problems[0]
    if left:
        raise NotProduced(records[-left], f"not acknowledged within {_TIMEOUT_SECONDS:.0f} seconds")
    return len(records)


def _checked(record: Record, problems: list[NotProduced]) -> Callable[[KafkaError | None, Message], None]:
    """A delivery callback that compares the acknowledged offset with the capture's."""

    def report(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            problems.append(NotProduced(record, error.str()))
        elif message.offset() != record.offset:
            problems.append(NotProduced(record, f"Kafka assigned offset {message.offset()}"))

    return report


def _create_topics(records: Iterable[Record], bootstrap: str) -> None:
    partitions: dict[str, int] = defaultdict(int)
    for record in records:
        partitions[record.topic] = max(partitions[record.topic], record.partition + 1)
    # Retention off: the captures' timestamps are in the past, so Kafka would soon delete the records.
    config = {"retention.ms": "-1"}
    topics = [NewTopic(name, count, 1, config=config) for name, count in partitions.items()]
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics(topics).values() if topics else ():
        try:
            future.result(_TIMEOUT_SECONDS)
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


@click.command(name="produce_captures")
@click.argument("captures", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--bootstrap", required=True, metavar="HOST:PORT")
def main(captures: tuple[Path, ...], bootstrap: str) -> None:
    """Produce CAPTURES, in the order given, to the Kafka broker at HOST:PORT."""
    click.echo(f"{produce(captures, bootstrap)} records produced")


if __name__ == "__main__":
    main()
