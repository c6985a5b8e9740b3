"""What whoever does not lead makes of objects: the same facts as the leader's, as far as objects show them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE, URGENT
from slackwater.api.errors import InvalidSpec
from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.parsing import parse_consumer_fleet
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.seen import fleet_seen, seen, settled, turn_shown
from slackwater.core.fleet.sight import Sight
from slackwater.core.world.claimed import Claimed
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, write_memory
from slackwater.core.world.turn import TurnRecord, TurnStanding
from slackwater.shell.fleet_objects import facts_of
from tests.api.manifests import consumer_fleet, consumer_group

ASKED = TurnRecord(MoveReason.RESTART, 1000.0, cluster="k", coordinator=2)
GIVEN = replace(ASKED, given_at=1100.0)
DONE = replace(GIVEN, done_at=1200.0)
ROLLS = RolloutPhase.PROGRESSING


def group(memory: RolloutMemory, **annotations: str) -> dict[str, Any]:
    obj = consumer_group("payments", replicas=4)
    given = {"pause": PAUSE, "urgent": URGENT}
    labels = {"tier": "0"}
    named = {given[key]: value for key, value in annotations.items()}
    obj["metadata"] |= {"namespace": "shop", "uid": "u", "labels": labels, "annotations": named}
    return {**obj, "status": {"rollout": write_memory(memory), "updatedReplicas": 3}}


@pytest.mark.parametrize(
    ("memory", "standing"),
    [
        (RolloutMemory(), Standing.RESTS),
        (RolloutMemory(phase=ROLLS, turn=ASKED), Standing.ASKS),
        (RolloutMemory(phase=ROLLS, turn=GIVEN), Standing.HAS),
        (RolloutMemory(phase=RolloutPhase.COMPLETE, turn=DONE), Standing.SETTLES),
        (RolloutMemory(phase=RolloutPhase.ROLLING_BACK, turn=DONE), Standing.MENDS),
    ],
    ids=["never moved", "asks", "has its turn", "is done", "goes back"],
)
def test_a_group_stands_where_the_leader_says_so(memory: RolloutMemory, standing: Standing) -> None:
    obj = group(memory)
    found = seen(obj)
    assert found.facts.standing is standing
    leads = facts_of(obj, memory, Sight(), (), 1200.0)
    told = {"standing", "cluster", "coordinator", "reason", "asked_at", "labels", "replicas", "topics", "is_urgent"}
    theirs = {name: getattr(leads, name) for name in told}
    ours = {name: getattr(settled(found, 0.0, 1200.0), name) for name in told}
    assert ours == theirs


def test_whoever_is_paused_by_hand_asks_for_nothing() -> None:
    assert seen(group(RolloutMemory(phase=ROLLS, turn=ASKED), pause="")).facts.standing is Standing.RESTS


def test_an_urgent_group_is_known_as_one() -> None:
    assert seen(group(RolloutMemory(), urgent="INC-4711")).facts.is_urgent


def test_without_a_turn_the_cluster_is_known_by_whose_the_group_is() -> None:
    claimed = RolloutMemory(claimed=Claimed("lkc-7f", 5.0))
    assert (seen(group(claimed)).facts.cluster, seen(group(RolloutMemory())).facts.cluster) == ("lkc-7f", None)


def test_since_when_it_has_its_turn() -> None:
    moves, is_done = (seen(group(RolloutMemory(phase=ROLLS, turn=turn))) for turn in (GIVEN, DONE))
    assert (moves.given_at, is_done.given_at, moves.updated) == (1100.0, None, 3)


@pytest.mark.parametrize(("settles_s", "standing"), [(0.0, Standing.RESTS), (60.0, Standing.SETTLES)])
def test_who_is_done_counts_for_as_long_as_its_fleets_say(settles_s: float, standing: Standing) -> None:
    found = seen(group(RolloutMemory(phase=RolloutPhase.COMPLETE, turn=DONE)))
    facts = settled(found, settles_s, now=1210.0)
    assert (facts.standing, facts.counts_until) == (standing, 1200.0 + settles_s)


def test_a_status_of_a_later_version_is_not_guessed_at() -> None:
    obj = group(RolloutMemory())
    obj["status"]["rollout"] = {"phase": "Dreaming"}
    with pytest.raises(InvalidSpec):
        seen(obj)


@pytest.mark.parametrize(
    ("spec", "status", "shut"),
    [
        ({}, {}, set()),
        ({"pause": "INC-4711"}, {}, {"pause"}),
        ({}, {"conditions": [{"type": "Accepted", "status": "False"}]}, {"accepted"}),
        ({}, {"conditions": [{"type": "Halted", "status": "True"}], "halted": {"reason": "TooManyFailed"}}, {"halts"}),
        ({}, {"conditions": [{"type": "Halted", "status": "True", "reason": "TooManyDisturbed"}]}, set()),
    ],
    ids=["nothing", "a pause", "not accepted", "a halt", "a halt at one coordinator"],
)
def test_what_lets_nobody_begin_in_the_whole_fleet(
    spec: dict[str, Any], status: dict[str, Any], shut: set[str]
) -> None:
    obj = {**consumer_fleet(**spec), "status": status}
    obj["metadata"] |= {"namespace": "shop", "generation": 3}
    found = fleet_seen(parse_consumer_fleet(obj), 1000.0)
    assert (set(found.shut), found.is_taken_up) == (shut, False)


def test_an_override_counts_while_it_lasts() -> None:
    override = {"until": "2026-11-24T23:00", "reason": "INC-4711"}
    obj = consumer_fleet(override=override, timeZone="UTC")
    obj["metadata"] |= {"namespace": "shop", "generation": 3}
    ends_at = 1_795_561_200.0
    before, after = (fleet_seen(parse_consumer_fleet(obj), ends_at + by).fleet.is_overridden for by in (-1.0, 1.0))
    assert (before, after) == (True, False)


@pytest.mark.parametrize(
    ("turn", "reason", "standing"),
    [
        (ASKED, "AwaitingTurn", TurnStanding.WAITS),
        (ASKED, "PodNotReady", TurnStanding.NO_FLEET),
        (GIVEN, "AwaitingTurn", TurnStanding.NO_FLEET),
        (None, "AwaitingTurn", TurnStanding.NO_FLEET),
    ],
)
def test_a_turn_is_waited_for_where_record_and_operator_say_so(
    turn: TurnRecord | None, reason: str, standing: TurnStanding
) -> None:
    assert turn_shown(RolloutMemory(phase=ROLLS, turn=turn), {"reason": reason}).standing is standing


def test_whoever_was_refused_other_namespaces_reaches_none_but_its_own() -> None:
    refused = {"type": "Accepted", "status": "False", "reason": "NamespacesNotAllowed"}
    objs = [
        {**consumer_fleet(namespaces=["*"]), "status": {"conditions": conditions}} for conditions in ([], [refused])
    ]
    accepted, not_so = (fleet_seen(parse_consumer_fleet(each), 0.0).fleet for each in objs)
    assert (accepted.selects(GroupFacts("shop", "a")), not_so.selects(GroupFacts("shop", "a"))) == (True, False)
    assert not_so.selects(GroupFacts(not_so.namespace, "a"))


def test_what_a_fleet_gives_stands_with_its_age_and_generation() -> None:
    obj = consumer_fleet(defaults={"rollout": {"onFailure": "Rollback"}})
    obj["metadata"] |= {"creationTimestamp": "1970-01-01T00:01:00Z", "generation": 7}
    giver = fleet_seen(parse_consumer_fleet(obj), 0.0).giver
    assert giver is not None
    assert (giver.says, giver.created_at, giver.generation) == ({"rollout.onFailure": "Rollback"}, 60.0, 7)
    assert fleet_seen(parse_consumer_fleet(consumer_fleet()), 0.0).giver is None
