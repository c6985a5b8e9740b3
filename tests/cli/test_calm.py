"""How long the command watches a group before it says that it is calm."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from slackwater.cli.looking import calm
from slackwater.cli.looking.calm import watch_for
from slackwater.cli.looking.lookout import Lookout


class SlowToBegin:
    """Its first look opens the connections."""

    def __init__(self, first_s: float) -> None:
        self.now = 0.0
        self.first_s = first_s
        self.looks: list[tuple[float, float]] = []
        """When each began and ended."""

    async def look(self) -> None:
        began = self.now
        self.now += 0.1 if self.looks else self.first_s
        self.looks.append((began, self.now))

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("first_s", [0.1, 7.0])
async def test_it_watches_from_the_end_of_its_first_look(monkeypatch: pytest.MonkeyPatch, first_s: float) -> None:
    lookout = SlowToBegin(first_s)
    monkeypatch.setattr(calm, "time", SimpleNamespace(monotonic=lambda: lookout.now))
    monkeypatch.setattr(calm, "asyncio", SimpleNamespace(sleep=lookout.sleep))
    await watch_for(cast("Lookout", lookout), "watching", 3.0)
    assert lookout.looks[-1][0] - lookout.looks[0][1] == pytest.approx(3.0)


async def test_for_no_time_it_looks_once() -> None:
    lookout = SlowToBegin(0.1)
    await watch_for(cast("Lookout", lookout), "watching", 0.0)
    assert len(lookout.looks) == 1
