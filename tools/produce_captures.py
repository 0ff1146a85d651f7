"""Puts captures into a real Kafka: the same topics, partitions, offsets, keys, headers, values and times."""

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
    """Kafka did not take a record, or gave it another offset than it has in the capture."""

    def __init__(self, record: Record, problem: str) -> None:
        super().__init__(f"{record.topic}[{record.partition}]@{record.offset}: {problem}")


def produce(captures: Iterable[Path], bootstrap: str) -> int:
    """Produces the records of captures in their order; topics that are not there yet are created.

    A later call may go on where an earlier one ended. Afterwards every record is where its capture says: the
    offsets that Kafka acknowledged are checked.

    Args:
        captures: files in the order in which their records came.
        bootstrap: ``host:port`` of a broker.

    Returns:
        How many records were produced.

    Raises:
        NotProduced: a record was refused, or its offset is taken by another.
    """
    records = [record for capture in captures for record in read(capture)]
    _create_topics(records, bootstrap)
    # Idempotent: a retry neither changes the order nor repeats a record.
    # A broker that has just come up makes it wait for its coordinator; that is no warning worth printing.
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
    """A delivery report that holds what Kafka acknowledged against the capture."""

    def report(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            problems.append(NotProduced(record, error.str()))
        elif message.offset() != record.offset:
            problems.append(NotProduced(record, f"Kafka gave it offset {message.offset()}"))

    return report


def _create_topics(records: Iterable[Record], bootstrap: str) -> None:
    partitions: dict[str, int] = defaultdict(int)
    for record in records:
        partitions[record.topic] = max(partitions[record.topic], record.partition + 1)
    # Retention off: the captures' times are in the past, and Kafka would delete the records at its next look.
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
    """Produce CAPTURES, in the order given, into the Kafka at HOST:PORT."""
    click.echo(f"{produce(captures, bootstrap)} records produced")


if __name__ == "__main__":
    main()
