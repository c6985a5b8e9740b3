"""A KIP-848 group of three static members, in which one dies: observations, pods and memories of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from slackwater.core.upkeep import note_members
from slackwater.core.world.history import GroupHistory, advance
from slackwater.core.world.memory import LastHolder, Release, RolloutMemory
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, Member, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World
from tests.core.factories import LONG_AGO, NEW, NOW, folded, member, observation, pod, workload, world

MODERN: Final[dict[str, Any]] = {"type": GroupType.CONSUMER}
EPOCH: Final = 7
AT_REST: Final = workload(current_revision=NEW)


def modern(*changed: Member, at: float = NOW, **changes: Any) -> GroupObservation:
    """A KIP-848 group of three, some of its members being otherwise."""
    usual = {m.instance_id: m for m in (member(ordinal, epoch=EPOCH) for ordinal in range(3))}
    return observation({**usual, **{m.instance_id: m for m in changed}}.values(), at=at, **(MODERN | changes))


def restarted(ordinal: int = 1, ago_s: float = 4.0, took_s: float | None = None, **changes: Any) -> Pod:
    """A pod whose container ended, and started again one second later. `took_s`: to join, the time before."""
    started = NOW - ago_s
    ran_since = LONG_AGO + 2 if took_s is None else NOW - 3590 - took_s
    usual = {"started_at": started, "ended_at": started - 1, "last_run_started_at": ran_since, "restarts": 1}
    return pod(ordinal, NEW, **(usual | changes))


def scene(*pods: Pod, kafka: GroupObservation | Unobserved | None = None, **changes: Any) -> World:
    """A KIP-848 group at rest that has been watched for an hour; these pods are otherwise. An id that was released was
    free as soon as it was remembered."""
    seen = kafka if kafka is not None else modern()
    well = {each.ordinal: each for each in (pod(0, NEW), pod(1, NEW), pod(2, NEW))}
    history = changes.pop("history", folded(modern(at=NOW - 3600), modern(at=NOW - 3590)))
    if isinstance(seen, GroupObservation):
        released = changes.get("memory", RolloutMemory()).released.items()
        for at in sorted(each.released_at for key, each in released if key not in seen.held_ids):
            history = advance(history, replace(seen, observed_at=max(at, history.observed_at or 0.0)))
        history = advance(history, seen)
    made = world(
        pods=tuple({**well, **{each.ordinal: each for each in pods}}.values()),
        kafka=seen,
        history=history,
        workload=AT_REST,
        **changes,
    )
    return made.remembering(note_members(made).memory)


def held(ordinal: int, there_by: float, incarnation: str = "a") -> RolloutMemory:
    """What an operator that was restarted meanwhile remembers."""
    return RolloutMemory(holders={f"payments-{ordinal}": LastHolder(f"payments-{ordinal}-{incarnation}", there_by)})


NEWLY_WATCHED: Final[dict[str, Any]] = {"history": GroupHistory()}
"""The operator was restarted just now."""
AWAY = modern(member(1, epoch=-2), state=GroupState.RECONCILING)
BACK = modern(member(1, "b", epoch=EPOCH))
GONE = observation((member(0, epoch=EPOCH), member(2, epoch=EPOCH)), **MODERN)


def released(ago_s: float, **changes: Any) -> RolloutMemory:
    return replace(held(1, NOW - 3590), released={"payments-1": Release("payments-1-a", NOW - ago_s, **changes)})
