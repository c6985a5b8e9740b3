"""A pod that has not joined in time, and may have been refused unseen, is restarted once before its version fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.acts import DeletePod
from slackwater.core.decision.reasons import Reason
from slackwater.core.members.refused import last_chance, still_refused
from slackwater.core.plan import plan
from slackwater.core.world.memory import Refusal, RolloutMemory, RolloutPhase, Step
from slackwater.core.world.observation import GroupType, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import (
    NOW,
    changed,
    folded,
    fresh_pod,
    group,
    member,
    members,
    observation,
    pod,
    workload,
    world,
)

BEGUN = NOW - 700
STEP = Step(2, NOW - 400, {"payments-2": "payments-2-a"}, made=True)
MEMORY = RolloutMemory(phase=RolloutPhase.PROGRESSING, started_at=BEGUN, step=STEP)
AT_WORK = workload(partition=2)
MODERN: dict[str, Any] = {"type": GroupType.CONSUMER}


def crashed(**changes: Any) -> Pod:
    """It ran for two seconds, and what came after it has not joined."""
    runs = {"started_at": NOW - 390, "ended_at": NOW - 391, "last_run_started_at": NOW - 393, "restarts": 1}
    return replace(fresh_pod(2, 395), **({"protocol": Profile.CONSUMER} | runs | changes))


def scene(new: Pod, memory: RolloutMemory = MEMORY, **changes: Any) -> World:
    """Pod 2 has the new version, and has been out of the group for longer than `rejoinTimeout`."""
    looks = [observation(members(0, 1), at=NOW - ago_s, **MODERN) for ago_s in (1000, 301, 0)]
    usual = {"pods": (pod(0), pod(1), new), "kafka": looks[-1], "history": folded(*looks), "workload": AT_WORK}
    return world(memory=memory, **(usual | changes))


def had_one(restarted_at: float, *, unseen: bool = True) -> RolloutMemory:
    return replace(MEMORY, refused={"payments-2": Refusal(restarted_at, unseen=unseen)})


TABLE: list[tuple[str, World, bool]] = [
    ("its process was refused, or is slow", scene(crashed()), True),
    ("it is not Ready", scene(crashed(ready=False)), True),
    ("it has had its chance", scene(crashed(), had_one(BEGUN)), False),
    ("it was restarted for a refusal that was seen", scene(crashed(), had_one(BEGUN, unseen=False)), True),
    ("in an earlier rollout", scene(crashed(), had_one(BEGUN - 1)), True),
    ("its first process", scene(crashed(last_run_started_at=None, ended_at=None, restarts=0)), False),
    ("its container waits", scene(crashed(started_at=None)), False),
    ("it is ending", scene(crashed(terminating=True)), False),
    ("it is not there", scene(crashed(), pods=(pod(0), pod(1))), False),
    ("it is a classic one", scene(crashed(protocol=Profile.EAGER)), False),
    ("it would come back with another version", scene(crashed(revision="other")), False),
    ("nobody refuses a dynamic member", scene(crashed(), group=group(membership="Dynamic")), False),
    ("the group is classic by now", scene(crashed(), kafka=observation(members(0, 1))), True),
    ("it is no group of consumers", scene(crashed(), kafka=observation(members(0, 1), type=GroupType.OTHER)), False),
    ("one of its members is there", scene(crashed(), kafka=observation((member(2, "b"),), **MODERN)), False),
    ("Kafka cannot be asked", scene(crashed(), kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW)), False),
]


@pytest.mark.parametrize(("given", "due"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_who_gets_another_chance(given: World, due: bool) -> None:
    found = last_chance(given, AT_WORK, 2)
    assert (found is not None) == due
    if found is not None:
        assert isinstance(found.act, DeletePod)
        assert found.act.uid == "uid-2-new"
        refusal = found.memory.refused["payments-2"]
        assert (refusal.restarted_at, refusal.unseen) == (NOW, True)


def test_it_comes_before_the_version_is_called_failed_and_only_once() -> None:
    given = _with_what_is_wanted(scene(crashed()))
    first = plan(given)
    assert isinstance(first.act, DeletePod)
    assert first.memory.phase is RolloutPhase.PROGRESSING

    second = plan(replace(given, memory=first.memory))
    assert (second.act, second.memory.phase) == (None, RolloutPhase.FAILED)
    assert second.hold is not None
    assert second.hold.reason is Reason.REJOIN_TIMEOUT


def test_it_is_remembered_for_as_long_as_the_rollout_takes() -> None:
    long_ago = replace(MEMORY, started_at=NOW - 5000, refused={"payments-2": Refusal(NOW - 4000)})
    assert still_refused(scene(crashed(), long_ago)).keys() == {"payments-2"}
    assert still_refused(scene(crashed(), replace(long_ago, phase=RolloutPhase.COMPLETE))) == {}


def _with_what_is_wanted(given: World) -> World:
    """As if the StatefulSet had what the spec asks for already."""
    wanted = plan(replace(given, memory=RolloutMemory(protocol=Profile.CONSUMER))).memory.target_hash
    memory = replace(given.memory, target_hash=wanted, protocol=Profile.CONSUMER)
    return changed(given, memory=memory, workload=replace(AT_WORK, template_hash=wanted))
