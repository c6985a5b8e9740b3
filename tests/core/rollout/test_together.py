"""How many pods go together, and when those that were let go are deleted. The gates hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Cause, DeletePod, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import notes_of
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import wanted_template
from slackwater.core.plan.next_act import stay_stopped
from slackwater.core.rollout.candidates import replaceable
from slackwater.core.rollout.in_place import next_move
from slackwater.core.rollout.together import AT_ONCE_S, let_go_together
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.step import Step
from slackwater.core.world.workload import UpdateStrategy
from slackwater.core.world.world import World
from tests.core.factories import NEW, NOW, OLD, group, members, observation, pod, workload, world

PODS = 6
FIRST = Step(5, NOW - 60, made=True)
UPGRADE = Upgrade(Profile.EAGER, StrategyName.TWO_BOUNCE, (Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE))


def given(
    at_once: int | str = 3,
    new: tuple[int, ...] = (5,),
    memory: dict[str, Any] | None = None,
    wanted: dict[str, Any] | None = None,
    down: tuple[int, ...] = (),
    **sets: Any,
) -> World:
    """Six pods; those of `new` have the version, and 5 got it by the last step."""
    pods = tuple(pod(n, NEW if n in new else OLD, ready=n not in down) for n in range(PODS))
    there = members(*range(PODS))
    owned = frozenset(partition for member in there for partition in member.assignment)
    asked = {"replicas": PODS, **(wanted or {})}
    asked["rollout"] = {"maxUnavailable": at_once, **asked.get("rollout", {})}
    remembered = {"phase": RolloutPhase.PROGRESSING, "started_at": NOW - 100, "step": FIRST, **(memory or {})}
    return world(
        pods=pods,
        group=group(**asked),
        kafka=observation(there, partitions=owned),
        workload=workload(**{"replicas": PODS, "partition": PODS, **sets}),
        memory=RolloutMemory(**remembered),
    )


def move(at: World) -> Decision:
    assert at.workload is not None
    return next_move(at, at.workload, wanted_template(at))


def gone(at: World) -> tuple[int, ...]:
    """Ordinals that are let go now."""
    decided = move(at)
    assert isinstance(decided.act, WriteWorkload), decided.hold
    assert decided.act.purpose is Purpose.RESTART
    assert decided.act.partition == min(decided.act.ordinal or 0, *decided.act.also, PODS)
    step = decided.memory.step
    assert step is not None
    assert step.ordinals == (decided.act.ordinal, *decided.act.also)
    assert set(step.members_before) == {f"payments-{ordinal}" for ordinal in step.ordinals}
    return step.ordinals


CANARY = {"canary": [{"replicas": 1}, {"replicas": 3}]}
TABLE = [
    pytest.param({}, (4, 3, 2), id="as many as may be away"),
    pytest.param({"at_once": 1}, (4,), id="one by default"),
    pytest.param({"at_once": "50%"}, (4, 3, 2), id="a share"),
    pytest.param({"at_once": "49%"}, (4, 3), id="a share, rounded down"),
    pytest.param({"at_once": "1%"}, (4,), id="one at least"),
    pytest.param({"at_once": 9}, (4, 3, 2, 1, 0), id="all that there are"),
    pytest.param({"new": ()}, (5,), id="the first goes alone"),
    pytest.param({"memory": {"step": None}}, (4,), id="of who has it nothing is remembered"),
    pytest.param({"memory": {"started_at": NOW - 50}}, (4,), id="who has it got it in another rollout"),
    pytest.param({"memory": {"step": Step(3, NOW - 60, made=True)}}, (4,), id="the last one has the old version again"),
    pytest.param({"memory": {"upgrade": UPGRADE}}, (4,), id="a step to another protocol"),
    pytest.param({"fixed": {"podManagementPolicy": "OrderedReady"}}, (4,), id="its pods are made in order"),
    pytest.param(
        {"wanted": {"rollout": CANARY}, "memory": {"canary": Canary(0, NOW - 50, passed=True, replicas=1)}},
        (4, 3),
        id="as many as the next canary step has room for",
    ),
    pytest.param({"memory": {"phase": RolloutPhase.ROLLING_BACK}}, (4, 3, 2), id="the way back"),
]


@pytest.mark.parametrize(("at", "ordinals"), TABLE)
def test_who_goes_next(at: dict[str, Any], ordinals: tuple[int, ...]) -> None:
    assert gone(given(**at)) == ordinals


@pytest.mark.parametrize(("away", "ordinals"), [((), (3, 2, 1)), ((4,), (3, 2)), ((4, 0), (3,)), ((4, 1, 0), (3,))])
def test_who_is_away_already_counts(away: tuple[int, ...], ordinals: tuple[int, ...]) -> None:
    """Whatever the gates say of it."""
    at = given(new=(5, 4), down=away)
    assert at.workload is not None
    next_ones = let_go_together(at, at.workload, replaceable(at, at.workload))
    assert tuple(each.ordinal for each in next_ones) == ordinals


def test_what_people_read_of_a_batch() -> None:
    (note,) = notes_of(move(given()).act)
    assert note.message == "restarting pods with ordinals 4, 3, 2: all gates hold"


BATCH = Step(4, NOW - 5, also=(3, 2))
LET_GO: dict[str, Any] = {"memory": {"step": BATCH}, "partition": 2}


def hastened(at: World) -> int | None:
    act = move(at).act
    if act is None:
        return None
    assert isinstance(act, DeletePod)
    assert act.cause is Cause.TOGETHER
    assert act.uid == next(each.uid for each in at.pods if each.ordinal == act.ordinal)
    return act.ordinal


def changed(at: World, ordinal: int, **changes: Any) -> World:
    return replace(
        at, all_pods=tuple(replace(each, **changes) if each.ordinal == ordinal else each for each in at.pods)
    )


def test_whoever_is_let_go_is_deleted_one_after_the_other() -> None:
    at = given(**LET_GO)
    assert hastened(at) == 3
    assert hastened(changed(at, 3, terminating=True, ready=False)) == 2
    assert hastened(changed(changed(at, 3, revision=NEW), 2, terminating=True, ready=False)) is None


NO_HASTE: dict[str, dict[str, Any]] = {
    "its controller has not read the partition": {"observed_generation": 1, "generation": 2},
    "nobody is let go": {"partition": PODS},
    "pods go by hand": {"strategy": UpdateStrategy.ON_DELETE},
}


@pytest.mark.parametrize("name", NO_HASTE)
def test_there_is_no_haste_where(name: str) -> None:
    act = move(given(**{**LET_GO, **NO_HASTE[name]})).act
    assert not (isinstance(act, DeletePod) and act.cause is Cause.TOGETHER)


def test_there_is_no_haste_while_nobody_can_see_the_group() -> None:
    at = replace(given(**LET_GO), kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "away", since=NOW))
    assert move(at).act is None


def test_there_is_no_haste_where_people_have_paused_it() -> None:
    at = given(**LET_GO, wanted={"annotations": {PAUSE: ""}})
    decided = move(at)
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.RESTART_IN_HAND


@pytest.mark.parametrize(("back", "who"), [(True, 3), (False, None)])
def test_after_a_while_the_others_have_to_be_back_first(back: bool, who: int | None) -> None:
    """The operator was away: one that went then may have failed."""
    began = NOW - AT_ONCE_S - 1
    at = given(new=(5, 4), memory={"step": replace(BATCH, started_at=began), "started_at": NOW - 200}, partition=2)
    assert hastened(at if back else changed(at, 4, ready=False)) == who


@pytest.mark.parametrize(("partition", "closes"), [(2, True), (PODS, False)])
def test_a_rollout_that_has_stopped_raises_the_partition(partition: int, closes: bool) -> None:
    at = given(memory={"step": BATCH, "phase": RolloutPhase.FAILED}, partition=partition)
    assert at.workload is not None
    decided = stay_stopped(at, at.workload, wanted_template(at))
    assert decided is not None
    assert (decided.act is not None) is closes
    if isinstance(decided.act, WriteWorkload):
        assert (decided.act.purpose, decided.act.partition) == (Purpose.CLOSE_OUT_OF_ORDER, PODS)


@pytest.mark.parametrize(("partition", "purpose"), [(2, None), (1, Purpose.CLOSE_OUT_OF_ORDER)])
def test_a_batch_goes_as_it_may_where_somebody_restarts_the_set(partition: int, purpose: Purpose | None) -> None:
    """`kubectl rollout restart`: whoever is no part of the batch is held."""
    memory = {"step": BATCH, "revisions": {"payments": "payments-other"}}
    act = move(given(memory=memory, partition=partition)).act
    assert isinstance(act, DeletePod) if purpose is None else isinstance(act, WriteWorkload) and act.purpose is purpose
