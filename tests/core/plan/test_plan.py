"""Decisions: what `plan` does with a world. Whole rollouts are in simulation/; here are single passes."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest

from slackwater.api.annotations import FORCE, PAUSE, TEMPLATE_HASH
from slackwater.core.decision.acts import DeletePod, Purpose, RemoveMembers, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import render_template
from slackwater.core.members.sharing import MADE_AGAIN_WITHIN_S
from slackwater.core.plan import plan
from slackwater.core.world.claimed import Outranked
from slackwater.core.world.claims import Claim
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupState, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.put_back import PutBack
from slackwater.core.world.step import Step
from slackwater.core.world.workload import UpdateStrategy
from slackwater.core.world.world import World
from tests.core.factories import (
    BOOTSTRAP,
    NEW,
    NOW,
    OLD,
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

ON_DELETE = UpdateStrategy.ON_DELETE
PROGRESSING, COMPLETE, FAILED = RolloutPhase.PROGRESSING, RolloutPhase.COMPLETE, RolloutPhase.FAILED
ROLLING_BACK, ROLLED_BACK = RolloutPhase.ROLLING_BACK, RolloutPhase.ROLLED_BACK
FIRST = Claim("shop", "b", since=NOW - 999)
"""It began where this one is, before it."""
GOOD_TEMPLATE = {"metadata": {"annotations": {TEMPLATE_HASH: "good"}}, "spec": {}}


def rolling(
    *,
    spec: dict[str, Any] | None = None,
    memory: dict[str, Any] | None = None,
    sets: dict[str, Any] | None = None,
    **changes: Any,
) -> World:
    """A rollout in which the StatefulSet has the template that the phase asks for."""
    wanted = group(**(spec or {}))
    target = render_template(wanted, BOOTSTRAP, Profile.OWN_CHOICE).hash
    usual = {"phase": PROGRESSING, "target_hash": target, "last_good_revision": OLD, "last_good_hash": "good"}
    if (memory or {}).get("phase") is COMPLETE:
        usual["last_good_hash"] = target
    remembered = RolloutMemory(**(usual | (memory or {})))
    if remembered.phase in (FAILED, ROLLING_BACK, ROLLED_BACK):
        remembered = replace(remembered, failed_hash=target)
    template_hash = "good" if remembered.phase.goes_back else target
    built = workload(**({"template_hash": template_hash} | (sets or {})))
    if remembered.retried_at is not None:
        made = (replace(each, template_hash=target) if each.revision == NEW else each for each in changes["pods"])
        changes["pods"] = tuple(made)
    usual_world = {"group": wanted, "memory": remembered, "workload": built, "last_good_template": GOOD_TEMPLATE}
    return world(**(usual_world | changes))


NOTHING = {"phase": RolloutPhase.NONE, "target_hash": ""}
EMPTY = observation((), state=GroupState.EMPTY)


def in_motion(came_s: float) -> World:
    """The StatefulSet was opened for pod 2, whose member came back so many seconds ago; the group rebalances."""
    moving = observation(members(0, 1, 2), state=GroupState.PREPARING_REBALANCE)
    seen = folded(observation(members(0, 1), at=NOW - 400), observation(members(0, 1, 2), at=NOW - came_s), moving)
    return rolling(kafka=moving, history=seen, sets={"strategy": ON_DELETE, "partition": 0})


@dataclass(frozen=True)
class Expected:
    purpose: Purpose | None = None
    deletes: int | None = None
    ordinal: int | None = None
    partition: int | None = None
    hold: Reason | None = None
    phase: RolloutPhase = PROGRESSING


def pods(*revisions: str, **changes: Any) -> tuple[Pod, ...]:
    return tuple(pod(ordinal, revision, **changes) for ordinal, revision in enumerate(revisions))


def down(ordinal: int, revision: str = OLD) -> Pod:
    return pod(ordinal, revision, ready=False)


LIVE = observation((*members(0, 1), member(2, "b")))
JOINED = folded(observation(at=NOW - 42), replace(LIVE, observed_at=NOW - 40), LIVE)
MOVING: dict[str, Any] = {"kafka": LIVE, "history": JOINED}
STEP_2 = Step(2, NOW - 50, {"payments-2": "payments-2-a"})
ONE_NEW = (pod(0), pod(1), fresh_pod(2, age_s=48))
TWO_NEW = (pod(0), pod(1, NEW), pod(2, NEW))
ALL_NEW = pods(NEW, NEW, NEW)
FLIPPED = {"current_revision": NEW, "update_revision": OLD}
"""The StatefulSet took the bad version for good before it was given up."""
RETRIED: dict[str, Any] = {"retried_at": NOW - 5}
STUCK_NEW = down(2, NEW)
PARKED = {"current_revision": NEW, "partition": 3}
CANARY = {"rollout": {"canary": [{"replicas": 1}]}}
ALL_DOWN: dict[str, Any] = {"pods": (down(0), down(1), down(2)), "kafka": observation((), state=GroupState.EMPTY)}
IN_ORDER = {"fixed": {"podManagementPolicy": "OrderedReady"}}
RESTART, OPEN, CLOSE = Purpose.RESTART, Purpose.OPEN_OUT_OF_ORDER, Purpose.CLOSE_OUT_OF_ORDER

TABLE = [
    ("first pod", rolling(), Expected(RESTART, ordinal=2, partition=2)),
    (
        "second pod",
        rolling(pods=ONE_NEW, memory={"step": STEP_2}, sets={"partition": 2}, **MOVING),
        Expected(RESTART, ordinal=1, partition=1),
    ),
    ("last pod", rolling(pods=TWO_NEW, sets={"partition": 1}), Expected(RESTART, ordinal=0, partition=0)),
    ("all done", rolling(pods=ALL_NEW, sets={"partition": 0}), Expected(phase=COMPLETE)),
    ("all done, but not calm", rolling(pods=ALL_NEW, history=GroupHistory()), Expected(hold=Reason.GROUP_STABILIZING)),
    ("the controller is at it", rolling(sets={"partition": 2}), Expected(hold=Reason.RESTART_IN_HAND)),
    (
        "the old pod is ending",
        rolling(pods=(*pods(OLD, OLD), pod(2, terminating=True)), sets={"partition": 2}),
        Expected(hold=Reason.RESTART_IN_HAND),
    ),
    (
        "the new pod is not made",
        rolling(pods=pods(OLD, OLD), sets={"partition": 2}),
        Expected(hold=Reason.RESTART_IN_HAND),
    ),
    (
        "the new pod starts",
        rolling(pods=(*pods(OLD, OLD), fresh_pod(2, 3, ready=False)), sets={"partition": 2}),
        Expected(hold=Reason.POD_NOT_READY),
    ),
    ("highest is down", rolling(pods=(pod(0), pod(1), down(2))), Expected(OPEN, ordinal=2)),
    (
        "highest is down, controller does not act",
        rolling(pods=(pod(0), pod(1), down(2)), sets={"partition": 2}),
        Expected(deletes=2, ordinal=2),
    ),
    ("a lower one is down", rolling(pods=(pod(0), down(1), pod(2))), Expected(OPEN, ordinal=1)),
    (
        "opened for it",
        rolling(pods=(pod(0), down(1), pod(2)), sets={"strategy": ON_DELETE, "partition": 0}),
        Expected(deletes=1, ordinal=1),
    ),
    (
        "it recovered, and the group is not calm yet: it may leave again",
        in_motion(came_s=5),
        Expected(hold=Reason.GROUP_REBALANCING),
    ),
    ("it recovered long ago, and others keep the group in motion", in_motion(came_s=30), Expected(CLOSE, partition=3)),
    ("it recovered meanwhile", rolling(sets={"strategy": ON_DELETE, "partition": 0}), Expected(CLOSE, partition=3)),
    (
        "it came back new",
        rolling(pods=(pod(0), pod(1, NEW), pod(2)), sets={"strategy": ON_DELETE, "partition": 0}),
        Expected(CLOSE, partition=3),
    ),
    (
        "the controller has not read that yet",
        rolling(sets={"strategy": ON_DELETE, "generation": 3}),
        Expected(hold=Reason.STATEFUL_SET_NOT_OBSERVED),
    ),
    (
        "controller waits for a lower one that is down",
        rolling(pods=(down(0), pod(1), pod(2)), sets={"partition": 2}),
        Expected(OPEN, ordinal=0),
    ),
    ("two are down", rolling(pods=(down(0), down(1), pod(2))), Expected(OPEN, ordinal=1)),
    ("all are down", rolling(**ALL_DOWN), Expected(OPEN, ordinal=2)),
    ("all are down, in order", rolling(**ALL_DOWN, sets=IN_ORDER), Expected(OPEN, ordinal=0)),
    (
        "one is down, in order, and one above it cannot be made",
        rolling(pods=(down(0), pod(1)), sets={**IN_ORDER, "strategy": ON_DELETE, "partition": 0}),
        Expected(deletes=0, ordinal=0),
    ),
    (
        "one is down, in order, and one below it is being made",
        rolling(pods=(pod(1), down(2)), sets={**IN_ORDER, "strategy": ON_DELETE, "partition": 0}),
        Expected(hold=Reason.RESTART_IN_HAND),
    ),
    (
        "canary is held",
        rolling(spec=CANARY, pods=ONE_NEW, memory={"step": STEP_2}, **MOVING),
        Expected(hold=Reason.CANARY_HOLD),
    ),
    (
        "canary is held, an old pod is down",
        rolling(spec=CANARY, pods=(down(0), *ONE_NEW[1:]), memory={"step": STEP_2}, **MOVING),
        Expected(hold=Reason.CANARY_HOLD),
    ),
    (
        "canary is held while open",
        rolling(
            spec=CANARY,
            pods=(down(0), *ONE_NEW[1:]),
            memory={"step": STEP_2},
            sets={"strategy": ON_DELETE, "partition": 0},
            **MOVING,
        ),
        Expected(CLOSE, partition=2, hold=Reason.CANARY_HOLD),
    ),
    (
        "canary is held, the new pod is tried again",
        rolling(spec=CANARY, pods=(pod(0), pod(1), STUCK_NEW), memory=RETRIED, sets={"partition": 2}),
        Expected(deletes=2, ordinal=2),
    ),
    ("stopped", rolling(memory={"phase": FAILED}), Expected(hold=Reason.ROLLOUT_FAILED, phase=FAILED)),
    (
        "stopped while open",
        rolling(memory={"phase": FAILED}, sets={"strategy": ON_DELETE}),
        Expected(CLOSE, partition=3, hold=Reason.ROLLOUT_FAILED, phase=FAILED),
    ),
    (
        "tried again",
        rolling(pods=(pod(0), pod(1), STUCK_NEW), memory=RETRIED, sets={"partition": 2}),
        Expected(deletes=2, ordinal=2),
    ),
    (
        "going back, the stuck pod",
        rolling(pods=(pod(0), pod(1), STUCK_NEW), memory={"phase": ROLLING_BACK}, sets={"update_revision": OLD}),
        Expected(deletes=2, ordinal=2, phase=ROLLING_BACK),
    ),
    (
        "going back, only the lowest is stuck",
        rolling(pods=(down(0, NEW), pod(1, NEW), pod(2, NEW)), memory={"phase": ROLLING_BACK}, sets=FLIPPED),
        Expected(OPEN, ordinal=0, phase=ROLLING_BACK),
    ),
    (
        "going back, healthy pods",
        rolling(pods=TWO_NEW, memory={"phase": ROLLING_BACK}, sets={"update_revision": OLD}),
        Expected(RESTART, ordinal=2, partition=2, phase=ROLLING_BACK),
    ),
    ("gone back", rolling(memory={"phase": ROLLING_BACK}, sets={"update_revision": OLD}), Expected(phase=ROLLED_BACK)),
    (
        "gone back, one is outdated again",
        rolling(pods=TWO_NEW, memory={"phase": ROLLED_BACK}, sets={"update_revision": OLD}),
        Expected(phase=ROLLING_BACK),
    ),
    ("at rest", rolling(pods=ALL_NEW, memory={"phase": COMPLETE}, sets=PARKED), Expected(phase=COMPLETE)),
    (
        "at rest, not parked",
        rolling(pods=ALL_NEW, memory={"phase": COMPLETE}, sets=PARKED | {"partition": 0}),
        Expected(Purpose.PARK, partition=3, phase=COMPLETE),
    ),
    (
        "at rest, the controller not yet",
        rolling(pods=ALL_NEW, memory={"phase": COMPLETE}, sets={"partition": 0}),
        Expected(phase=COMPLETE),
    ),
    (
        "at rest, rolled out while there was no pod",
        rolling(pods=ALL_NEW, memory={"phase": COMPLETE, "last_good_hash": "good"}, sets=PARKED),
        Expected(),
    ),
    ("at rest, one is outdated", rolling(pods=TWO_NEW, memory={"phase": COMPLETE}, sets=PARKED), Expected()),
    (
        "another template",
        rolling(memory={"target_hash": "other"}, sets={"template_hash": "other"}),
        Expected(Purpose.TAKE_TEMPLATE, partition=3),
    ),
    (
        "nothing is there",
        rolling(workload=None, pods=(), memory=NOTHING, kafka=EMPTY),
        Expected(Purpose.CREATE, partition=3),
    ),
    (
        "nothing is there, and members are that are called as its own would be",
        rolling(workload=None, pods=(), memory=NOTHING),
        Expected(hold=Reason.INSTANCE_IDS_IN_USE, phase=RolloutPhase.NONE),
    ),
    (
        "nothing is there, and the same of a group whose members have no names",
        rolling(spec={"membership": "Dynamic"}, workload=None, pods=(), memory=NOTHING),
        Expected(Purpose.CREATE, partition=3),
    ),
    (
        "no pod was asked for yet, and the same",
        rolling(pods=(), sets={"replicas": 0, "partition": 0}, memory={"phase": COMPLETE, "never_ran": True}),
        Expected(hold=Reason.INSTANCE_IDS_IN_USE, phase=COMPLETE),
    ),
    (
        "all pods were lost, and the same",
        rolling(pods=(), sets={"replicas": 0, "partition": 0}, memory={"phase": COMPLETE}),
        Expected(Purpose.SCALE, phase=COMPLETE),
    ),
    (
        "nothing is there, and Kafka has not been looked at yet",
        rolling(workload=None, pods=(), memory=NOTHING, kafka=Unobserved(Reason.OBSERVATION_INCOMPLETE, "x", NOW)),
        Expected(hold=Reason.OBSERVATION_INCOMPLETE, phase=RolloutPhase.NONE),
    ),
    (
        "nothing is there, and Kafka does not let us look",
        rolling(workload=None, pods=(), memory=NOTHING, kafka=Unobserved(Reason.NOT_AUTHORIZED, "x", NOW)),
        Expected(hold=Reason.NOT_AUTHORIZED, phase=RolloutPhase.NONE),
    ),
    (
        "nothing is there, and the Secret of its connection comes later",
        rolling(workload=None, pods=(), memory=NOTHING, kafka=Unobserved(Reason.CONNECTION_INVALID, "x", NOW)),
        Expected(hold=Reason.CONNECTION_INVALID, phase=RolloutPhase.NONE),
    ),
    (
        "nothing is there, and a topic is missing, which its consumers may make",
        rolling(workload=None, pods=(), memory=NOTHING, kafka=Unobserved(Reason.TOPIC_MISSING, "x", NOW)),
        Expected(Purpose.CREATE, partition=3),
    ),
    ("it is another's", rolling(sets={"owner_uid": "x"}), Expected(hold=Reason.FOREIGN_STATEFUL_SET)),
    ("no connection", rolling(bootstrap_servers=None), Expected(hold=Reason.CONNECTION_MISSING)),
    (
        "its KafkaConnection does not allow it",
        rolling(allowed_groups=("orders-", "refunds-")),
        Expected(hold=Reason.GROUP_NOT_ALLOWED),
    ),
    ("its connection is not for the namespace", rolling(allowed_groups=None), Expected(hold=Reason.GROUP_NOT_ALLOWED)),
    (
        "its KafkaConnection allows it",
        rolling(allowed_groups=("orders-", "pay")),
        Expected(RESTART, ordinal=2, partition=2),
    ),
    ("another one has the group", rolling(claims=(FIRST,)), Expected(hold=Reason.GROUP_ID_SHARED)),
    (
        "another one had the group a moment ago",
        rolling(memory={"outranked": Outranked(NOW - 10)}),
        Expected(hold=Reason.GROUP_ID_SHARED),
    ),
    (
        "another one had the group, and was not made again",
        rolling(memory={"outranked": Outranked(NOW - MADE_AGAIN_WITHIN_S)}),
        Expected(RESTART, ordinal=2, partition=2),
    ),
    (
        "another one may have the group, and it is not known where this one is to begin",
        rolling(
            claims=(Claim("shop", "b", certain=False),),
            kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW),
            workload=None,
            pods=(),
            memory={"phase": RolloutPhase.NONE, "target_hash": ""},
        ),
        Expected(hold=Reason.KAFKA_UNREACHABLE, phase=RolloutPhase.NONE),
    ),
    (
        "another one has the group, and nothing is there",
        rolling(claims=(FIRST,), workload=None, pods=(), memory={"phase": RolloutPhase.NONE, "target_hash": ""}),
        Expected(hold=Reason.GROUP_ID_SHARED, phase=RolloutPhase.NONE),
    ),
    (
        "another one has the group, and there are to be fewer pods",
        rolling(claims=(FIRST,), spec={"replicas": 1}, memory={"phase": COMPLETE}),
        Expected(hold=Reason.GROUP_ID_SHARED, phase=COMPLETE),
    ),
    (
        "where to go back to is lost",
        rolling(memory={"phase": ROLLING_BACK}, last_good_template=None),
        Expected(hold=Reason.LAST_GOOD_UNKNOWN, phase=ROLLING_BACK),
    ),
    (
        "Kafka is away",
        rolling(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "x", NOW)),
        Expected(hold=Reason.KAFKA_UNREACHABLE),
    ),
    ("more pods", rolling(spec={"replicas": 5}), Expected(Purpose.SCALE, partition=5)),
    (
        "more pods, on the way",
        rolling(spec={"replicas": 5}, sets={"partition": 2}),
        Expected(Purpose.SCALE, partition=2),
    ),
    (
        "more pods, while canaries are ahead",
        rolling(spec=CANARY | {"replicas": 5}, sets={"partition": 2}),
        Expected(Purpose.SCALE, partition=5),
    ),
    (
        "more pods, stopped",
        rolling(spec={"replicas": 5}, memory={"phase": FAILED}, sets={"partition": 2}),
        Expected(Purpose.SCALE, partition=5, phase=FAILED),
    ),
    (
        "fewer pods, on the way: when it is over",
        rolling(spec={"replicas": 1}, sets={"partition": 2}),
        Expected(hold=Reason.RESTART_IN_HAND),
    ),
    (
        "more pods, paused",
        rolling(spec={"replicas": 5, "annotations": {PAUSE: ""}}),
        Expected(Purpose.SCALE, partition=5),
    ),
]


@pytest.mark.parametrize(("given", "expected"), [pytest.param(w, e, id=name) for name, w, e in TABLE])
def test_plan(given: World, expected: Expected) -> None:
    decided = plan(given)
    act, hold = decided.act, decided.hold
    assert decided.memory.phase is expected.phase
    assert (hold.reason if hold is not None else None) == expected.hold
    assert (act.purpose if isinstance(act, WriteWorkload) else None) == expected.purpose
    assert (act.ordinal if isinstance(act, DeletePod) else None) == expected.deletes
    if expected.ordinal is not None:
        assert isinstance(act, WriteWorkload | DeletePod)
        assert act.ordinal == expected.ordinal
    if expected.partition is not None:
        assert isinstance(act, WriteWorkload)
        assert act.partition == expected.partition


REFUSED: dict[str, Any] = {"protocol": {"target": "Consumer"}, "client": {"library": "Librdkafka", "version": "1.9.0"}}


def test_what_is_said_while_another_one_has_the_group() -> None:
    held = plan(rolling(claims=(FIRST,)))
    assert held.memory.outranked == Outranked()
    assert held.hold is not None
    assert held.hold.message.startswith("ConsumerGroup shop/b has the same groupId and came first")
    gone = plan(rolling(memory={"outranked": Outranked()}))
    assert gone.memory.outranked == Outranked(NOW)
    assert gone.hold is not None
    assert gone.hold.message.endswith("it may be made again, which is waited for 2 min")


def test_a_stateful_set_that_somebody_deleted_is_made_again_while_a_protocol_is_refused() -> None:
    """The group ran before the target was set, and goes on with what it has."""
    decided = plan(rolling(spec=REFUSED, workload=None, pods=(), memory={"phase": COMPLETE}))
    assert isinstance(decided.act, WriteWorkload)
    assert (decided.act.purpose, decided.hold) == (Purpose.CREATE, None)
    assert decided.refusal is not None
    assert decided.refusal.reason is Reason.CLIENT_CANNOT


def test_a_group_that_cannot_have_its_protocol_is_not_begun() -> None:
    nothing = {**NOTHING, "last_good_revision": "", "last_good_hash": ""}
    decided = plan(rolling(spec=REFUSED, workload=None, pods=(), memory=nothing, kafka=EMPTY))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.CLIENT_CANNOT


def failing(on_failure: str, **memory: Any) -> Decision:
    given = rolling(spec={"rollout": {"onFailure": on_failure}}, pods=(pod(0), pod(1), STUCK_NEW), memory=memory)
    return plan(changed(given, pods=(pod(0), pod(1), replace(STUCK_NEW, waiting="ImagePullBackOff"))))


def test_a_failed_version_is_given_up_or_stopped_as_people_chose() -> None:
    back, stop = failing("Rollback"), failing("Pause")
    assert (back.memory.phase, stop.memory.phase) == (ROLLING_BACK, FAILED)
    assert back.act is None
    assert stop.act is None
    assert back.memory.failed_hash == back.memory.target_hash
    assert [note.warning for note in (*back.notes, *stop.notes)] == [True, True]


def test_a_first_version_that_fails_is_stopped_even_where_rollback_was_chosen() -> None:
    assert failing("Rollback", last_good_revision="", last_good_hash="").memory.phase is FAILED


@pytest.mark.parametrize("on_failure", ["Rollback", "Pause"])
def test_a_version_that_is_the_last_good_one_is_not_given_up(on_failure: str) -> None:
    """After the last handover, for example: there is nothing to go back to, and what is down may come back."""
    decided = failing(on_failure, last_good_revision=NEW, last_good_hash=rolling().memory.target_hash)
    assert decided.memory.phase is PROGRESSING
    assert decided.memory.failed_hash == ""
    assert decided.hold is not None or decided.act is not None


def test_a_paused_rollout_fails_not() -> None:
    stuck = replace(STUCK_NEW, waiting="ImagePullBackOff")
    given = rolling(spec={"annotations": {PAUSE: ""}}, pods=(pod(0), pod(1), stuck))
    assert plan(given).memory.phase is PROGRESSING


def started(phase: RolloutPhase, **memory: Any) -> RolloutMemory:
    """Another template is asked for in a world where every pod runs the StatefulSet's newest revision."""
    usual = {"phase": phase, "target_hash": "other", "last_good_revision": "", "last_good_hash": ""}
    sets = {"template_hash": "other", "current_revision": OLD}
    return plan(rolling(pods=ALL_NEW, sets=sets, memory=usual | memory)).memory


def test_what_is_in_use_is_the_last_good_version_only_where_the_memory_of_it_was_lost() -> None:
    assert (started(RolloutPhase.NONE).last_good_revision, started(RolloutPhase.NONE).last_good_hash) == (NEW, "other")
    assert started(FAILED).last_good_revision == ""
    assert started(PROGRESSING).last_good_revision == ""
    assert started(COMPLETE, last_good_revision="x").last_good_revision == "x"


def test_a_version_that_no_pod_has_run_is_not_known_to_be_good() -> None:
    empty = observation((), state=GroupState.EMPTY)
    given = rolling(spec={"replicas": 0}, pods=(), sets={"replicas": 0, "partition": 0}, kafka=empty)
    done = plan(given).memory
    assert (done.phase, done.last_good_revision) == (COMPLETE, OLD)


def test_what_an_earlier_try_failed_by_is_forgotten_once_every_pod_runs_the_version() -> None:
    tried = {"phase": PROGRESSING, "message": "pod payments-2 crashed"}
    done = plan(rolling(pods=ALL_NEW, sets={"partition": 0}, memory=tried)).memory
    assert (done.phase, done.message) == (COMPLETE, "")
    back = {"phase": RolloutPhase.ROLLING_BACK, "message": "pod payments-2 crashed", "last_good_revision": NEW}
    gone_back = plan(rolling(pods=ALL_NEW, sets={"partition": 0}, memory=back | {"last_good_hash": "good"})).memory
    assert gone_back.message == "pod payments-2 crashed"


def test_session_timeouts_of_the_last_good_version_are_remembered_after_a_rollback() -> None:
    """The spec asks for 45 s still, the pods that went back may have 90 s."""
    back = rolling(memory={"phase": ROLLING_BACK, "session_timeout_ms": 90_000}, sets={"update_revision": OLD})
    assert plan(back).memory.session_timeout_ms == 90_000
    forward = rolling(pods=ALL_NEW, memory={"session_timeout_ms": 90_000})
    assert plan(forward).memory.session_timeout_ms == 45_000


def test_the_member_that_a_restart_ends_is_written_down_before_it() -> None:
    given = rolling()
    expected = Step(2, NOW, {"payments-2": "payments-2-a"}, uid_before=given.pods[2].uid)
    assert plan(given).memory.step == expected


def test_a_pod_once_made_is_remembered() -> None:
    decided = plan(rolling(pods=ONE_NEW, memory={"step": STEP_2}, **MOVING))
    assert decided.memory.step is not None
    remembered = plan(rolling(spec=CANARY, pods=ONE_NEW, memory={"step": STEP_2}, **MOVING)).memory.step
    assert remembered == replace(STEP_2, made=True)


def stalled(ordinal: int, for_s: float, revision: str = OLD, **changes: Any) -> World:
    """The pod has been in the group for so long without a partition, while others have more than theirs."""
    more = member(0, assignment=member(0).assignment | member(ordinal).assignment)
    who = [more, *(member(o, assignment=frozenset()) if o == ordinal else member(o) for o in (1, 2))]
    looks = [observation(who, at=NOW - ago) for ago in (for_s, 0)]
    made = tuple(pod(o, revision if o == ordinal else OLD) for o in range(3))
    return rolling(pods=made, kafka=looks[-1], history=folded(*looks), **changes)


def test_a_stalled_pod_is_replaced_when_it_is_tried_again() -> None:
    act = plan(stalled(2, 3600, NEW, memory=RETRIED, sets={"partition": 2})).act
    assert isinstance(act, DeletePod)
    assert act.ordinal == 2


def test_an_outdated_pod_that_does_not_work_goes_first_and_is_waited_for_until_that_is_certain() -> None:
    early, late = plan(stalled(1, 299)), plan(stalled(1, 301))
    assert early.hold is not None
    assert early.hold.reason == Reason.MEMBER_OWNS_NOTHING
    assert isinstance(late.act, WriteWorkload)
    assert (late.act.purpose, late.act.ordinal) == (OPEN, 1)


def test_lag_before_is_taken_when_kafka_can_be_asked_again() -> None:
    assert plan(rolling(kafka=observation(lag=7))).memory.lag_before == 7
    assert plan(rolling(kafka=observation(lag=7), memory={"lag_before": 3})).memory.lag_before == 3


def test_a_rollout_that_is_resumed_has_its_own_lag_before_it() -> None:
    """A pod was found outdated long after the last rollout, whose lag says nothing about this one."""
    growth: dict[str, Any] = {"rollout": {"maxLag": {"growth": 1000}}}
    memory: dict[str, Any] = {"phase": COMPLETE, "lag_before": 0}
    given = rolling(spec=growth, pods=TWO_NEW, memory=memory, sets=PARKED, kafka=observation(lag=5000))
    resumed = plan(given)
    assert (resumed.memory.phase, resumed.memory.lag_before) == (PROGRESSING, None)
    following = plan(given.remembering(resumed.memory))
    assert following.memory.lag_before == 5000
    assert following.hold is None
    assert isinstance(following.act, WriteWorkload)


def test_a_promoted_canary_goes_on() -> None:
    memory: dict[str, Any] = {"step": STEP_2, "canary": Canary(0, NOW, passed=True)}
    decided = plan(rolling(spec=CANARY, pods=ONE_NEW, memory=memory, **MOVING))
    assert isinstance(decided.act, WriteWorkload)
    assert decided.act.ordinal == 1


NORMALIZED = {"cpu": "1"}
"""As the API server keeps `cpu: 1`."""


def after_a_restart(memory: dict[str, Any] | None = None, **sets: Any) -> World:
    """The operator has just started, in the middle of the restart of pod 2."""
    container = {"name": "consumer", "image": "consumer:1", "resources": {"requests": {"cpu": 1}}}
    spec: dict[str, Any] = {"template": {"spec": {"containers": [container]}}}
    body = deepcopy(dict(render_template(group(**spec), BOOTSTRAP, Profile.OWN_CHOICE).body))
    body["spec"]["containers"][0]["resources"]["requests"] = NORMALIZED
    usual = {"template": body, "as_written": False, "partition": 2, "update_revision": NEW}
    terminating = pod(2, terminating=True)
    return rolling(spec=spec, memory=memory, sets=usual | sets, pods=(pod(0), pod(1), terminating))


def test_a_step_in_hand_outlasts_a_restart_of_the_operator_whatever_form_the_template_has_by_now() -> None:
    assert plan(after_a_restart(memory={"revisions": {"payments": NEW}})).act is None


@pytest.mark.parametrize("known", [{}, {"payments": "payments-other"}], ids=["nothing is known", "it was edited since"])
def test_what_may_have_been_edited_is_written_again(known: dict[str, str]) -> None:
    act = plan(after_a_restart(memory={"revisions": known})).act
    assert isinstance(act, WriteWorkload)
    assert act.purpose is Purpose.TAKE_TEMPLATE


@pytest.mark.parametrize(
    ("step", "sets", "strategy", "partition"),
    [
        (Step(2, NOW - 2), {"partition": 2}, UpdateStrategy.ROLLING_UPDATE, 2),
        (Step(2, NOW - 2), {"partition": 0}, UpdateStrategy.ROLLING_UPDATE, 2),
        (Step(2, NOW - 2), {"partition": 3}, UpdateStrategy.ROLLING_UPDATE, 3),
        (Step(2, NOW - 2, made=True), {"partition": 2}, UpdateStrategy.ROLLING_UPDATE, 3),
        (None, {"partition": 2}, UpdateStrategy.ROLLING_UPDATE, 3),
        (Step(2, NOW - 2, also=(1, 0)), {"partition": 0}, UpdateStrategy.ROLLING_UPDATE, 0),
        (Step(2, NOW - 2, also=(1, 0), made_also=(0,)), {"partition": 0}, UpdateStrategy.ROLLING_UPDATE, 1),
        (Step(1, NOW - 2), {"strategy": UpdateStrategy.ON_DELETE}, UpdateStrategy.ON_DELETE, 3),
    ],
    ids=[
        "its pod is let go",
        "somebody has opened it wider",
        "the operator died before it let the pod go",
        "its pod was made",
        "no step is in hand",
        "several are let go",
        "one of several was made",
        "out of order",
    ],
)
def test_what_was_edited_is_written_again_without_taking_the_step_back(
    step: Step | None, sets: dict[str, Any], strategy: UpdateStrategy, partition: int
) -> None:
    """The pod that ends would come back with the version before."""
    act = plan(after_a_restart(memory={"revisions": {"payments": "payments-other"}, "step": step}, **sets)).act
    assert isinstance(act, WriteWorkload) and act.purpose is Purpose.TAKE_TEMPLATE
    assert (act.strategy, act.partition) == (strategy, partition)


def test_not_before_its_controller_has_read_it() -> None:
    decided = plan(after_a_restart(memory={"revisions": {"payments": NEW}}, generation=3))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.STATEFUL_SET_NOT_OBSERVED


def test_the_revision_of_our_own_write_is_remembered() -> None:
    assert plan(rolling(sets={"as_written": True})).memory.revisions == {"payments": NEW}
    assert plan(rolling(sets={"as_written": True, "generation": 3})).memory.revisions == {}
    assert plan(rolling(sets={"as_written": False})).memory.revisions == {}


def test_a_step_that_began_by_a_clock_which_was_ahead_began_now() -> None:
    ahead = rolling(memory={"step": Step(2, NOW + 3600), "started_at": NOW + 3590})
    memory = plan(ahead).memory
    assert memory.step is not None
    assert (memory.step.started_at, memory.started_at) == (NOW, NOW)
    usual = rolling(memory={"step": Step(2, NOW - 60), "started_at": NOW - 90})
    kept = plan(usual).memory
    assert kept.started_at == NOW - 90


def test_a_pod_made_since_retry_by_a_clock_which_was_ahead_is_replaced_at_most_once() -> None:
    """Nobody knows whether it was made before; one that is made from now on was not."""
    pods, looked_at = (pod(0), pod(1), fresh_pod(2, 3, ready=False)), observation(members(0, 1))
    first = rolling(
        pods=pods, kafka=looked_at, memory={"retried_at": NOW + 20, "step": Step(2, NOW - 4)}, sets={"partition": 2}
    )
    memory = plan(first).memory
    assert memory.retried_at == NOW
    made = fresh_pod(2, -1, ready=False)
    then = changed(
        first, now=NOW + 5, memory=memory, pods=(pod(0), pod(1), made), kafka=observation(members(0, 1), at=NOW + 5)
    )
    assert not isinstance(plan(then).act, DeletePod)


def test_what_was_forced_is_the_rollout_under_way_and_not_the_one_that_overtakes_it() -> None:
    target = rolling().memory.target_hash
    assert plan(rolling(memory={"forced_hash": target})).memory.is_forced
    overtaken = rolling(memory={"forced_hash": "other", "target_hash": "other"})
    assert overtaken.memory.is_forced
    assert not plan(overtaken).memory.is_forced


def test_without_a_connection_that_is_said_and_not_that_it_allows_too_little() -> None:
    hold = plan(world(bootstrap_servers=None, allowed_groups=("other-",))).hold
    assert hold is not None
    assert hold.reason is Reason.CONNECTION_MISSING


def test_of_somebody_elses_stateful_set_people_hear_before_the_group_in_kafka() -> None:
    """Nothing is written down of a group that this one cannot begin."""
    given = world(workload=workload(owner_uid="theirs"), pods=(), claims=(FIRST,), cluster_id="here")
    decided = plan(given)
    assert decided.hold is not None
    assert decided.hold.reason is Reason.FOREIGN_STATEFUL_SET
    assert decided.memory.outranked is None


def test_a_new_template_with_another_number_of_pods_is_taken_up_as_a_template() -> None:
    given = rolling(memory={"phase": COMPLETE}, sets={"replicas": 3, "template_hash": "before"}, spec={"replicas": 5})
    act = plan(given).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.replicas, act.partition) == (Purpose.TAKE_TEMPLATE, 5, 5)


def test_a_protocol_that_is_applied_and_forced_in_one_go_is_forced() -> None:
    """What is forced is known once the course is set."""
    spec = {
        "annotations": {FORCE: "1"},
        "protocol": {"target": "Cooperative"},
        "client": {"library": "Java", "version": "3.9.0"},
    }
    decided = plan(rolling(spec=spec, memory={"phase": COMPLETE, "protocol": Profile.EAGER}))
    assert decided.memory.protocol is Profile.EAGER_AND_COOPERATIVE
    assert decided.memory.is_forced


def test_members_are_cared_for_while_somebody_elses_number_of_pods_stands() -> None:
    others = {"replicas": 5, "replicas_by": "an autoscaler", "generation": 7, "observed_generation": 7}
    memory = {"phase": COMPLETE, "last_good_revision": NEW, "put_back": PutBack(3, 5, NOW - 15, 9), "ids_given": 6}
    pods = tuple(pod(ordinal, NEW) for ordinal in range(3))
    resting = rolling(memory=memory, sets={"current_revision": NEW, **others}, pods=pods)
    hold = plan(resting).hold
    assert hold is not None
    assert hold.reason is Reason.SCALED_BY_OTHERS
    assert isinstance(plan(changed(resting, kafka=observation(members(0, 1, 2, 5)))).act, RemoveMembers)
