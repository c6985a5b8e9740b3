"""An API server on loopback, as far as the command needs one: it has objects, allows everything, and keeps nothing."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

Json = dict[str, Any]

_PATH: Final = re.compile(
    r"/(?:api|apis/[^/]+)/[^/]+(?:/namespaces/(?P<place>[^/]+))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?"
)
_VERSION: Final = {"gitVersion": "v1.36.3", "major": "1", "minor": "36"}


class ApiServer:
    """`objects` by plural. A path of no kind of object is answered with the version, as discovery has no needs here."""

    def __init__(self, objects: Mapping[str, list[Json]]) -> None:
        self._objects = objects

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        found = _PATH.fullmatch(path.partition("?")[0])
        if found is None:
            return 200, _VERSION
        if method == "POST":  # an access review: one may do everything
            return 201, {**body, "status": {"allowed": True}}
        here = [
            each
            for each in self._objects.get(found["plural"], [])
            if found["place"] in (None, each["metadata"].get("namespace"))
        ]
        if found["name"] is None:
            return 200, {"metadata": {"resourceVersion": "1"}, "items": here}
        named = next((each for each in here if each["metadata"]["name"] == found["name"]), None)
        if named is None:
            return 404, {"message": "not found"}
        return 200, named


@contextmanager
def served(server: ApiServer) -> Iterator[str]:
    """Its address."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = server.answer(self.command, self.path, json.loads(body or b"{}"))
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = _answer  # noqa: N815 - their names are http.server's

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}"
        finally:
            listening.shutdown()
            thread.join()
