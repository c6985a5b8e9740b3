"""Tokens for SASL OAUTHBEARER, by the client credentials grant of OAuth 2.0 (RFC 6749, section 4.4).

confluent-kafka fetches its tokens by itself; this is for kafka-python, which asks for one at each log-in, in the
network thread of that cluster: it waits there for `FETCH_S` at most, whatever the endpoint does meanwhile. What goes
wrong is said with the endpoint's address and its error code, never with what was sent nor with what else it answered.
"""

from __future__ import annotations

import base64
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

import kafka.errors as kafka_errors
from kafka.net.sasl.oauth import AbstractTokenProvider

FETCH_S: Final = 3.0
REUSE_S: Final = 30.0
"""Long enough for the connections to all brokers; short enough to be rid of a token that they do not take any more."""
_PART_OF_LIFE: Final = 0.8
_DEFAULT_LIFE_S: Final = 60.0
_MAX_ANSWER_BYTES: Final = 64 * 1024
_MOST_PARTS: Final = 500
# The error codes of RFC 6749, section 5.2. Anything else that an endpoint sends is not repeated.
_ERRORS: Final = frozenset(
    {
        "invalid_request",
        "invalid_client",
        "invalid_grant",
        "unauthorized_client",
        "unsupported_grant_type",
        "invalid_scope",
    }
)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """What an endpoint points to is asked by nobody: it may be an address that only the operator can reach."""

    def redirect_request(self, *_: object) -> None:
        """None: the redirection is the answer, and an error."""


_OPENER: Final = urllib.request.build_opener(_NoRedirects)


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """Who asks for tokens, and where."""

    client_id: str
    client_secret: str = field(repr=False)
    token_endpoint: str
    scope: str = ""


class ClientCredentials(AbstractTokenProvider):  # type: ignore[misc] # kafka-python is not typed
    """Fetches tokens. For one thread."""

    def __init__(self, client: OAuthClient, now: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._now = now
        self._token = ""
        self._fetch_again_at = 0.0
        self._asking: Thread | None = None

    def token(self) -> str:
        """Raises SaslAuthenticationFailedError when the endpoint says no, KafkaConnectionError when it says nothing."""
        if not self._token or self._now() >= self._fetch_again_at:
            answer = self._fetch_in_time()
            self._token = str(answer["access_token"])
            self._fetch_again_at = self._now() + min(_life_s(answer) * _PART_OF_LIFE, REUSE_S)
        return self._token

    def _fetch_in_time(self) -> dict[str, Any]:
        """An endpoint that sends a byte now and then is in time with each of them: so somebody else waits for it."""
        if self._asking is None or not self._asking.is_alive():
            answers: SimpleQueue[dict[str, Any] | Exception] = SimpleQueue()
            self._asking = Thread(target=self._answer_to, args=(answers,), name="token", daemon=True)
            self._asking.start()
            with suppress(Empty):
                answer = answers.get(timeout=FETCH_S)
                self._asking = None  # it has answered; whether it still lives then is chance
                if isinstance(answer, Exception):
                    raise answer
                return answer
        where = f"the token endpoint {self._client.token_endpoint}"
        raise kafka_errors.KafkaConnectionError(f"{where} does not answer within {FETCH_S:.0f} s")

    def _answer_to(self, answers: SimpleQueue[dict[str, Any] | Exception]) -> None:
        try:
            answers.put(self._fetch())
        except Exception as error:  # noqa: BLE001 - it is for who waits
            answers.put(error)

    def _fetch(self) -> dict[str, Any]:
        where = f"the token endpoint {self._client.token_endpoint}"
        try:
            with _OPENER.open(self._request(), timeout=FETCH_S) as response:
                answer = _read(response.read(_MAX_ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            with error:
                raise kafka_errors.SaslAuthenticationFailedError(f"{where} answered {_said(error)}") from None
        except urllib.error.URLError as error:
            raise kafka_errors.KafkaConnectionError(f"{where} does not answer: {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            raise kafka_errors.KafkaConnectionError(f"{where} does not answer: {type(error).__name__}") from None
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or not answer.get("access_token"):
            raise kafka_errors.SaslAuthenticationFailedError(f"{where} answered without an access_token")
        return answer

    def _request(self) -> urllib.request.Request:
        form = {"grant_type": "client_credentials", **({"scope": self._client.scope} if self._client.scope else {})}
        address = self._client.token_endpoint  # http or https, as is checked where the Secret is read
        request = urllib.request.Request(address, urlencode(form).encode(), method="POST")  # noqa: S310 - see above
        request.add_header("Accept", "application/json")
        login = f"{quote_plus(self._client.client_id)}:{quote_plus(self._client.client_secret)}"
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(login.encode()).decode()}")
        return request


def _read(answer: bytes) -> Any:
    """Raises ValueError, too, for one that is nested deeper than anybody needs."""
    if answer.count(b"[") + answer.count(b"{") > _MOST_PARTS:
        raise ValueError("too many lists and mappings")
    return json.loads(answer)


def _life_s(answer: dict[str, Any]) -> float:
    try:
        life_s = float(answer.get("expires_in") or _DEFAULT_LIFE_S)
    except (TypeError, ValueError):  # it should be a number, and need not be there at all
        return _DEFAULT_LIFE_S
    return life_s if life_s > 0 else _DEFAULT_LIFE_S  # NaN is not


def _said(error: urllib.error.HTTPError) -> str:
    """The status, and the error's code where the endpoint sent a standard one."""
    try:
        code = _read(error.read(_MAX_ANSWER_BYTES)).get("error")
    except (OSError, ValueError, AttributeError):
        code = None
    return f"{error.code} {code}" if code in _ERRORS else str(error.code)
