"""How tokens are fetched and kept, against an endpoint on loopback; and what of all that is ever told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest
from kafka.errors import KafkaConnectionError, SaslAuthenticationFailedError

from slackwater.adapters.kafka import oauth
from slackwater.adapters.kafka.oauth import REUSE_S, ClientCredentials, OAuthClient

SECRET = "hunter2:&%"
AUTHORIZATION = "Basic b3BlcmF0b3I6aHVudGVyMiUzQSUyNiUyNQ=="


class Endpoint:
    """Answers with what it was told to; remembers what it was asked."""

    def __init__(self) -> None:
        self.status = 200
        self.body = b'{"access_token": "first", "expires_in": 300}'
        self.headers: dict[str, str] = {}
        self.asked: list[tuple[str | None, dict[str, list[str]]]] = []
        self.url = ""
        self.goes_on: threading.Event | None = None
        """Where there is one, a byte is sent now and then until it is set."""

    def client(self, scope: str = "") -> OAuthClient:
        return OAuthClient("operator", SECRET, self.url, scope)


@contextmanager
def served(endpoint: Endpoint) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            endpoint.asked.append((self.headers.get("Authorization"), form))
            self._answer()

        def do_GET(self) -> None:
            endpoint.asked.append((self.headers.get("Authorization"), {}))
            self._answer()

        def _answer(self) -> None:
            self.send_response(endpoint.status)
            for name, value in endpoint.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(endpoint.body)))
            self.end_headers()
            goes_on = endpoint.goes_on
            with suppress(OSError):
                while goes_on is not None and not goes_on.wait(0.02):
                    self.wfile.write(b" ")
                self.wfile.write(endpoint.body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/token"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
        try:
            yield endpoint
        finally:
            server.shutdown()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served(Endpoint()) as endpoint:
        yield endpoint


@pytest.fixture(autouse=True)
def in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stands still for seconds is no endpoint that is late."""
    monkeypatch.setattr(oauth, "FETCH_S", 60.0)


def test_a_token_is_asked_for_by_the_client_credentials_grant(endpoint: Endpoint) -> None:
    assert ClientCredentials(endpoint.client(scope="kafka admin")).token() == "first"
    assert endpoint.asked == [(AUTHORIZATION, {"grant_type": ["client_credentials"], "scope": ["kafka admin"]})]


def test_no_scope_is_asked_for_where_none_is_wanted(endpoint: Endpoint) -> None:
    ClientCredentials(endpoint.client()).token()
    assert endpoint.asked == [(AUTHORIZATION, {"grant_type": ["client_credentials"]})]


@pytest.mark.parametrize(("life_s", "kept_s"), [(300, REUSE_S), (10, 8.0)])
def test_a_token_serves_for_a_while_but_never_to_its_end(endpoint: Endpoint, life_s: int, kept_s: float) -> None:
    now = 100.0
    provider = ClientCredentials(endpoint.client(), lambda: now)
    endpoint.body = b'{"access_token": "first", "expires_in": %d}' % life_s
    assert provider.token() == "first"
    endpoint.body = b'{"access_token": "second", "expires_in": 300}'
    now += kept_s - 0.1
    assert provider.token() == "first"
    now += 0.2
    assert provider.token() == "second"


@pytest.mark.parametrize("life", [b'"soon"', b"[]", b"null", b"NaN"])
def test_a_token_whose_life_nobody_can_tell_is_a_token(endpoint: Endpoint, life: bytes) -> None:
    now = 100.0
    provider = ClientCredentials(endpoint.client(), lambda: now)
    endpoint.body = b'{"access_token": "first", "expires_in": %b}' % life
    assert provider.token() == "first"
    endpoint.body = b'{"access_token": "second"}'
    now += REUSE_S
    assert provider.token() == "second"


def test_one_that_has_answered_and_is_not_over_yet_keeps_nobody_waiting(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    answer_to = ClientCredentials._answer_to

    def and_lives_on(self: ClientCredentials, answers: SimpleQueue[dict[str, Any] | Exception]) -> None:
        answer_to(self, answers)
        over.wait()

    monkeypatch.setattr(ClientCredentials, "_answer_to", and_lives_on)
    now = 100.0
    provider = ClientCredentials(endpoint.client(), lambda: now)
    try:
        assert provider.token() == "first"
        endpoint.body = b'{"access_token": "second"}'
        now += REUSE_S
        assert provider.token() == "second"
    finally:
        over.set()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"error": "invalid_client", "error_description": "hunter2:&% is wrong"}', "answered 401 invalid_client"),
        (b'{"error": "hunter2:&%"}', "answered 401"),
        (b"<html>hunter2</html>", "answered 401"),
    ],
)
def test_a_refusal_is_told_without_what_the_endpoint_repeats(endpoint: Endpoint, body: bytes, told: str) -> None:
    endpoint.status, endpoint.body = 401, body
    with pytest.raises(SaslAuthenticationFailedError) as caught:
        ClientCredentials(endpoint.client()).token()
    assert caught.value.args[0] == f"the token endpoint {endpoint.url} {told}"


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"hunter2"])
def test_an_answer_without_a_token_is_told(endpoint: Endpoint, body: bytes) -> None:
    endpoint.body = body
    with pytest.raises(SaslAuthenticationFailedError, match="answered without an access_token"):
        ClientCredentials(endpoint.client()).token()


def test_an_endpoint_that_is_away_is_told() -> None:
    client = OAuthClient("operator", SECRET, "http://127.0.0.1:1/token")
    with pytest.raises(KafkaConnectionError, match=r"the token endpoint \S+ does not answer"):
        ClientCredentials(client).token()


def test_nobody_whom_it_points_to_gets_the_credentials(endpoint: Endpoint) -> None:
    with served(Endpoint()) as elsewhere:
        endpoint.status, endpoint.headers = 302, {"Location": elsewhere.url}
        with pytest.raises(SaslAuthenticationFailedError, match="answered 302"):
            ClientCredentials(endpoint.client()).token()
        assert elsewhere.asked == []


def test_one_that_sends_a_byte_now_and_then_is_not_waited_for(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte is in time, and a whole answer would take days. Meanwhile nobody asks it again."""
    opener = oauth._OPENER
    patient = SimpleNamespace(open=lambda request, timeout: opener.open(request, timeout=60.0))
    monkeypatch.setattr(oauth, "_OPENER", patient)
    monkeypatch.setattr(oauth, "FETCH_S", 0.2)
    endpoint.goes_on = threading.Event()
    credentials = ClientCredentials(endpoint.client())
    for _ in range(3):
        with pytest.raises(KafkaConnectionError, match=r"the token endpoint \S+ does not answer within 0 s"):
            credentials.token()
    assert len(endpoint.asked) == 1
    endpoint.goes_on.set()
    endpoint.goes_on = None
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with suppress(KafkaConnectionError):  # until the first answer has come
            assert credentials.token() == "first"
            return
    raise AssertionError("no token")


def test_an_answer_without_an_end_is_not_read(endpoint: Endpoint) -> None:
    endpoint.body = b'{"access_token": "' + b"x" * 70_000 + b'"}'
    with pytest.raises(SaslAuthenticationFailedError, match="answered without an access_token"):
        ClientCredentials(endpoint.client()).token()


def test_an_answer_of_any_depth_is_none(endpoint: Endpoint) -> None:
    endpoint.body = b"[" * 60_000
    with pytest.raises(SaslAuthenticationFailedError, match="answered without an access_token"):
        ClientCredentials(endpoint.client()).token()


def test_the_secret_shows_in_no_repr(endpoint: Endpoint) -> None:
    assert "hunter2" not in repr(endpoint.client())
