"""The sources outside the pipeline that a query streams: folders of files, and topics of Kafka."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class FileSource:
    """A local folder whose files a query streams."""

    folder: str
    glob: str | None = None
    """The names of the files that it reads; None for all."""
    recursive: bool = False
    """True if it reads all subfolders."""


@dataclass(frozen=True)
class KafkaSource:
    """Topics that a query streams."""

    options: Mapping[str, str] = field(repr=False)
    """Of Spark's reader, by their names in lower case; some are secret."""

    @property
    def broker(self) -> str:
        """The brokers' addresses, as given to the reader."""
        return self.options.get("kafka.bootstrap.servers", "")

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that the query names; empty if it names only a pattern.

        >>> KafkaSource({"subscribe": "orders, items"}).topics, KafkaSource({"assign": '{"orders": [0]}'}).topics
        (('orders', 'items'), ('orders',))
        """
        assigned = json.loads(self.options.get("assign") or "{}")
        subscribed = (name.strip() for name in self.options.get("subscribe", "").split(","))
        return (*filter(None, subscribed), *assigned)

    @property
    def assigns_partitions(self) -> bool:
        """True if the query names the partitions that it reads."""
        return "assign" in self.options

    @property
    def client(self) -> Mapping[str, str]:
        """The settings of the Kafka client.

        >>> KafkaSource({"kafka.security.protocol": "SSL", "subscribe": "orders"}).client
        {'security.protocol': 'SSL'}
        """
        return {name.removeprefix("kafka."): value for name, value in self.options.items() if name.startswith("kafka.")}

    @property
    def goes_on_after_loss(self) -> bool:
        """True if the reader is told to go on where records are missing."""
        return self.options.get("failondataloss", "true").lower() == "false"
