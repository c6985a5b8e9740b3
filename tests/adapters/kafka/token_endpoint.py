"""An OAuth token endpoint on loopback: it knows one client, and signs tokens that brokers can check."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote_plus

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

AUDIENCE, ISSUER = "kafka", "https://issuer.test"
_LIFE_S = 300


class TokenEndpoint:
    """`client_secret` may be changed while it runs; `asked` are the forms of all requests, `issued` all tokens."""

    def __init__(self, client_id: str, client_secret: str) -> None:
        self.client_id = client_id
        self.client_secret = client_secret
        self.asked: list[dict[str, list[str]]] = []
        self.issued: list[str] = []
        self.url = ""
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def jwks(self) -> str:
        """What brokers check signatures with."""
        numbers = self._key.public_key().public_numbers()
        key = {"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256", "n": _number(numbers.n), "e": _number(numbers.e)}
        return json.dumps({"keys": [key]})

    def answer(self, authorization: str, form: dict[str, list[str]]) -> tuple[int, dict[str, object]]:
        self.asked.append(form)
        shown = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        if [unquote_plus(part) for part in shown.split(":")] != [self.client_id, self.client_secret]:
            return 401, {"error": "invalid_client", "error_description": f"nobody is called {shown}"}
        self.issued.append(self.token())
        return 200, {"access_token": self.issued[-1], "token_type": "Bearer", "expires_in": _LIFE_S}

    def token(self) -> str:
        now = int(time.time())
        claims = {"sub": self.client_id, "aud": AUDIENCE, "iss": ISSUER, "iat": now, "exp": now + _LIFE_S}
        head = _part(json.dumps({"alg": "RS256", "typ": "JWT", "kid": "1"}).encode())
        body = _part(json.dumps(claims).encode())
        signature = self._key.sign(f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{head}.{body}.{_part(signature)}"


@contextmanager
def served(endpoint: TokenEndpoint) -> Iterator[TokenEndpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            status, answer = endpoint.answer(self.headers.get("Authorization", ""), form)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/token"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield endpoint
        finally:
            server.shutdown()
            thread.join()


def _number(value: int) -> str:
    return _part(value.to_bytes((value.bit_length() + 7) // 8))


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
