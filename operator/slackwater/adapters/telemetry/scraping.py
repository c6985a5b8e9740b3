"""Asks consumers' Prometheus endpoints, many at a time, and waits for none of them long.

Code in a pod may let its answer drip, and a tenant has as many pods as he likes: so a whole answer has a deadline, and
namespaces have the places fairly, by the time for which they keep them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import aiohttp

from slackwater.adapters.telemetry.gate import Gate
from slackwater.adapters.telemetry.poll_metrics import read_poll_metrics
from slackwater.api.errors import SlackwaterError
from slackwater.core.telemetry.polls import PollReading

TIMEOUT_S: Final = 3.0
"""For an answer's head; and once more for all of the rest, when it is its turn to be read."""
AT_ONCE: Final = 32
"""Many, since those that are silent take all of their time."""
READ_AT_ONCE: Final = 2
LONGEST_ANSWER: Final = 2 * 1024 * 1024
"""Bytes; a Java process with many topics publishes some hundreds of kilobytes. So many are held for each of
`READ_AT_ONCE`, once or twice, whatever consumers answer."""
_ACCEPT: Final = {"Accept": "text/plain;version=0.0.4"}


class ScrapeFailed(SlackwaterError):
    """An endpoint did not answer as it should."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the consumers of a group publish their metrics, in each of its pods."""

    port: int
    path: str = "/metrics"


class Scraper:
    """To be closed. Nothing is opened before the first question."""

    def __init__(self, *, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None
        self._asking = Gate(AT_ONCE)
        self._reading = Gate(READ_AT_ONCE)

    async def read(self, address: str, endpoint: Endpoint, namespace: str = "") -> PollReading | None:
        """None: it tells of no consumer's polls. `namespace`: the pod's. Raises ScrapeFailed and MetricsUnreadable."""
        host = f"[{address}]" if ":" in address else address
        url = f"http://{host}:{endpoint.port}/{endpoint.path.lstrip('/')}"
        async with self._asking.place(namespace):
            return await self._reading_of(url, namespace)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _reading_of(self, url: str, namespace: str) -> PollReading | None:
        try:
            async with await self._head_of(url) as response:
                if response.status != 200:
                    raise ScrapeFailed(f"{url} answered with status {response.status}")
                async with self._reading.place(namespace):
                    async with asyncio.timeout(self._timeout_s):
                        answer = await _whole(response, url)
                    return await asyncio.to_thread(read_poll_metrics, answer)  # which nobody else waits for
        except TimeoutError as error:
            raise ScrapeFailed(f"{url} does not answer") from error
        except aiohttp.ClientError as error:
            raise ScrapeFailed(f"{url} cannot be read: {error}") from error

    async def _head_of(self, url: str) -> aiohttp.ClientResponse:
        """The deadlines are ours: the client's own would go on while others' answers are read."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None), headers=_ACCEPT)
        async with asyncio.timeout(self._timeout_s):
            return await self._session.get(url, allow_redirects=False)


async def _whole(response: aiohttp.ClientResponse, url: str) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > LONGEST_ANSWER:
            raise ScrapeFailed(f"{url} answered with more than {LONGEST_ANSWER} bytes")
    return bytes(content)
