"""Real Debezium source connectors of any kind and version, run as a Kafka Connect worker runs them.

README.md explains the runner. What it shares with tools/sqlserver_connector is here too: the records as the worker
would write them, their places in topics, and the removal of randomness from a scripted run.
"""

from tools.debezium_connector.classes import NotCompiled
from tools.debezium_connector.emitted import Emitted
from tools.debezium_connector.placing import placed
from tools.debezium_connector.repeatable import repeatable
from tools.debezium_connector.runner import Connector, ConnectorFailed, Worker, running, worker

__all__ = [
    "Connector",
    "ConnectorFailed",
    "Emitted",
    "NotCompiled",
    "Worker",
    "placed",
    "repeatable",
    "running",
    "worker",
]
