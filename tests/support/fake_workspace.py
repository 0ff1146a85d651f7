"""A workspace that is not there: the REST calls of `databricks bundle deploy`, answered from memory.

It keeps what it is given (files, jobs, pipelines, schemas, volumes, permissions) and checks none of it: what it shows
is what the command line sends, not what a workspace would say to that.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

Answer = tuple[int, Any]
_MISSING: Answer = 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "it does not exist"}
_CREATED_AT = {
    "/api/2.0/pipelines": ("pipelines", "pipeline_id"),
    "/api/2.2/jobs/create": ("jobs", "job_id"),
    "/api/2.1/unity-catalog/schemas": ("schemas", "full_name"),
    "/api/2.1/unity-catalog/volumes": ("volumes", "full_name"),
}


@dataclass
class FakeWorkspace:
    """What was deployed, in the form in which the command line sent it."""

    user: str
    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    """Path -> content."""
    folders: set[str] = field(default_factory=set)
    created: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Kind -> id -> the request that created it."""
    permissions: dict[str, Any] = field(default_factory=dict)
    """Path of the request -> the access control list, or the changes of grants."""
    unknown: list[str] = field(default_factory=list)
    """Requests that have no answer here."""

    def __post_init__(self) -> None:
        """Give the user a home folder, which a workspace has before any deployment."""
        self.folders |= {"/Workspace", "/Workspace/Users", f"/Workspace/Users/{self.user}"}

    def only(self, kind: str) -> dict[str, Any]:
        """The one created resource of a kind."""
        (found,) = self.created[kind].values()
        return dict(found)

    def answer(self, method: str, url: str, body: bytes) -> Answer:
        """The answer to a request."""
        split = urlsplit(url)
        path, query = unquote(split.path), dict(parse_qsl(split.query))
        if path == "/api/2.0/preview/scim/v2/Me":
            return 200, {"id": "1", "userName": self.user, "groups": []}
        if path.startswith("/api/2.0/workspace"):
            return self._file(method, path, query, body)
        if path.startswith("/api/2.0/permissions/"):
            if method != "GET":
                self.permissions[path] = json.loads(body)["access_control_list"]
            return 200, {"object_id": path, "access_control_list": []}
        if path.startswith("/api/2.1/unity-catalog/permissions/"):
            if method != "GET":
                self.permissions[path] = json.loads(body)["changes"]
            return 200, {"privilege_assignments": []}
        if method == "POST" and path in _CREATED_AT:
            return self._create(*_CREATED_AT[path], json.loads(body))
        if method == "GET" and (found := self._get(path, query)):
            return 200, found
        if method == "GET" or path == "/telemetry-ext":
            return _MISSING
        self.unknown.append(f"{method} {path}")
        return _MISSING

    def _file(self, method: str, path: str, query: dict[str, str], body: bytes) -> Answer:
        if imported := re.fullmatch(r"/api/2\.0/workspace-files/import-file(/.+)", path):
            return self._write(imported[1], body)
        if exported := re.fullmatch(r"/api/2\.0/workspace-files(/.+)", path):
            return (200, self.files[exported[1]]) if exported[1] in self.files else _MISSING
        given = query if method == "GET" else json.loads(body)
        name = _absolute(given.get("path", ""))
        if path.endswith("/mkdirs"):
            self.folders.update("/".join(name.split("/")[:depth]) for depth in range(2, name.count("/") + 2))
            return 200, {}
        if path.endswith("/delete"):
            return (200, {}) if self.files.pop(name, None) is not None else _MISSING
        if path.endswith("/export"):
            return (200, self.files[name]) if name in self.files else _MISSING
        kind = "FILE" if name in self.files else "DIRECTORY" if name in self.folders else None
        status = {"path": name, "object_type": kind, "object_id": 1 + len(name), "resource_id": "1"}
        return (200, status) if kind else _MISSING

    def _write(self, path: str, body: bytes) -> Answer:
        self.files[_absolute(path)] = body
        return 200, {}

    def _create(self, kind: str, id_field: str, body: dict[str, Any]) -> Answer:
        made = self.created.setdefault(kind, {})
        names = (body.get(part) for part in ("catalog_name", "schema_name", "name"))
        number = 1 + len(made)
        id_: Any = ".".join(filter(None, names)) if id_field == "full_name" else number
        if kind == "pipelines":
            id_ = f"00000000-0000-0000-0000-{number:012}"
        made[str(id_)] = body
        return 200, {**body, id_field: id_}

    def _get(self, path: str, query: dict[str, str]) -> dict[str, Any] | None:
        name = path.rpartition("/")[2]
        for kind, id_field, found in (
            ("pipelines", "pipeline_id", name),
            ("jobs", "job_id", query.get("job_id", "")),
            ("schemas", "full_name", name),
            ("volumes", "full_name", name),
        ):
            if kind in path and found in self.created.get(kind, {}):
                body = self.created[kind][found]
                settings = {"jobs": {"settings": body}, "pipelines": {"spec": body}}.get(kind, body)
                return {id_field: int(found) if kind == "jobs" else found, **settings}
        return None


def _absolute(path: str) -> str:
    return path if path.startswith("/Workspace") else f"/Workspace{path}"


@contextmanager
def serving(workspace: FakeWorkspace) -> Iterator[FakeWorkspace]:
    """Serve the workspace on a free port of this machine while the block runs."""
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with lock:
                code, content = workspace.answer(self.command, self.path, body)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data if self.command != "HEAD" else b"")

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    workspace.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield workspace
    finally:
        server.shutdown()
        server.server_close()
