"""How kopf reaches the API server: as it does by itself, but that of each object of a list it gets what is kept.

It parses a list as a whole, and has of each object what it saw last for seconds; of a megabyte on the wire, it would be
twenty and more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import aiohttp
import kopf

from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.lists import read_aside
from slackwater.shell.store import WATCHED

_BY_PLURAL: Final = {kind.plural: kind for kind in WATCHED}


class _LeanResponse(aiohttp.ClientResponse):
    async def json(self, **_: Any) -> Any:
        """By the path's end one knows what is listed; all else stays as it is."""
        kind = _BY_PLURAL.get(self.url.name)
        text = await self.read()
        return await read_aside(text, (lambda obj: obj) if kind is None else partial(lean, kind))


@dataclass(frozen=True, kw_only=True, eq=False)
class LeanSession(kopf.AiohttpSession):
    """Equal to one of equal credentials: what was refused once kopf does not try again and again."""

    found: kopf.ConnectionInfo

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LeanSession) and self.found == other.found

    def __hash__(self) -> int:
        return hash(self.found)


def lean_session(found: kopf.ConnectionInfo) -> LeanSession:
    """With these credentials. In the event loop that is to use it."""
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=found.as_ssl_context()),
        headers=found.as_http_headers(),
        proxy=found.proxy_url,
        trust_env=found.trust_env,
        response_class=_LeanResponse,
    )
    return LeanSession(
        found=found,
        server=found.server,
        priority=found.priority,
        default_namespace=found.default_namespace,
        expiration=found.expiration,
        aiohttp_session=session,
    )
