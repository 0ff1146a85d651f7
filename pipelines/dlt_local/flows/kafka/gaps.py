"""Gaps: records of a topic that a flow has not read and that the topic no longer has. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Positions = Mapping[str, Mapping[int, int]]
"""Topic -> partition -> the offset that the flow reads next."""
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""The id of every topic of a broker that has no ids."""


@dataclass(frozen=True)
class Topic:
    """A topic as the broker has it now."""

    id: str
    """Changes when the topic is deleted and created again."""
    partitions: Mapping[int, tuple[int, int]]
    """Partition -> its first offset, and the offset after its last."""


@dataclass(frozen=True)
class Gap:
    """Records of one partition that can no longer be read."""

    topic: str
    partition: int
    first: int
    last: int | None
    """None where it is not known how many records the partition had."""
    cause: Literal["expired", "recreated", "deleted", "truncated", "no partition", "not read"]

    def __str__(self) -> str:
        offsets = f"offset {self.first} and after" if self.last is None else f"offsets {self.first} to {self.last}"
        explanations = {
            "expired": "deleted by the broker before they were read",
            "recreated": "if there were any, deleted with the topic, which was created again",
            "deleted": "if there were any, deleted with the topic",
            "truncated": "were read, but the partition now ends before: its data was restored from an older state",
            "no partition": "if there were any, deleted with the partition",
            "not read": "the flow no longer reads this topic",
        }
        return f"{self.topic}, partition {self.partition}: {offsets} ({explanations[self.cause]})"


def find(
    read: Positions, ids: Mapping[str, str], topics: Mapping[str, Topic], is_named: Mapping[str, bool]
) -> list[Gap]:
    """The gaps between what a flow has read and what the topics have.

    Args:
        read: how far the flow has come; the gaps are in these topics.
        ids: the topics' ids when the flow read them last.
        topics: the topics now; without those that do not exist.
        is_named: topic -> False if the flow's query no longer names it.
    """
    found = []
    for name, partitions in read.items():
        topic = topics.get(name)
        if not is_named.get(name, True):
            found += [Gap(name, partition, offset, None, "not read") for partition, offset in partitions.items()]
        elif topic is None:
            found += [Gap(name, partition, offset, None, "deleted") for partition, offset in partitions.items()]
        elif _is_another(ids.get(name), topic.id):
            found += [Gap(name, partition, offset, None, "recreated") for partition, offset in partitions.items()]
        else:
            found += _in_topic(name, partitions, topic)
    return sorted(found, key=lambda gap: (gap.topic, gap.partition))


def _in_topic(name: str, read: Mapping[int, int], topic: Topic) -> Iterable[Gap]:
    for partition, offset in read.items():
        first, end = topic.partitions.get(partition, (0, 0))
        if partition not in topic.partitions:
            yield Gap(name, partition, offset, None, "no partition")
        elif offset < first:
            yield Gap(name, partition, offset, first - 1, "expired")
        elif offset > end:
            yield Gap(name, partition, end, offset - 1, "truncated")
    for partition in topic.partitions.keys() - read.keys():
        first, _ = topic.partitions[partition]
        if first > 0:
            yield Gap(name, partition, 0, first - 1, "expired")


def past(gaps: Iterable[Gap], read: Positions, topics: Mapping[str, Topic]) -> Positions:
    """Where the flow goes on behind the gaps: at the first record that the partition has.

    A topic that was created again is read from its start, and so is a truncated partition: its records are new ones.
    """
    moved = {name: dict(partitions) for name, partitions in read.items()}
    for gap in gaps:
        topic = topics.get(gap.topic)
        if gap.cause == "not read" or topic is None:
            moved.pop(gap.topic, None)
        elif gap.cause == "recreated":
            moved[gap.topic] = {partition: first for partition, (first, _) in topic.partitions.items()}
        elif gap.cause == "no partition":
            del moved[gap.topic][gap.partition]
        else:
            moved[gap.topic][gap.partition] = topic.partitions[gap.partition][0]
    return moved


def _is_another(id_before: str | None, id_now: str) -> bool:
    return id_before is not None and _NO_ID not in (id_before, id_now) and id_before != id_now
