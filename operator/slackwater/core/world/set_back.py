"""The memory of a clock that was ahead: our own, which has been put right since, or that of an operator before us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from slackwater.core.world.claimed import Outranked
from slackwater.core.world.handover import Handover
from slackwater.core.world.history import CLOCK_SET_BACK_S
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.turn import TurnRecord


def not_in_the_future(memory: RolloutMemory, now: float) -> RolloutMemory:
    """What lies in the future of `now` came now: by operators' clocks; a node's time says which run it was.

    Up to 30 s are left alone: they cost no more than a wait. With `retry` they cost pods: each that is made seems to be
    one from before it, and is deleted again. For `put_back`, see `rollout.scaling`.
    """
    if all(moment <= now for moment in _moments(memory)):
        return memory

    def past(moment: float) -> float:
        return now if moment > now + CLOCK_SET_BACK_S else moment

    def maybe(moment: float | None) -> float | None:
        return None if moment is None else past(moment)

    upgrade, canary, step, handover = memory.upgrade, memory.canary, memory.step, memory.handover
    return replace(
        memory,
        started_at=maybe(memory.started_at),
        retried_at=None if memory.retried_at is None else min(memory.retried_at, now),
        ended_since=maybe(memory.ended_since),
        claimed=None if memory.claimed is None else replace(memory.claimed, at=past(memory.claimed.at)),
        remaking=None
        if memory.remaking is None
        else replace(memory.remaking, announced_at=past(memory.remaking.announced_at)),
        outranked=None if memory.outranked is None else Outranked(maybe(memory.outranked.gone_since)),
        step=None if step is None else replace(step, started_at=past(step.started_at)),
        canary=None if canary is None else replace(canary, held_since=past(canary.held_since)),
        upgrade=None if upgrade is None else replace(upgrade, stopped_at=maybe(upgrade.stopped_at)),
        turn=None if memory.turn is None else _turn(memory.turn, past),
        handover=None if handover is None else _handover(handover, now + CLOCK_SET_BACK_S, now),
        released={k: replace(each, released_at=past(each.released_at)) for k, each in memory.released.items()},
        refused={k: replace(each, restarted_at=past(each.restarted_at)) for k, each in memory.refused.items()},
        holders={
            k: replace(each, there_by=past(each.there_by), stayed=maybe(each.stayed))
            for k, each in memory.holders.items()
        },
    )


def _moments(memory: RolloutMemory) -> Iterator[float]:
    """All that are written down by operators' clocks. Asked of each pass, and nearly always past."""
    upgrade, canary, step, handover = memory.upgrade, memory.canary, memory.step, memory.handover
    maybe = [
        memory.started_at,
        memory.retried_at,
        memory.ended_since,
        memory.claimed.at if memory.claimed is not None else None,
        memory.outranked.gone_since if memory.outranked is not None else None,
        memory.remaking.announced_at if memory.remaking is not None else None,
        step.started_at if step is not None else None,
        canary.held_since if canary is not None else None,
        upgrade.stopped_at if upgrade is not None else None,
    ]
    if memory.turn is not None:
        maybe += [memory.turn.asked_at, memory.turn.given_at, memory.turn.done_at, memory.turn.tried_since]
    if handover is not None:
        maybe += [handover.started_at, handover.alone_since, handover.replacement.running_since]
    yield from (moment for moment in maybe if moment is not None)
    yield from (each.released_at for each in memory.released.values())
    yield from (each.restarted_at for each in memory.refused.values())
    yield from (each.there_by for each in memory.holders.values())


def _turn(turn: TurnRecord, past: Callable[[float], float]) -> TurnRecord:
    given_at, done_at, tried_since = turn.given_at, turn.done_at, turn.tried_since
    return replace(
        turn,
        asked_at=past(turn.asked_at),
        given_at=None if given_at is None else past(given_at),
        done_at=None if done_at is None else past(done_at),
        tried_since=None if tried_since is None else past(tried_since),
    )


def _handover(handover: Handover, latest: float, now: float) -> Handover:
    """When the replacement was first seen to run is not known then: the next join would be expected by it."""
    replacement, alone_since = handover.replacement, handover.alone_since
    if replacement.running_since is not None and replacement.running_since > latest:
        replacement = replace(replacement, running_since=None)
    return replace(
        handover,
        started_at=now if handover.started_at > latest else handover.started_at,
        alone_since=now if alone_since is not None and alone_since > latest else alone_since,
        replacement=replacement,
    )
