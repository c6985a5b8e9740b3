"""A server on loopback that logs clients in by SCRAM with as many rounds as it likes, and keeps what it is sent."""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse
from kafka.protocol.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

_API_VERSIONS, _HANDSHAKE, _AUTHENTICATE = (
    each.API_KEY for each in (ApiVersionsRequest, SaslHandshakeRequest, SaslAuthenticateRequest)
)
_NEWEST: Final = {_API_VERSIONS: 0, _HANDSHAKE: 1, _AUTHENTICATE: 1}
_UNSUPPORTED_VERSION: Final = 35


class WeakBroker:
    def __init__(self, iterations: int) -> None:
        self.iterations = iterations
        self.address = ""
        self.logged_in_with: list[bytes] = []
        """Every message of a log-in that came."""

    def answer(self, api_key: int, version: int, body: bytes) -> bytes:
        if api_key == _API_VERSIONS:
            row = ApiVersionsResponse.ApiVersion
            rows = [row(api_key=key, min_version=0, max_version=newest) for key, newest in _NEWEST.items()]
            code = _UNSUPPORTED_VERSION if version > _NEWEST[_API_VERSIONS] else 0
            return bytes(ApiVersionsResponse(error_code=code, api_keys=rows).encode(version=0))
        if api_key == _HANDSHAKE:
            asked: Any = SaslHandshakeRequest.decode(body, version=version)
            return bytes(SaslHandshakeResponse(error_code=0, mechanisms=[asked.mechanism]).encode(version=version))
        sent: Any = SaslAuthenticateRequest.decode(body, version=version)
        self.logged_in_with.append(bytes(sent.auth_bytes))
        nonce = sent.auth_bytes.rpartition(b",r=")[2]
        challenge = b"r=%bmore,s=c2FsdA==,i=%d" % (nonce, self.iterations)
        told = SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=challenge, session_lifetime_ms=0)
        return bytes(told.encode(version=version))


@contextmanager
def weak_broker(iterations: int) -> Iterator[WeakBroker]:
    broker = WeakBroker(iterations)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while len(length := self.rfile.read(4)) == 4:
                request = self.rfile.read(struct.unpack(">i", length)[0])
                api_key, version, correlation_id, client_id_length = struct.unpack(">hhih", request[:10])
                answer = broker.answer(api_key, version, request[10 + max(0, client_id_length) :])
                self.wfile.write(struct.pack(">ii", 4 + len(answer), correlation_id) + answer)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        broker.address = f"127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
        try:
            yield broker
        finally:
            server.shutdown()
