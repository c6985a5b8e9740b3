"""The consumer's readiness endpoint: `GET /ready` answers 200 once the process has started up, 503 before."""

from __future__ import annotations

import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def serve_readiness(port: int, ready: threading.Event) -> ThreadingHTTPServer:
    """Answer on every address in a thread of its own, until the process ends. Port 0 takes a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status = HTTPStatus.OK if ready.is_set() else HTTPStatus.SERVICE_UNAVAILABLE
            self.send_response(status if self.path == "/ready" else HTTPStatus.NOT_FOUND)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing: the kubelet asks every second."""

    server = ThreadingHTTPServer(("", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="readiness", daemon=True).start()
    return server
