"""What lives for good is looked through for garbage once."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

from slackwater.shell.operator import Operator, _prepare
from slackwater.shell.settings import Settings
from tests.shell.fakes import FakeApi


async def test_what_was_there_at_the_start_is_looked_through_no_more() -> None:
    api: Any = FakeApi()
    operator = Operator(api, Settings.model_validate({}))
    parts: list[asyncio.Task[object]] = []
    try:
        await _prepare(operator, parts)
        assert operator.ready.is_set()
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
