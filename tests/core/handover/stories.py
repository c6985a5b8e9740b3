"""Builders of what is seen of an ordinal in a handover, and of what was written down of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from slackwater.core.decision.acts import WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.members.clocks import SESSION_MARGIN_S
from slackwater.core.world.handover import Begun, Handover, Held, Over, TakenOver, Undone
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World
from tests.core.factories import LONG_AGO, NAME, NOW, group, member, observation, pod, tp, workload, world

ALT: Final = "payments-alt"
A, B, C = (f"payments-0-{incarnation}" for incarnation in "abc")
"""Member ids of the instance id payments-0, oldest first."""
BEGUN_AT, STARTED_AT, ABSENT_AT, JOINED_AT = NOW - 30, NOW - 20, NOW - 10.5, NOW - 10
"""The handover began, the replacement's container started, the last look that showed the old id, and the first that
showed the new one."""
OLD: Final = pod(0, uid="old", workload=NAME)
NEW: Final = pod(0, uid="new", name=f"{ALT}-0", workload=ALT, created_at=NOW - 25, started_at=STARTED_AT)
NEW_ELSEWHERE: Final = replace(NEW, address="10.0.1.0")
SESSION_S: Final = 45.0 + SESSION_MARGIN_S
"""The longest that a dead member can stay in the group."""


HELD: Final = Held({"payments-0": A}, OLD.run)


def begun_with(held: Held = HELD, **changes: Any) -> Handover:
    """A handover to `payments-alt` that began while the old pod held the id as member A."""
    return replace(Handover(0, ALT, BEGUN_AT, Begun(held)), **changes)


JOINED: Final = MemberSighting(B, JOINED_AT, ABSENT_AT, frozenset({tp(0)}), takeovers=(JOINED_AT,))
AFTER_NOBODY: Final = replace(JOINED, takeovers=())
"""The look before the one that first showed B showed nobody under the id."""


def looked_at(
    holds: str | None = B,
    sighting: MemberSighting | None = JOINED,
    commits_moved_after: float | None = None,
    gone_since: float | None = None,
    **changes: Any,
) -> World:
    """The group lists `holds` under payments-0. `sighting`: what was watched of that."""
    members = {} if sighting is None else {"payments-0": sighting}
    history = GroupHistory(
        observed_at=NOW,
        watched_since=LONG_AGO,
        unchanged_since=LONG_AGO,
        members=members,
        commit_moved_after={} if commits_moved_after is None else {tp(0): commits_moved_after},
        departures={} if gone_since is None else {"payments-0": gone_since},
    )
    listed = () if holds is None else (member(0, member_id=holds),)
    kafka = observation((*listed, member(1), member(2)))
    return world(
        **({"kafka": kafka, "history": history, "group": group(rollout={"strategy": "WarmHandover"})} | changes)
    )


def with_members(seen: World, *more: Member) -> World:
    """The group lists these, too, and the pods of ordinal 0 are there."""
    assert seen.seen is not None
    return replace(seen, kafka=replace(seen.seen, members=(*seen.members, *more)), all_pods=(OLD, NEW_ELSEWHERE))


ALONE_SINCE: Final = NOW - 80
"""The other process of the handover had ended by then."""


def over(**changes: Any) -> Handover:
    """The replacement has taken over as member B, and the other process has ended."""
    reached = TakenOver(Held({"payments-0": B}, NEW.run), {"payments-0": A})
    return replace(Handover(0, ALT, BEGUN_AT, Over(reached), alone_since=ALONE_SINCE), **changes)


def handed_back(held: Held = HELD) -> Handover:
    """The replacement was removed, and the old pod had the id as member A."""
    return Handover(0, ALT, BEGUN_AT, Over(Undone(held)), alone_since=ALONE_SINCE)


def two_threads(first: str, second: str, *sightings: MemberSighting) -> World:
    """A pod with two members, payments-0-0 and payments-0-1."""
    listed = [
        member(0, instance_id="payments-0-0", member_id=first),
        member(0, instance_id="payments-0-1", member_id=second),
    ]
    watched = {f"payments-0-{thread}": sighting for thread, sighting in enumerate(sightings)}
    spec = group(rollout={"strategy": "WarmHandover"}, membersPerPod=2)
    return world(group=spec, kafka=observation(listed), history=GroupHistory(members=watched))


TWO_HELD: Final = begun_with(Held({"payments-0-0": "a0", "payments-0-1": "a1"}, OLD.run))

IN_USE: Final = workload(replicas=3, template_hash="the version before", update_revision="before", created_at=LONG_AGO)
NEWCOMER: Final = workload(
    name=ALT, uid="alt-uid", replicas=1, template_hash="a version", update_revision="after", created_at=NOW - 99
)
"""Ordinal 0 is in both: it is being handed over."""


def both(
    seen: World,
    handover: Handover | None,
    pods: tuple[Pod, ...] = (OLD, NEW),
    in_use: Workload = IN_USE,
    newcomer: Workload = NEWCOMER,
    **memory: Any,
) -> World:
    """Two StatefulSets in the middle of a rollout: `pods` and those of ordinals 1 and 2, which are in use."""
    remembered = RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash="a version", handover=handover)
    others = (pod(1, workload=NAME), pod(2, workload=NAME))
    if "retried_at" in memory:
        pods = tuple(replace(each, template_hash="a version") if each.workload == ALT else each for each in pods)
    return replace(
        seen,
        sets=(in_use, newcomer),
        all_pods=(*(each for each in pods), *(each for each in others if each.ordinal in in_use.ordinals)),
        memory=replace(remembered, **memory),
    )


def shown(decision: Decision | None) -> str:
    """What is done, in a line: a write's purpose, StatefulSet and ordinals, or what is waited for."""
    if decision is None:
        return "nothing"
    act, hold = decision.act, decision.hold
    if isinstance(act, WriteWorkload):
        return f"{act.purpose.name} {act.name} [{act.start}, {act.start + act.replicas})"
    if act is not None:
        return f"{type(act).__name__} {getattr(act, 'name', '')}"
    return f"{hold.reason}: {hold.message}" if hold is not None else "remember"
