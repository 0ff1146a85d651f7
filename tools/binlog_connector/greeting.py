"""A proxy that completes the greeting of MySQL 5.5.9.

Its name of the authentication plugin lacks the zero byte at its end (MySQL bug 59453, corrected in 5.5.10), without
which the connectors' reader of the log takes the greeting for cut off.
"""

import socket
import threading
from contextlib import suppress

_PROTOCOL_10 = b"\x0a"


class Completed:
    """A server's port again, with complete greetings, until it is closed."""

    def __init__(self, server_port: int) -> None:
        """Listen on a free loopback port."""
        self._server_port = server_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError):
            server = socket.create_connection(("127.0.0.1", self._server_port))
            head = _exactly(server, 4)
            greeting = _exactly(server, int.from_bytes(head[:3], "little"))
            if greeting.startswith(_PROTOCOL_10) and not greeting.endswith(b"\0"):
                greeting += b"\0"
            client.sendall(len(greeting).to_bytes(3, "little") + head[3:] + greeting)
            threading.Thread(target=_copy, args=(client, server), daemon=True).start()
            _copy(server, client)


def _exactly(source: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = source.recv(count - len(found))
        if not part:
            message = "the server closed the connection"
            raise ConnectionResetError(message)
        found += part
    return found


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65_536):
            target.sendall(part)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
