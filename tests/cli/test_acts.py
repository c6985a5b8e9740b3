"""Every kind of act in words and as a document, and what is said of a protocol and of why it is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.cli.pictures.documents import plan_document, status_document
from slackwater.cli.words.explanation import explain
from slackwater.core.decision.reasons import Reason
from slackwater.core.plan import plan
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, MemberRef, Unobserved
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.cli import builders, upgrades
from tests.core.factories import changed

Json = dict[str, Any]


def planned(world: World) -> Json:
    decided = plan(world)
    return plan_document(world, decided, explain(world, decided))


def without(world: World, *settings: str) -> World:
    """None of these are set on the group yet."""
    assert isinstance(world.kafka, GroupObservation)
    kept = {name: value for name, value in (world.kafka.settings or {}).items() if name not in settings}
    return replace(world, kafka=replace(world.kafka, settings=kept))


def downtime_allowed(world: World) -> World:
    return replace(world, group=builders.group(protocol={"target": "Cooperative", "allowDowntime": True}))


def emptied(world: World) -> World:
    """All pods have ended, and nobody is in the group."""
    assert isinstance(world.kafka, GroupObservation)
    return changed(world, pods=(), kafka=replace(world.kafka, members=(), state=GroupState.EMPTY))


ACTS: dict[str, tuple[World, Json, str]] = {
    "stop all pods": (
        downtime_allowed(upgrades.refused()),
        {"kind": "WriteWorkload", "purpose": "DRAIN", "disruptive": True, "replicas": 0},
        "stop 3 pods, all at once, so that the group changes its protocol with nobody in it",
    ),
    "take the members out, all pods stopped": (
        changed(upgrades.drain_cutover(), pods=()),
        {"kind": "RemoveMembers", "disruptive": False},
        "take 3 members out of the group: their pods have ended, so that the group can change its protocol",
    ),
    "start all pods again": (
        emptied(upgrades.drain_cutover()),
        {"kind": "WriteWorkload", "purpose": "START", "disruptive": False, "replicas": 3, "partition": 0},
        "start 3 pods with the settings of Cooperative",
    ),
    "take a member out that was scaled away": (
        upgrades.scaled_down(),
        {
            "kind": "RemoveMembers",
            "members": [{"instanceId": "payments-2", "memberId": "payments-2-4f1c"}],
            "disruptive": False,
        },
        "take 1 member out of the group: their pods were scaled away: payments-2",
    ),
    "release a dead member": (
        upgrades.crashed(),
        {
            "kind": "ReleaseMembers",
            "members": [{"instanceId": "payments-1", "memberId": "payments-1-4f1c"}],
            "disruptive": False,
        },
        "release 1 member of the group, since the process behind payments-1 has ended: its successor may join",
    ),
    "restart a pod that was refused": (
        upgrades.refused_at_start(),
        {"kind": "DeletePod", "disruptive": True, "pod": "payments-1"},
        "delete pod payments-1: its consumer was refused while the id of its predecessor was held, and cannot join any"
        " more",
    ),
    "set the group's settings": (
        without(upgrades.released(), "consumer.session.timeout.ms"),
        {"kind": "AlterGroupSettings", "disruptive": False, "values": {"consumer.session.timeout.ms": "60000"}},
        "set consumer.session.timeout.ms to 60000, for the group and without a restart",
    ),
}


@pytest.mark.parametrize("name", ACTS)
def test_an_act_is_told_in_words_and_as_a_document(name: str) -> None:
    world, expected, words = ACTS[name]
    document = planned(world)
    assert document["outcome"] == "act"
    assert document["words"] == words
    assert {key: document["act"][key] for key in expected} == expected


@pytest.mark.parametrize("name", ACTS)
def test_none_of_them_asked_the_gates(name: str) -> None:
    """They are upkeep, or the stop of a whole group; a restart that is a step of a rollout asks."""
    assert planned(ACTS[name][0])["gatesAsked"] is False


def test_what_follows_a_stop_is_told() -> None:
    document = planned(downtime_allowed(upgrades.refused()))
    assert document["then"] == {
        "pods": [],
        "words": "once all pods have ended, their members are taken out of the group, and 3 pods start with the"
        " settings of Cooperative",
    }


def test_every_pod_that_is_stopped_has_its_turn_now() -> None:
    world = downtime_allowed(upgrades.refused())
    assert [pod["note"] for pod in status_document(world, plan(world))["pods"]] == ["now"] * 3


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (1, "Eager to Cooperative by TwoBounce, step 1 of 2: 1 of 3 pods have EagerAndCooperative"),
        (2, "Eager to Cooperative by TwoBounce, step 2 of 2: 1 of 3 pods have Cooperative"),
    ],
)
def test_an_upgrade_says_where_it_is(step: int, words: str) -> None:
    protocol = planned(upgrades.two_bounce(step))["protocol"]
    assert protocol["words"] == words
    expected = {
        "from": "Eager",
        "to": "Cooperative",
        "target": "Cooperative",
        "strategy": "TwoBounce",
        "step": f"{step} of 2",
        "waitingFor": "the group is PreparingRebalance",
    }
    assert {key: protocol[key] for key in expected} == expected


def test_the_next_bounce_is_foretold_but_for_the_last() -> None:
    first, last = (planned(upgrades.two_bounce(step))["then"]["words"] for step in (1, 2))
    assert first.endswith("payments-1, payments-0; then all of them once more, with the settings of Cooperative")
    assert last.endswith("payments-1, payments-0")


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        (RolloutPhase.FAILED, "TwoBounce, step 1 of 2, has stopped: 1 of 3"),
        (RolloutPhase.ROLLING_BACK, "TwoBounce, step 1 of 2, is being taken back: 1 of 3"),
        (RolloutPhase.ROLLED_BACK, "TwoBounce, step 1 of 2, was taken back: 1 of 3"),
    ],
)
def test_an_upgrade_that_failed_says_so(phase: RolloutPhase, words: str) -> None:
    world = upgrades.two_bounce()
    failed = replace(world.memory, phase=phase, failed_hash=world.memory.target_hash, message="pod payments-2 is stuck")
    assert words in planned(replace(world, memory=failed))["protocol"]["words"]


def test_a_step_that_is_undone_says_why() -> None:
    """The target changed in the middle of the step."""
    back = replace(upgrades.two_bounce(), group=builders.group(client=upgrades.JAVA, protocol={"target": "Eager"}))
    words = "back to Eager, since the target changed in the middle of a step: 2 of 3 pods have Eager"
    assert planned(back)["protocol"]["words"] == words


def test_a_refusal_is_neither_an_act_nor_a_hold() -> None:
    """Everything else goes on, and nothing is waited for."""
    document = planned(upgrades.refused())
    assert (document["outcome"], document["act"], document["hold"]) == ("nothing", None, None)
    assert document["refusal"]["reason"] == "MixedAssignorsUnsupported"
    assert "protocol.allowDowntime" in document["refusal"]["message"]
    assert document["protocol"]["refusal"] == document["refusal"]
    assert document["words"] == "nothing to do, for the group keeps the protocol that it has"


def test_a_new_group_that_cannot_be_made_holds() -> None:
    """The same sentence is not said twice."""
    old = BrokerFacts(builders.NOW, serves_consumer_protocol=False, group_version=0)
    world = builders.world(builders.group(protocol={"target": "Consumer"}), workload=None, pods=(), broker=old)
    document = planned(replace(world, memory=replace(world.memory, phase=RolloutPhase.NONE)))
    assert document["hold"]["reason"] == document["refusal"]["reason"] == "BrokerCannot"
    assert document["protocol"]["refusal"] is None


def test_where_kafka_cannot_be_seen_from_here_the_operator_has_the_word() -> None:
    told = builders.with_status(upgrades.refused())
    blind = replace(told, kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no answer", builders.NOW - 2))
    protocol = status_document(blind, plan(blind))["protocol"]
    assert (protocol["words"], protocol["refusal"]["reason"]) == ("Eager", "MixedAssignorsUnsupported")


@pytest.mark.parametrize(
    ("profile", "assignor", "words"),
    [
        (Profile.COOPERATIVE, "cooperative-sticky", "Cooperative"),
        (Profile.OWN_CHOICE, "range", "Eager, as the consumers chose"),
        (Profile.OWN_CHOICE, "roundrobin", "the consumers' own choice"),
    ],
)
def test_at_rest_it_is_what_kafka_shows(profile: Profile, assignor: str, words: str) -> None:
    world = builders.made_with(profile, builders.group())
    assert isinstance(world.kafka, GroupObservation)
    seen = replace(world, kafka=replace(world.kafka, assignor=assignor))
    assert status_document(seen, plan(seen))["protocol"]["words"] == words


def test_members_are_named_by_both_ids() -> None:
    """So that who reads the document can tell a member from the one that took its id over."""
    decided = plan(upgrades.crashed())
    assert getattr(decided.act, "members", None) == (MemberRef("payments-1", "payments-1-4f1c"),)
