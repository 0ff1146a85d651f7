"""The connector over the scripted server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from tools.db2_connector.server import Server
from tools.debezium_connector import Connector, Worker

Version = Literal["3.6.1.Final", "1.9.7.Final"]
VERSIONS: tuple[Version, ...] = get_args(Version)
CONFIGURATIONS: Mapping[Version, str] = {"3.6.1.Final": "db2-3.6", "1.9.7.Final": "db2-1.9"}
"""Version -> configuration of ivy.xml."""
SOURCES = [Path(__file__).with_name("src")]
"""The fake driver."""
CLASS = "io.debezium.connector.db2.Db2Connector"


def connector(jvm: Worker, server: Server, properties: Mapping[str, str], folder: Path) -> Connector:
    """A connector of the server, not yet started; its offsets and schema history are kept in the folder."""
    prefix = properties.get("topic.prefix", "db2")
    own = {
        "topic.prefix": prefix,
        "database.server.name": prefix,
        "database.hostname": "localhost",
        "database.port": "1",
        "database.user": "scripted",
        "database.password": "scripted",
        "database.dbname": server.name,
        # Settings for the driver, as 3.x and as 1.x pass them on.
        "driver.scripted.state": str(server.file),
        "database.scripted.state": str(server.file),
    }
    folder.mkdir(parents=True, exist_ok=True)
    return jvm.connector(CLASS, own | dict(properties), folder / "offsets", folder / "history")
