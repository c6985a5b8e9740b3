"""Who may read /metrics, where that is not left to the network: the API server says who a token is, and what it may.

The same two questions that kube-rbac-proxy asks: a TokenReview, and a SubjectAccessReview for `get` on the path.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256
from http import HTTPStatus
from typing import Any, Final

from slackwater.adapters.cluster.errors import ClusterFailed
from slackwater.adapters.cluster.paths import ACCESS_REVIEW, TOKEN_REVIEW
from slackwater.ports import Cluster, Kind

KEPT_S: Final = 60.0
"""A right that is withdrawn is gone after that; and nobody asks more often for one token, good or bad."""
MOST_KEPT: Final = 1_000
"""Tokens whose answers are kept; strangers can make up any number."""
AT_A_TIME: Final = 4
"""Reviews. Who comes beyond that waits his turn, and the API server has its peace."""
PATH: Final = "/metrics"
_SCHEME: Final = "bearer "


class Readers:
    """Answers by HTTP's own words: 200, 401 without a token that is anybody's, 403 for one without the right, and 503
    while the API server does not say."""

    def __init__(self, api: Cluster, now: Callable[[], float]) -> None:
        self._api = api
        self._now = now
        self._turns = asyncio.Semaphore(AT_A_TIME)
        self._known: dict[bytes, tuple[HTTPStatus, float]] = {}
        """Digest of a token → the answer, and since when; the oldest first."""

    async def admit(self, authorization: str) -> HTTPStatus:
        """`authorization`: the header as it came, empty where there was none."""
        if not authorization.lower().startswith(_SCHEME) or not (token := authorization[len(_SCHEME) :].strip()):
            return HTTPStatus.UNAUTHORIZED
        key = sha256(token.encode(errors="surrogateescape")).digest()
        if (known := self._remembered(key)) is not None:
            return known
        async with self._turns:
            if (known := self._remembered(key)) is not None:  # by now
                return known
            try:
                found = await self._asked(token)
            except ClusterFailed:
                return HTTPStatus.SERVICE_UNAVAILABLE
        self._known.pop(key, None)
        self._known[key] = (found, self._now())
        while len(self._known) > MOST_KEPT:
            del self._known[next(iter(self._known))]
        return found

    def _remembered(self, key: bytes) -> HTTPStatus | None:
        found, at = self._known.get(key, (None, 0.0))
        return found if found is not None and 0 <= self._now() - at < KEPT_S else None

    async def _asked(self, token: str) -> HTTPStatus:
        who = await self._review(TOKEN_REVIEW, {"token": token})
        if not who.get("authenticated"):
            return HTTPStatus.UNAUTHORIZED
        user: dict[str, Any] = who.get("user") or {}
        about = {"user": user.get("username", ""), "groups": user.get("groups") or [], "extra": user.get("extra") or {}}
        asked = {**about, "uid": user.get("uid", ""), "nonResourceAttributes": {"path": PATH, "verb": "get"}}
        may = await self._review(ACCESS_REVIEW, asked)
        return HTTPStatus.OK if may.get("allowed") else HTTPStatus.FORBIDDEN

    async def _review(self, kind: Kind, spec: dict[str, Any]) -> dict[str, Any]:
        body = {"apiVersion": kind.api_version, "kind": kind.name, "spec": spec}
        answer = await self._api.create(kind, "", body)
        status: dict[str, Any] = answer.get("status") or {}
        return status
