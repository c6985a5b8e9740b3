"""A remedy that stands still: the way back, or a cut-over that has stopped all pods, which waits for Kafka or a person.

Nobody refuses it, and it counts while it moves. It has no end of its own, though: what it counts in would be full for
as long as it stands, and of a fleet that lets one group move, all others would wait for that one (ADR 20).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.fleet.turn import mends
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.turn import TurnRecord
from slackwater.core.world.world import World

STANDS_AFTER_S: Final = 3600.0
"""At least: a way back that waits for lag, or for a person at a desk, goes on before that. A cell is stuck after as
long (`reservation.STUCK_AFTER_S`)."""


def of_a_remedy(turn: TurnRecord | None, world: World, *, tries: bool) -> TurnRecord | None:
    """Whether others have its room, since nothing has come of what it does for long.

    `world`: with what is to be remembered; `tries`: there is an act, which may be refused as the one before was. A
    remedy that began before any fleet selected the group has no turn: it is given a record while it stands.
    """
    last = max(_results(world), default=world.now)
    if not _is_long_ago(world, last):
        return going_on(turn)
    since = turn.tried_since if turn is not None else None
    if since is None:
        since = world.now if tries else max((at for at in _steps(world.memory) if at > last), default=None)
    stands = since is None or _is_long_ago(world, since)
    return replace(turn or TurnRecord(MoveReason.ROLLOUT, world.now), stands=stands, tried_since=since)


def going_on(turn: TurnRecord | None) -> TurnRecord | None:
    """A record that only says that it stood still is needed no more."""
    if turn is None or not (turn.stands or turn.tried_since is not None):
        return turn
    return None if came_before_its_turn(turn) else replace(turn, stands=False, tried_since=None)


def came_before_its_turn(turn: TurnRecord) -> bool:
    """What stands still began when no fleet selected the group."""
    stood = turn.stands or turn.tried_since is not None
    return stood and turn.asks and turn.yielded == 0


def made_no_step_for_long(world: World) -> bool:
    """For an hour, or `rejoinTimeout` where that is longer, nothing was done, and no pod was made."""
    return _is_long_ago(world, max([*_moments(world.memory), *_made_at(world)], default=world.now))


def without_a_plan(memory: RolloutMemory, now: float) -> tuple[TurnRecord | None, float | None]:
    """The turn of a group whose spec cannot be read, so that nothing is decided that could end it; and in how many
    seconds others have its room, None: nobody waits for that."""
    turn = memory.turn
    if turn is None or turn.stands or not (turn.is_held or mends(memory)):
        return turn, None
    left_s = max(_moments(memory), default=now) + STANDS_AFTER_S - now
    if left_s > 0:
        return turn, left_s
    return (replace(turn, stands=True) if mends(memory) else given_back(turn, now)), None


def given_back(turn: TurnRecord, now: float) -> TurnRecord:
    """Others go; it keeps its place."""
    ended = replace(turn, given_at=None, cluster="", coordinator=None, stands=False, tried_since=None)
    return replace(ended, yielded=turn.yielded + 1, again_at=now)


def _is_long_ago(world: World, at: float) -> bool:
    return world.now - at > max(STANDS_AFTER_S, world.group.spec.rollout.rejoin_timeout_s)


def _results(world: World) -> list[float]:
    """When something last came of what was done: what is tried again and again gives none of these."""
    memory, workload = world.memory, world.workload
    is_stopped = memory.upgrade is not None and (workload is None or workload.replicas == 0)
    moments = (
        memory.started_at,
        memory.turn.given_at if memory.turn is not None else None,
        memory.step.started_at if memory.step is not None and memory.step.made else None,
        memory.upgrade.stopped_at if memory.upgrade is not None and is_stopped else None,
    )
    return [*_known(moments), *_made_at(world)]


def _steps(memory: RolloutMemory) -> list[float]:
    """When its last steps were, whatever came of them."""
    return _known(
        (
            memory.step.started_at if memory.step is not None else None,
            memory.handover.started_at if memory.handover is not None else None,
            memory.upgrade.stopped_at if memory.upgrade is not None else None,
        )
    )


def _made_at(world: World) -> list[float]:
    return [pod.created_at for pod in world.all_pods]


def _moments(memory: RolloutMemory) -> list[float]:
    """When it began, and when its last steps were."""
    given_at = memory.turn.given_at if memory.turn is not None else None
    return [*_known((memory.started_at, given_at)), *_steps(memory)]


def _known(moments: Iterable[float | None]) -> list[float]:
    return [at for at in moments if at is not None]
