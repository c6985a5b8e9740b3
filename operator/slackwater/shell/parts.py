"""The parts that run as long as the operator does: none should end by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from slackwater.api.errors import SlackwaterError


async def until_one_ends(watching: asyncio.Task[None], parts: Sequence[asyncio.Task[object]]) -> None:
    """Kopf ends on a signal, having ended the parts, and then all is well; a part should never end by itself."""
    done, _ = await asyncio.wait([watching, *parts], return_when=asyncio.FIRST_COMPLETED)
    by_themselves = [task for task in done if not task.cancelled()]
    if not by_themselves or watching in by_themselves:
        return await watching
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    for task in by_themselves:
        task.result()
    raise SlackwaterError("a part of the operator has ended: see the log above; the process starts again")


async def end(tasks: Sequence[asyncio.Task[object]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
