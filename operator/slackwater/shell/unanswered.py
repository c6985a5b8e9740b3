"""Writes that got no answer, by group: what they say to people is said once it shows that they were carried out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from slackwater.core.decision.decision import Decision
from slackwater.core.done import was_carried_out
from slackwater.core.world.world import World
from slackwater.shell.store import Key

WITHIN_S: Final = 60.0
"""What has not shown by then counts as not done."""


class UnansweredAct(NamedTuple):
    """A decision, and the world that it was made about."""

    world: World
    decided: Decision


class UnansweredStatus(NamedTuple):
    """What was written, over which status, by which decision, and when, in seconds since the epoch."""

    status: Mapping[str, Any]
    before: Mapping[str, Any]
    decided: Decision
    at: float


class Unanswered:
    """The last act and the last status of each group; they are gone with the operator."""

    def __init__(self) -> None:
        self._acts: dict[Key, UnansweredAct] = {}
        self._statuses: dict[Key, UnansweredStatus] = {}

    def add_act(self, key: Key, world: World, decided: Decision) -> None:
        self._acts[key] = UnansweredAct(world, decided)

    def add_status(self, key: Key, written: UnansweredStatus) -> None:
        self._statuses[key] = written

    def carried_out(self, key: Key, world: World, decided: Decision) -> UnansweredAct | None:
        """What shows in this world to have been carried out, once. `decided`: what follows; an act ends the wait."""
        found = self._acts.get(key)
        if found is None:
            return None
        done = found.decided.act is not None and was_carried_out(found.world, world, found.decided.act)
        if done or decided.act is not None or world.now > found.world.now + WITHIN_S:
            del self._acts[key]
        return found if done else None

    def written(self, key: Key, status: Mapping[str, Any], now: float) -> UnansweredStatus | None:
        """The one that got no answer, once, when the group's `status` shows that it was written."""
        found = self._statuses.get(key)
        if found is None:
            return None
        if found.status == status or now > found.at + WITHIN_S:
            del self._statuses[key]
        return found if found.status == status else None

    def answered(self, key: Key) -> None:
        """Another status was written, and what it says was said."""
        self._statuses.pop(key, None)

    def forget(self, key: Key) -> None:
        self._acts.pop(key, None)
        self._statuses.pop(key, None)
