"""The upgrade in hand: begun, stepped on, turned back; and what the pods are given meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import ABORT, PAUSE
from slackwater.core.decision.acts import Purpose, RemoveMembers, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import render_template
from slackwater.core.plan import plan
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import GroupState, GroupType, MemberRef, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.world import World
from tests.core.factories import (
    BOOTSTRAP,
    NAME,
    NEW,
    NOW,
    OLD,
    group,
    member,
    members,
    observation,
    pod,
    stranger,
    watched,
    workload,
    world,
)

EAGER, BOTH = Profile.EAGER, Profile.EAGER_AND_COOPERATIVE
COOPERATIVE, CONSUMER = Profile.COOPERATIVE, Profile.CONSUMER
JAVA = {"library": "Java", "version": "4.3"}
RDKAFKA = {"library": "Librdkafka", "version": "2.12.1"}
TWO_BOUNCE = Upgrade(EAGER, StrategyName.TWO_BOUNCE, (BOTH, COOPERATIVE))
DRAIN = Upgrade(EAGER, StrategyName.DRAIN_CUTOVER, (COOPERATIVE,))


def upgrading(
    upgrade: Upgrade | None,
    has: Profile,
    target: str = "Cooperative",
    client: dict[str, str] = JAVA,
    memory: dict[str, Any] | None = None,
    sets: dict[str, Any] | None = None,
    allow_downtime: bool = False,
    **changes: Any,
) -> World:
    """A group at rest, or in a step whose template stands in the StatefulSet; every pod has the profile `has`."""
    protocol = {"target": target, "allowDowntime": allow_downtime}
    wanted = group(**({"client": client, "protocol": protocol} | changes.pop("spec", {})))
    given = upgrade.here if upgrade is not None else has
    template = render_template(wanted, BOOTSTRAP, given)
    phase = RolloutPhase.PROGRESSING if upgrade is not None else RolloutPhase.COMPLETE
    remembered = RolloutMemory(
        **(
            {"phase": phase, "target_hash": template.hash, "protocol": given, "upgrade": upgrade, "ids_given": 3}
            | {"last_good_revision": OLD, "last_good_hash": "good" if upgrade is not None else template.hash}
            | (memory or {})
        )
    )
    built = workload(**({"template_hash": template.hash, "template": template.body} | (sets or {})))
    usual = {
        "group": wanted,
        "memory": remembered,
        "workload": built,
        "pods": tuple(pod(o, protocol=has) for o in range(3)),
    }
    return world(**(usual | changes))


def all_new(profile: Profile) -> tuple[Pod, ...]:
    return tuple(pod(o, NEW, protocol=profile) for o in range(3))


CURRENT = {"current_revision": NEW, "partition": 0}
"""The StatefulSet of a step that every pod has taken."""


def protocol_of(decided: Decision) -> tuple[Profile, int | None]:
    """What pods are given, and the step in hand."""
    upgrade = decided.memory.upgrade
    return decided.memory.protocol, upgrade.step if upgrade is not None else None


def test_an_upgrade_begins_with_the_bridge_and_moves_no_pod_yet() -> None:
    decided = plan(upgrading(None, EAGER))
    assert protocol_of(decided) == (BOTH, 1)
    assert isinstance(decided.act, WriteWorkload)
    assert (decided.act.purpose, decided.act.partition) == (Purpose.TAKE_TEMPLATE, 3)
    assert decided.memory.phase is RolloutPhase.PROGRESSING
    assert Reason.UPGRADE_STARTED in [note.reason for note in decided.notes]


def test_a_step_that_is_proven_is_followed_by_the_next() -> None:
    decided = plan(upgrading(TWO_BOUNCE, BOTH, pods=all_new(BOTH), sets=CURRENT))
    assert protocol_of(decided) == (COOPERATIVE, 2)
    assert decided.memory.last_good_revision == NEW
    assert Reason.UPGRADE_STEP_DONE in [note.reason for note in decided.notes]


def test_the_last_step_ends_the_upgrade() -> None:
    last = replace(TWO_BOUNCE, step=2)
    kafka = observation(assignor="cooperative-sticky")
    decided = plan(upgrading(last, COOPERATIVE, pods=all_new(COOPERATIVE), sets=CURRENT, kafka=kafka))
    assert protocol_of(decided) == (COOPERATIVE, None)
    assert decided.memory.phase is RolloutPhase.COMPLETE


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kafka": observation(assignor="cooperative-sticky")}, Reason.STEP_NOT_PROVEN),
        ({"kafka": observation(assignor="range", type=GroupType.CONSUMER)}, Reason.STEP_NOT_PROVEN),
        ({"sets": CURRENT | {"current_revision": OLD}}, Reason.STATEFUL_SET_NOT_OBSERVED),
        ({"pods": (pod(0, NEW, protocol=BOTH), pod(1, NEW, protocol=BOTH), pod(2, OLD))}, Reason.RESTART_IN_HAND),
    ],
    ids=["another assignor", "another type", "the controller is behind", "a pod is behind"],
)
def test_a_step_that_is_not_proven_is_waited_for(changes: dict[str, Any], reason: Reason) -> None:
    decided = plan(upgrading(TWO_BOUNCE, BOTH, **({"pods": all_new(BOTH), "sets": CURRENT} | changes)))
    assert protocol_of(decided) == (BOTH, 1)
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason == reason


def test_another_target_in_the_middle_of_a_step_undoes_the_step() -> None:
    second = replace(TWO_BOUNCE, step=2)
    decided = plan(upgrading(second, BOTH, target="Consumer"))
    upgrade = decided.memory.upgrade
    assert upgrade is not None
    assert (upgrade.origin, upgrade.path, upgrade.returning) == (COOPERATIVE, (BOTH,), True)
    assert decided.memory.protocol is BOTH


def test_the_first_target_again_turns_round_once_more_and_a_third_one_waits() -> None:
    returning = Upgrade(COOPERATIVE, StrategyName.TWO_BOUNCE, (BOTH,), returning=True)
    again = plan(upgrading(returning, BOTH, target="Cooperative")).memory.upgrade
    assert again is not None
    assert (again.origin, again.path) == (BOTH, (COOPERATIVE,))
    third = plan(upgrading(returning, BOTH, target="Consumer")).memory.upgrade
    assert third == returning


def test_the_target_of_the_step_in_hand_needs_no_further_step() -> None:
    back = Upgrade(COOPERATIVE, StrategyName.TWO_BOUNCE, (BOTH, EAGER), step=2)
    assert plan(upgrading(back, EAGER, target="Eager")).memory.upgrade == back


def test_a_target_that_is_removed_changes_nothing() -> None:
    decided = plan(
        upgrading(None, COOPERATIVE, spec={"protocol": {}}, kafka=observation(assignor="cooperative-sticky"))
    )
    assert protocol_of(decided) == (COOPERATIVE, None)
    assert decided.act is None or decided.act.purpose is Purpose.PARK  # type: ignore[union-attr]


def test_a_refused_target_is_said_and_nothing_else_changes() -> None:
    decided = plan(upgrading(None, EAGER, client=RDKAFKA, sets={"current_revision": NEW}, pods=all_new(EAGER)))
    assert decided.refusal is not None
    assert decided.refusal.reason == Reason.MIXED_ASSIGNORS_UNSUPPORTED
    assert (protocol_of(decided), decided.act, decided.memory.phase) == ((EAGER, None), None, RolloutPhase.COMPLETE)


def test_a_template_still_rolls_out_on_the_old_protocol_while_a_target_is_refused() -> None:
    decided = plan(upgrading(None, EAGER, client=RDKAFKA, memory={"target_hash": "before"}))
    assert decided.refusal is not None
    assert decided.memory.phase is RolloutPhase.PROGRESSING
    assert decided.memory.protocol is EAGER


def test_a_new_group_that_cannot_work_is_not_made() -> None:
    spec: dict[str, Any] = {"client": {"library": "FranzGo"}, "protocol": {"target": "Consumer"}}
    nobody = observation((), state=GroupState.EMPTY)
    decided = plan(world(group=group(**spec), workload=None, pods=(), memory=RolloutMemory(), kafka=nobody))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason == Reason.CLIENT_CANNOT


def test_pods_that_may_not_meet_are_never_mixed_even_were_a_strategy_wrong() -> None:
    wrong = Upgrade(EAGER, StrategyName.ONE_BOUNCE, (COOPERATIVE,))
    decided = plan(upgrading(wrong, EAGER, sets={"template_hash": "before"}))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason == Reason.CANNOT_MIX


@pytest.mark.parametrize("replicas", [0, 4])
def test_meanwhile_the_pods_are_as_many_as_are_wanted(replicas: int) -> None:
    wrong = Upgrade(EAGER, StrategyName.ONE_BOUNCE, (COOPERATIVE,))
    sets = {"template_hash": "before", "template": {"spec": {"containers": []}}}
    given = upgrading(wrong, EAGER, sets=sets, spec={"replicas": replicas})
    act = plan(given.remembering(plan(given).memory)).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.replicas, act.template) == (Purpose.SCALE, replicas, sets["template"])


def test_a_rollback_in_a_step_leads_to_the_version_that_the_step_began_with() -> None:
    last_good = render_template(group(client=JAVA), BOOTSTRAP, BOTH)
    going_back = upgrading(
        replace(TWO_BOUNCE, step=2),
        BOTH,
        memory={"phase": RolloutPhase.ROLLING_BACK, "last_good_hash": last_good.hash, "failed_hash": "x"},
        last_good_template=last_good.body,
    )
    decided = plan(going_back)
    assert isinstance(decided.act, WriteWorkload)
    assert decided.act.template == last_good.body
    assert decided.memory.upgrade == replace(TWO_BOUNCE, step=2)


# DrainCutover, in its order.
STANDING = render_template(group(client=RDKAFKA), BOOTSTRAP, EAGER)


def draining(**changes: Any) -> World:
    standing = {"template": STANDING.body, "template_hash": STANDING.hash, "current_revision": NEW}
    sets = standing | changes.pop("sets", {})
    return upgrading(DRAIN, EAGER, client=RDKAFKA, allow_downtime=True, sets=sets, **changes)


def test_a_drain_stops_all_pods_with_the_template_that_they_have() -> None:
    act = plan(draining()).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.replicas, act.template) == (Purpose.DRAIN, 0, STANDING.body)
    assert act.disruptive


def test_a_drain_waits_for_every_pod_then_takes_out_the_members_that_are_ours() -> None:
    stopped = {"replicas": 0}
    waiting = plan(draining(sets=stopped, pods=(pod(1, protocol=EAGER, terminating=True),)))
    assert (waiting.act, waiting.hold and waiting.hold.reason) == (None, Reason.DRAINING)
    unread = plan(draining(sets=stopped | {"generation": 9}, pods=()))
    assert (unread.act, unread.hold and unread.hold.reason) == (None, Reason.DRAINING)
    act = plan(draining(sets=stopped, pods=())).act
    assert isinstance(act, RemoveMembers)
    assert act.members == tuple(MemberRef(f"{NAME}-{o}", f"{NAME}-{o}-a") for o in range(3))
    theirs = observation((*members(0, 1, 2), stranger(), stranger(member_id="console-2", instance_id="console-2")))
    assert plan(draining(sets=stopped, pods=(), kafka=theirs)).act == act


def test_a_drain_waits_for_the_group_to_end_its_rebalance() -> None:
    """All members were taken out, and the coordinator has not yet said that nobody is left."""
    ending = observation((), state=GroupState.PREPARING_REBALANCE)
    waiting = plan(draining(sets={"replicas": 0}, pods=(), kafka=ending, history=watched(ending)))
    assert (waiting.act, waiting.hold and waiting.hold.reason) == (None, Reason.DRAINING)


def overdue(s: float = 301, rollback: bool = False, **changes: Any) -> World:
    """Stopped so many seconds ago, and something is in the way: a stranger, if nothing else is said."""
    upgrade = replace(DRAIN, stopped_at=NOW - s)
    console = observation((stranger(),), state=GroupState.STABLE)
    rollout: dict[str, Any] = {"rollout": {"onFailure": "Rollback"}} if rollback else {}
    usual: dict[str, Any] = {
        "sets": {"replicas": 0},
        "pods": (),
        "kafka": console,
        "history": watched(console),
        "spec": rollout,
    }
    return draining(**(usual | {"memory": {"upgrade": upgrade}} | changes))


def test_a_stop_has_a_deadline() -> None:
    early, late = plan(overdue(300)).hold, plan(overdue()).hold
    assert early is not None
    assert late is not None
    assert (early.reason, late.reason) == (Reason.FOREIGN_MEMBERS, Reason.DRAIN_STANDS_STILL)
    assert "nobody consumes" in late.message
    assert "console at 10.9.9.9" in late.message


def test_after_it_the_group_goes_back_where_a_failure_is_to() -> None:
    decided = plan(overdue(rollback=True))
    assert decided.memory.phase is RolloutPhase.ROLLING_BACK
    back = overdue(rollback=True, last_good_template=STANDING.body).remembering(decided.memory)
    for _ in range(2):
        decided = plan(back)
        back = back.remembering(decided.memory)
    assert isinstance(decided.act, WriteWorkload)
    assert decided.act.replicas == 3
    assert decided.act.template == STANDING.body


def unseen(reason: Reason, for_s: float = 0.0) -> dict[str, Any]:
    """Kafka says nothing of the group, since so many seconds."""
    return {"kafka": Unobserved(reason, "the group cannot be described", NOW - for_s), "history": GroupHistory()}


UNSEEN = [
    ("it may not be described", overdue(**unseen(Reason.NOT_AUTHORIZED, 301)), True),
    ("but was stopped a moment ago", overdue(300, **unseen(Reason.NOT_AUTHORIZED, 301)), False),
    ("the first look was refused", overdue(3600, **unseen(Reason.NOT_AUTHORIZED, 1)), False),
    ("it is one of another type", overdue(**unseen(Reason.GROUP_OF_ANOTHER_TYPE, 301)), True),
    ("its KafkaConnection is wrong", overdue(**unseen(Reason.CONNECTION_INVALID, 301)), True),
    ("no broker answers", overdue(**unseen(Reason.KAFKA_UNREACHABLE, 301)), True),
    ("no broker answers since a moment", overdue(**unseen(Reason.KAFKA_UNREACHABLE, 300)), False),
    ("the operator has just started", overdue(3600, **unseen(Reason.OBSERVATION_INCOMPLETE)), False),
    ("somebody started pods", overdue(sets={"replicas": 3}, **unseen(Reason.NOT_AUTHORIZED, 301)), False),
]


@pytest.mark.parametrize(("given", "is_over"), [row[1:] for row in UNSEEN], ids=[row[0] for row in UNSEEN])
def test_the_deadline_of_a_stop_holds_where_the_group_cannot_be_seen(given: World, is_over: bool) -> None:
    hold = plan(given).hold
    assert hold is not None
    assert (hold.reason is Reason.DRAIN_STANDS_STILL) is is_over
    assert "the group cannot be described" in hold.message


def test_a_group_that_cannot_be_seen_goes_back_all_the_same() -> None:
    """As it was before nobody consumed. What it had in the group then are members of these pods."""
    decided = plan(overdue(rollback=True, **unseen(Reason.NOT_AUTHORIZED, 301)))
    assert decided.memory.phase is RolloutPhase.ROLLING_BACK
    assert "nobody consumes: the group cannot be described" in decided.memory.message
    back = overdue(rollback=True, last_good_template=STANDING.body, **unseen(Reason.NOT_AUTHORIZED, 301))
    act = plan(back.remembering(decided.memory)).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.replicas, act.template) == (Purpose.SCALE, 3, STANDING.body)


def test_abort_takes_back_a_group_that_cannot_be_seen() -> None:
    """It is what the hold names."""
    given = overdue(10, last_good_template=STANDING.body, **unseen(Reason.NOT_AUTHORIZED, 301))
    metadata = _annotated(given, {"slackwater.dev/abort": "now"})
    given = replace(given, group=given.group.model_copy(update={"metadata": metadata}))
    act = plan(given.remembering(plan(given).memory)).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.replicas, act.template) == (Purpose.SCALE, 3, STANDING.body)


def test_back_over_a_stop_of_its_own_waits_until_the_group_can_be_seen() -> None:
    """Pods had the other protocol already: their members may be in the group, where these could not join."""
    decided = plan(overdue(rollback=True, **unseen(Reason.NOT_AUTHORIZED, 301)))
    other = render_template(group(client=RDKAFKA), BOOTSTRAP, COOPERATIVE)
    sets = {"replicas": 0, "template": other.body, "template_hash": other.hash}
    back = overdue(sets=sets, last_good_template=STANDING.body, **unseen(Reason.NOT_AUTHORIZED, 301))
    waiting = plan(back.remembering(decided.memory))
    assert waiting.act is None
    assert waiting.hold is not None
    assert waiting.hold.reason is Reason.DRAIN_STANDS_STILL
    assert ABORT not in waiting.hold.message, "it is on its way back already"


LOST = (pod(1, protocol=EAGER, terminating=True),)
EMPTY_NOW = observation((), state=GroupState.EMPTY)
EMPTY_GROUP: dict[str, Any] = {"kafka": EMPTY_NOW, "history": watched(EMPTY_NOW)}


def test_a_pod_on_a_lost_node_is_not_waited_for_for_ever() -> None:
    assert plan(overdue(300, pods=LOST, **EMPTY_GROUP)).act is None
    act = plan(overdue(pods=LOST, **EMPTY_GROUP)).act
    assert isinstance(act, WriteWorkload)
    assert act.purpose is Purpose.START


def test_one_that_runs_is() -> None:
    runs = (pod(1, protocol=EAGER),)
    decided = plan(overdue(pods=runs, **EMPTY_GROUP))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.DRAIN_STANDS_STILL


TARGET = {"target": "Cooperative", "allowDowntime": True}
NONE_AT_ALL: dict[str, Any] = {"replicas": 0, "client": RDKAFKA, "protocol": TARGET}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(draining(spec=NONE_AT_ALL, kafka=observation((*members(0, 1, 2), stranger()))), id="a stranger"),
        pytest.param(draining(spec=NONE_AT_ALL, **unseen(Reason.KAFKA_UNREACHABLE)), id="Kafka is away"),
        pytest.param(draining(spec={**NONE_AT_ALL, "annotations": {PAUSE: ""}}), id="paused"),
    ],
)
def test_none_at_all_waits_for_nothing_where_a_stop_is_due(given: World) -> None:
    act = plan(given.remembering(plan(given).memory)).act
    assert isinstance(act, WriteWorkload)
    assert act.replicas == 0


def test_where_none_are_wanted_a_stop_stands_still_for_nobody() -> None:
    decided = plan(overdue(rollback=True, **unseen(Reason.NOT_AUTHORIZED, 301), spec=NONE_AT_ALL))
    assert decided.hold is not None
    assert decided.hold.reason is Reason.NOT_AUTHORIZED


def test_a_stop_that_waits_keeps_nobody_from_being_scaled() -> None:
    waits = draining(spec={"client": RDKAFKA, "protocol": TARGET, "replicas": 4, "annotations": {PAUSE: ""}})
    waits = waits.remembering(plan(waits).memory)
    act = plan(waits.remembering(plan(waits).memory)).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.replicas) == (Purpose.SCALE, 4)


def test_when_everybody_was_stopped_is_remembered_beyond_a_start_that_fails() -> None:
    upgrade = plan(draining()).memory.upgrade
    assert upgrade is not None
    assert upgrade.stopped_at == NOW
    starts = plan(overdue(**EMPTY_GROUP))
    assert isinstance(starts.act, WriteWorkload)
    assert starts.act.purpose is Purpose.START
    out_of_sight = overdue(**unseen(Reason.NOT_AUTHORIZED, 301)).remembering(starts.memory)
    hold = plan(out_of_sight).hold
    assert hold is not None
    assert hold.reason is Reason.DRAIN_STANDS_STILL


@pytest.mark.parametrize("state", [GroupState.EMPTY, GroupState.DEAD])
def test_a_drained_group_starts_again_with_no_pod_held_back(state: GroupState) -> None:
    empty = observation((), state=state)
    act = plan(draining(sets={"replicas": 0}, pods=(), kafka=empty, history=watched(empty))).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.replicas, act.partition) == (Purpose.START, 3, 0)
    wanted = group(client=RDKAFKA, protocol={"target": "Cooperative", "allowDowntime": True})
    assert act.template == render_template(wanted, BOOTSTRAP, COOPERATIVE).body


def test_a_drain_does_not_begin_while_paused_but_is_finished_once_begun() -> None:
    paused = {"slackwater.dev/pause": "lunch"}
    world_ = draining()
    held = plan(replace(world_, group=world_.group.model_copy(update={"metadata": _annotated(world_, paused)})))
    assert (held.act, held.hold and held.hold.reason) == (None, Reason.PAUSED)
    begun = draining(sets={"replicas": 0}, pods=())
    going_on = plan(replace(begun, group=begun.group.model_copy(update={"metadata": _annotated(begun, paused)})))
    assert isinstance(going_on.act, RemoveMembers)


def test_a_stranger_keeps_a_drain_from_beginning() -> None:
    kafka = observation((*(member(o) for o in range(3)), member(9, instance_id="console-1", client_id="console")))
    held = plan(draining(kafka=kafka))
    assert (held.act, held.hold and held.hold.reason) == (None, Reason.FOREIGN_MEMBERS)


def test_a_template_that_changes_while_the_drained_pods_start_goes_through_the_drain_again() -> None:
    """Parked by an ordinary change, pods would come back as the StatefulSet's current revision: eager ones."""
    started = render_template(group(client=RDKAFKA), BOOTSTRAP, COOPERATIVE)
    sets = {"template": started.body, "template_hash": "an earlier one", "current_revision": OLD}
    act = plan(draining(sets=sets, pods=all_new(COOPERATIVE))).act
    assert isinstance(act, WriteWorkload)
    assert act.purpose is Purpose.DRAIN


def _annotated(of: World, annotations: dict[str, str]) -> Any:
    return of.group.metadata.model_copy(update={"annotations": annotations})
