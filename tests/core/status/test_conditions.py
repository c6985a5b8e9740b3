"""Conditions: what is said of a world, and how it is merged with what was said before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE
from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.rollout.scaling import PUT_BACK_FORGOTTEN_S
from slackwater.core.status.conditions import Verdict, degraded, merge, verdicts
from slackwater.core.world.claims import Claim
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import GroupState, TopicPartition, Unobserved
from slackwater.core.world.pods import NotMade
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.put_back import PutBack
from slackwater.core.world.world import World
from tests.core.factories import (
    NOW,
    folded,
    group,
    member,
    members,
    observation,
    owned_by,
    pod,
    stranger,
    workload,
    world,
)
from tests.core.members.test_work import rebalances

READY = ConditionType.READY
UNOBSERVED = {"kafka": Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)}
HOLD = Hold(Reason.GROUP_STABILIZING, "not calm for long enough")


def said(given: World, kind: str, hold: Hold | None = None) -> tuple[str, str]:
    verdict = next(v for v in verdicts(given, hold) if v.type == kind)
    return verdict.status.value, verdict.reason.value


def phase(name: str) -> dict[str, Any]:
    return {"memory": RolloutMemory(phase=RolloutPhase(name), message="why")}


def on(profile: Profile, target: str) -> dict[str, Any]:
    """Pods of that profile, no upgrade in hand."""
    return {"memory": RolloutMemory(protocol=profile), "group": group(protocol={"target": target})}


FOUGHT_OVER = [observation((*members(0, 1), member(2, f"x{i}")), at=NOW - 30 + 10 * i) for i in range(4)]
LAG_BOUND = {"group": group(rollout={"maxLag": {"absolute": 100}})}
NOTHING = frozenset[TopicPartition]()
TWO_PODS = owned_by(0) | owned_by(1)
AS_WANTED, STANDING = ("True", "AsWanted"), ("False", "PartitionsWithoutLiveOwner")
TABLE = [
    ("Ready", {}, AS_WANTED),
    ("Ready", {"pods": (pod(0), pod(1))}, ("False", "NotAllReady")),
    ("Ready", {"pods": (pod(0), pod(1), pod(2, ready=False))}, ("False", "NotAllReady")),
    ("Ready", {"pods": (pod(0), pod(1), pod(2, terminating=True))}, ("False", "NotAllReady")),
    ("Ready", {"kafka": observation(members(0, 1))}, ("False", "MemberMissing")),
    ("Ready", UNOBSERVED, ("Unknown", "KafkaUnreachable")),
    ("Ready", {"kafka": observation((*members(0, 1), member(2, assignment=NOTHING)))}, STANDING),
    ("Ready", {"kafka": observation((*members(0, 1), member(2, assignment=NOTHING)), partitions=TWO_PODS)}, AS_WANTED),
    ("Progressing", {}, ("True", "Progressing")),
    ("Progressing", phase("RollingBack"), ("True", "RollingBack")),
    ("Progressing", phase("Failed"), ("False", "RolloutFailed")),
    ("Progressing", phase("RolledBack"), ("False", "RolledBack")),
    ("Progressing", phase("Complete"), ("False", "RolloutComplete")),
    ("Progressing", phase("None"), ("False", "NotRolling")),
    ("GroupStable", {}, ("True", "Stable")),
    ("GroupStable", {"kafka": observation(state=GroupState.EMPTY)}, ("False", "GroupRebalancing")),
    ("GroupStable", UNOBSERVED, ("Unknown", "KafkaUnreachable")),
    ("StaticMembership", {}, ("True", "StaticMembers")),
    ("StaticMembership", {"group": group(membership="Dynamic")}, ("False", "DynamicMembers")),
    ("Oversized", {}, ("False", "EveryMemberHasWork")),
    ("Oversized", {"group": group(replicas=7)}, ("True", "MoreMembersThanPartitions")),
    ("Oversized", {"group": group(membersPerPod=3)}, ("True", "MoreMembersThanPartitions")),
    ("Oversized", UNOBSERVED, ("Unknown", "KafkaUnreachable")),
    ("Lagging", {"kafka": observation(lag=10**9)}, ("False", "WithinBound")),
    ("Lagging", {"kafka": observation(lag=101)} | LAG_BOUND, ("True", "LagAboveGate")),
    ("Lagging", UNOBSERVED, ("Unknown", "LagUnknown")),
    ("Paused", {}, ("False", "NotPaused")),
    ("Paused", {"group": group(annotations={PAUSE: ""})}, ("True", "Paused")),
    ("ProtocolUpgrade", {}, ("False", "ProtocolAsWanted")),
    ("ProtocolUpgrade", on(Profile.EAGER, "Eager"), ("False", "ProtocolAsWanted")),
    ("ProtocolUpgrade", on(Profile.EAGER_AND_COOPERATIVE, "Eager"), ("True", "Upgrading")),
    ("Degraded", {}, ("False", "AsWanted")),
    ("Degraded", phase("RollingBack"), ("True", "RolloutFailed")),
    ("Degraded", {"kafka": FOUGHT_OVER[-1], "history": folded(*FOUGHT_OVER)}, ("True", "DuplicateInstanceId")),
]


@pytest.mark.parametrize(("kind", "changes", "expected"), TABLE, ids=[f"{k}: {e[1]}" for k, _, e in TABLE])
def test_verdict(kind: str, changes: dict[str, Any], expected: tuple[str, str]) -> None:
    assert said(world(**changes), kind) == expected


def test_where_all_are_in_the_group_and_nobody_consumes_it_is_not_ready() -> None:
    assert said(rebalances(100), "Ready") == ("False", "GroupRebalancing")
    assert said(rebalances(30, committed_ago_s=30), "Ready") == ("True", "AsWanted")


def test_a_hold_is_told_as_it_is() -> None:
    verdict = next(v for v in verdicts(world(), HOLD) if v.type is ConditionType.ROLLOUT_GATED)
    assert (verdict.status, verdict.reason, verdict.message) == ("True", HOLD.reason, HOLD.message)
    assert said(world(), "RolloutGated") == ("False", "GatesHold")
    assert said(world(**phase("Complete")), "RolloutGated") == ("False", "NotRolling")


def test_strangers_degrade_a_group_and_waiting_does_not() -> None:
    assert said(world(), "Degraded", Hold(Reason.FOREIGN_MEMBERS, "x")) == ("True", "ForeignMembers")
    assert said(world(), "Degraded", HOLD) == ("False", "AsWanted")


@pytest.mark.parametrize("reason", Reason, ids=str)
def test_a_hold_degrades_a_group_by_its_reason_alone(reason: Reason) -> None:
    degraded = ("True", reason.value) if reason.degrades else ("False", "AsWanted")
    assert said(world(), "Degraded", Hold(reason, "x")) == degraded


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"kafka": observation((*members(0, 1, 2), stranger()))}, ("True", "ForeignMembers")),
        (
            {"kafka": observation((*members(0, 1, 2), stranger())), "group": group(membership="Dynamic")},
            ("False", "AsWanted"),
        ),
        (UNOBSERVED, ("False", "AsWanted")),
        ({"claims": (Claim("shop", "b"),)}, ("True", "GroupIdShared")),
        ({"claims": (Claim("shop", "b", certain=False),)}, ("False", "AsWanted")),
        (UNOBSERVED | {"claims": (Claim("shop", "b"),)}, ("True", "GroupIdShared")),
        (phase("Failed"), ("True", "RolloutFailed")),
        (phase("RolledBack"), ("True", "RolloutFailed")),
    ],
    ids=[
        "strangers",
        "strangers of a dynamic group",
        "Kafka away",
        "another has its groupId",
        "another may have it",
        "another has its groupId, Kafka away",
        "failed",
        "rolled back",
    ],
)
def test_what_else_degrades(changes: dict[str, Any], expected: tuple[str, str]) -> None:
    assert said(world(**changes), "Degraded") == expected


SENTENCES = [
    ("GroupStable", {"kafka": observation((), state=GroupState.DEAD)}, "nobody has joined it yet"),
    ("Oversized", {"group": group(replicas=1)}, "1 member for 6 partitions"),
    ("Oversized", {"group": group(replicas=7)}, "7 members for 6 partitions: 1 of them owns nothing"),
    ("Oversized", {"group": group(replicas=8)}, "8 members for 6 partitions: 2 of them own nothing"),
    ("Ready", {"workload": workload(owner_uid="")}, "StatefulSet payments is not the group's own"),
]


@pytest.mark.parametrize(("kind", "changes", "words"), SENTENCES)
def test_sentence(kind: str, changes: dict[str, Any], words: str) -> None:
    assert words in next(v.message for v in verdicts(world(**changes), None) if v.type == kind)


def test_a_step_that_failed_names_the_command_that_tries_it_again() -> None:
    upgrade = Upgrade(Profile.EAGER, StrategyName.ONE_BOUNCE, (Profile.COOPERATIVE,))
    given = world(memory=RolloutMemory(phase=RolloutPhase.FAILED, message="it crashed", upgrade=upgrade))
    message = next(v.message for v in verdicts(given, None) if v.type == "ProtocolUpgrade")
    assert "slackwater retry payments (annotation slackwater.dev/retry) tries the step again" in message


def test_what_holds_is_what_people_read_first() -> None:
    given = world(**phase("Failed"))
    assert said(given, "Degraded", Hold(Reason.NOT_AUTHORIZED, "x")) == ("True", "NotAuthorized")


def test_which_pods_are_down_costs_no_more_where_ten_thousand_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by somebody whose namespace has a quota for four: everybody else's groups wait for the answer."""
    named: list[int] = []
    pod_name = World.pod_name

    def counted(self: World, ordinal: int) -> str:
        named.append(ordinal)
        return pod_name(self, ordinal)

    monkeypatch.setattr(World, "pod_name", counted)
    given = world(
        group=group(replicas=10_000),
        workload=workload(replicas=10_000),
        pods=(pod(0), pod(1, ready=False), pod(2), pod(7, terminating=True)),
        not_made={"payments-9": NotMade("exceeded quota: small", NOW), "payments-x": NotMade("is not one", NOW)},
    )
    ready = verdicts(given, None)[0]
    assert ready.message == (
        "not Ready: payments-1, payments-3, payments-4, payments-5 and 9994 more (payments-9: exceeded quota: small)"
    )
    assert len(named) < 20


def verdict(status: str, reason: Reason = Reason.AS_WANTED, message: str = "") -> Verdict:
    return Verdict(READY, ConditionStatus(status), reason, message)


def test_the_transition_time_moves_only_with_the_status() -> None:
    first = merge((), [verdict("False")], 100.0, 1)
    assert first[0]["lastTransitionTime"] == timestamp(100)
    same = merge(first, [verdict("False", Reason.NOT_ALL_READY, "and more words")], 200.0, 2)
    assert (same[0]["lastTransitionTime"], same[0]["reason"]) == (timestamp(100), "NotAllReady")
    other = merge(same, [verdict("True")], 300.9, 2)
    assert other[0]["lastTransitionTime"] == timestamp(300)


def test_every_condition_is_always_there_and_speaks_of_one_generation() -> None:
    merged = merge((), verdicts(world(), None), NOW, 7)
    assert {c["type"] for c in merged} == set(ConditionType) - {ConditionType.CERTIFICATES_VALID}
    assert len(merged) == len(ConditionType) - 1  # that one is a KafkaConnection's
    assert {c["observedGeneration"] for c in merged} == {7}
    assert merge(merged, verdicts(world(), None), NOW + 100, 7) == merged


def test_a_condition_that_is_said_no_more_goes() -> None:
    before = merge((), [verdict("True"), replace(verdict("True"), type=ConditionType.PAUSED)], 1.0, 1)
    assert [c["type"] for c in merge(before, [verdict("True")], 2.0, 1)] == ["Ready"]


SCALED = PutBack(3, 7, NOW - 15, times=2, by="kube-controller-manager")
BOTH = "why; its StatefulSet was scaled by kube-controller-manager again and again: scale the ConsumerGroup"


@pytest.mark.parametrize("name", ["Failed", "RollingBack", "RolledBack"])
@pytest.mark.parametrize(
    "hold", [None, Hold(Reason.SCALED_BY_OTHERS, "left alone"), HOLD], ids=lambda h: h and h.reason
)
def test_a_version_that_was_given_up_is_named_beside_who_scales(name: str, hold: Hold | None) -> None:
    given = world(memory=replace(phase(name)["memory"], put_back=SCALED))
    verdict = degraded(given, hold)
    assert (verdict.status.value, verdict.reason) == ("True", Reason.ROLLOUT_FAILED)
    assert BOTH in verdict.message
    assert verdict.message.startswith("version  was taken back. The reason then: ") == (name == "RolledBack")


UNKNOWN_OR_OVER = [
    (None, "why"),
    (replace(SCALED, times=1), "why"),
    (replace(SCALED, at=NOW - PUT_BACK_FORGOTTEN_S - 1), "why"),
    (replace(SCALED, replicas=2), "why"),
    (replace(SCALED, by=""), "why; its StatefulSet was scaled by somebody else again and again"),
]


@pytest.mark.parametrize(
    ("put_back", "message"), UNKNOWN_OR_OVER, ids=["nobody", "once", "long ago", "other", "whoever"]
)
def test_who_scales_is_named_while_that_is_known(put_back: PutBack | None, message: str) -> None:
    given = world(memory=replace(phase("Failed")["memory"], put_back=put_back))
    assert degraded(given, None).message.partition(":")[0] == message


def test_where_nothing_was_given_up_the_hold_says_who_scales() -> None:
    verdict = degraded(world(**phase("Complete")), Hold(Reason.SCALED_BY_OTHERS, "left alone"))
    assert (verdict.reason, verdict.message) == (Reason.SCALED_BY_OTHERS, "left alone")


def test_what_keeps_us_out_comes_before_what_was_given_up() -> None:
    assert degraded(world(**phase("Failed")), Hold(Reason.NOT_AUTHORIZED, "no")).reason is Reason.NOT_AUTHORIZED


def test_another_consumer_group_of_the_group_is_named() -> None:
    given = world(claims=(Claim("shop", "b"), Claim("shop", "c", certain=False)))
    message = next(each.message for each in verdicts(given, None) if each.type == "Degraded")
    assert message.startswith("ConsumerGroup shop/b has the same groupId: ")


def test_a_pod_is_not_called_ready_whose_readiness_gate_is_closed() -> None:
    """`kubectl get pods` does not call it so."""
    seen = observation((member(0),))
    pods = (pod(0, rejoined=True), pod(1, rejoined=False), pod(2))
    given = world(pods=pods, kafka=seen, history=folded(seen))
    ready = next(verdict for verdict in verdicts(given, None) if verdict.type is ConditionType.READY)
    assert (ready.status, ready.reason) == (ConditionStatus.FALSE, Reason.MEMBER_MISSING)
    assert ready.message == (
        "Ready, but not known to be in the group: payments-2;"
        " held back by the readiness gate, since not known to be in the group: payments-1"
    )
