"""What the gates say of a world, as people are told it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.cli.words.explanation import Outcome, explain
from slackwater.cli.words.gates import Mark, ask_gates, gates_by_reason
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.plan import plan
from slackwater.core.rollout.gates import GATES, first_refusal
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupState, Unobserved
from slackwater.core.world.world import World
from tests.cli import builders
from tests.core import factories

P, R, U, N = Mark.PASS, Mark.REFUSE, Mark.UNKNOWN, Mark.NOT_ASKED

BLIND = Unobserved(Reason.TOPIC_MISSING, "topic refunds does not exist", builders.NOW)
REBALANCING = replace(builders.observation(), state=GroupState.PREPARING_REBALANCE)


def all_hold() -> tuple[Mark, ...]:
    return (P,) * len(GATES)


def refused_at(number: int) -> tuple[Mark, ...]:
    return (P,) * (number - 1) + (R,) + (N,) * (len(GATES) - number)


def unknown_at(number: int) -> tuple[Mark, ...]:
    return (P,) * (number - 1) + (U,) + (P,) * (len(GATES) - number)


WORLDS: dict[str, tuple[World, tuple[Mark, ...]]] = {
    "all hold": (builders.world(), all_hold()),
    "all hold, and a pod is restarted": (builders.rolling(), all_hold()),
    "kafka away": (builders.world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no answer", 1.0)), refused_at(1)),
    "a topic is missing": (builders.world(kafka=builders.observation(blind_to=BLIND)), refused_at(1)),
    "an old look": (builders.world(now=builders.NOW + 60), refused_at(1)),
    "paused": (builders.world(builders.group({"slackwater.dev/pause": ""})), refused_at(2)),
    "a pod is away": (builders.world(pods=(builders.pod(0), builders.pod(2))), refused_at(3)),
    "rebalancing": (builders.world(kafka=REBALANCING), refused_at(4)),
    "watched too briefly": (builders.world(watched_s=3), unknown_at(4)),
    "lag": (builders.world(builders.group(rollout={"maxLag": {"absolute": 5}})), refused_at(7)),
}


def going_back(world: World) -> World:
    return replace(world, memory=replace(world.memory, phase=RolloutPhase.ROLLING_BACK))


def marks(*first: Mark) -> tuple[Mark, ...]:
    """Of all gates: those after these are not asked."""
    return (*first, *[N] * (len(GATES) - len(first)))


@pytest.mark.parametrize(
    ("world", "marks"),
    [
        (builders.world(kafka=REBALANCING), marks(P, P, P, N, P)),
        (builders.world(kafka=replace(builders.observation(), members=())), marks(P, P, P, N, R)),
        (builders.world(pods=(builders.pod(0), builders.pod(2))), marks(P, P, R)),
    ],
    ids=["rebalancing", "the good version's members are away", "a pod is away"],
)
def test_on_the_way_back_what_the_version_broke_is_not_asked(world: World, marks: tuple[Mark, ...]) -> None:
    world = going_back(world)
    assert tuple(gate.mark for gate in ask_gates(world, Decision(world.memory))) == marks


def test_before_a_pod_that_is_out_of_the_group_what_goes_on_there_is_not_asked() -> None:
    busy = factories.observation(factories.members(0, 1), state=GroupState.PREPARING_REBALANCE)
    pods = (factories.pod(0), factories.pod(1), factories.pod(2, ready=False, started_at=None))
    world = factories.world(kafka=busy, pods=pods)
    assert tuple(gate.mark for gate in ask_gates(world, Decision(world.memory))) == marks(P, P, P)


@pytest.mark.parametrize("name", WORLDS)
def test_gates_say_what_they_say_and_those_behind_a_refusal_are_not_asked(name: str) -> None:
    world, expected = WORLDS[name]
    assert tuple(gate.mark for gate in ask_gates(world, plan(world))) == expected


@pytest.mark.parametrize("name", [name for name, (_, marks) in WORLDS.items() if U not in marks])
def test_the_refusal_shown_is_the_one_that_the_operator_acts_upon(name: str) -> None:
    world, _ = WORLDS[name]
    refused = next((gate for gate in ask_gates(world, plan(world)) if gate.mark is R), None)
    hold = first_refusal(world, frozenset())
    assert (refused and (refused.reason, refused.message)) == (hold and (hold.reason, hold.message))


def test_a_group_that_was_disturbed_is_refused_however_briefly_it_was_watched() -> None:
    """Only of what may have been calm all the time is it said that it cannot be told."""
    world = builders.rolling(watched_s=60)
    just_changed = replace(world.history, unchanged_since=builders.NOW - 2)
    verdicts = ask_gates(replace(world, history=just_changed), plan(world))
    assert verdicts[3].mark is R


def test_an_operators_word_is_put_at_its_gate() -> None:
    world = builders.rolling()
    told = gates_by_reason(world, Reason.LAG_ABOVE_GATE, "too far behind")
    assert told is not None
    assert tuple(gate.mark for gate in told) == refused_at(7)
    assert told[6].message == "too far behind"
    assert gates_by_reason(world, Reason.CANARY_HOLD, "") is None


def test_on_the_way_back_an_operators_word_is_that_of_the_gates_that_are_asked_there() -> None:
    world = builders.rolling()
    going_back = world.remembering(replace(world.memory, phase=RolloutPhase.ROLLING_BACK))
    told = gates_by_reason(going_back, Reason.MEMBER_NOT_REJOINED, "payments-2 is not back")
    assert told is not None
    assert tuple(gate.mark for gate in told) == (P, P, P, N, R, N, N)


def test_what_follows_a_restart_is_the_rest() -> None:
    world = builders.rolling()
    told = explain(world, plan(world))
    assert (told.outcome, told.words) == (Outcome.ACT, "restart pod payments-1, so that it takes up the new version")
    assert (told.follow, told.gates_asked) == (("payments-0",), True)
    assert told.afterwards == "1 more pod is restarted after its gates: payments-0"


def test_a_short_look_is_no_reason_to_say_that_the_group_is_restless() -> None:
    world = builders.rolling(watched_s=3)
    assert explain(world, plan(world)).words == "calm, but watched for only 3 s of 10 s (stableFor)"
