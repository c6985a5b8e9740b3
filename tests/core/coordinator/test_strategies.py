"""Every strategy against the coordinator: whatever happens, and whenever, no member is ever refused for its protocol,
no two pods are down because of the operator, nobody alive is removed, and the group gets where it should be.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final, NamedTuple

import pytest

from slackwater.api.resources import ConsumerGroup
from slackwater.core.handover import overlap, waiting
from slackwater.core.handover.holder import Holder
from slackwater.core.manifests import template
from slackwater.core.manifests.template import Template, render_template
from slackwater.core.plan import next_act
from slackwater.core.protocol import preflight, strategies
from slackwater.core.world.broker import Bounds
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.world import World
from tests.core.coordinator.chance import walk
from tests.core.coordinator.events import CHANGES, Change, turned_to
from tests.core.coordinator.exploring import (
    Explored,
    as_asked,
    as_asked_or_rolled_back,
    as_asked_or_taken_back,
    explore,
    stuck,
    upgrading,
    with_another_version,
)
from tests.core.coordinator.fleet import Client, Fleet
from tests.core.coordinator.pilot import Broken
from tests.core.coordinator.together import explore_together


class Case(NamedTuple):
    client: Client
    origin: str
    target: str


EAGER, COOPERATIVE, CONSUMER = "Eager", "Cooperative", "Consumer"
JAVA, RDKAFKA = Client(), Client("Librdkafka", "2.12.1")
STREAMS = Client("KafkaStreams", "3.9", upgrade_from="2.3")
DRAINED = replace(RDKAFKA, allow_downtime=True)
DYNAMIC = replace(JAVA, static=False)

CASES: Final = {
    "two-bounce": Case(JAVA, EAGER, COOPERATIVE),
    "two-bounce-back": Case(JAVA, COOPERATIVE, EAGER),
    "two-bounce-dynamic": Case(DYNAMIC, EAGER, COOPERATIVE),
    "streams": Case(STREAMS, EAGER, COOPERATIVE),
    "drain-cutover": Case(DRAINED, EAGER, COOPERATIVE),
    "drain-cutover-back": Case(DRAINED, COOPERATIVE, EAGER),
    "online-from-eager": Case(RDKAFKA, EAGER, CONSUMER),
    "online-from-cooperative": Case(RDKAFKA, COOPERATIVE, CONSUMER),
    "online-back": Case(RDKAFKA, CONSUMER, EAGER),
    "online-back-to-cooperative": Case(RDKAFKA, CONSUMER, COOPERATIVE),
}
EVERYTHING: Final = os.environ.get("SLACKWATER_EXPLORE") == "everything"
"""What is left out without it is alike in the table of strategies, or longer than anybody waits for."""
LONG: Final = pytest.mark.long
"""Left to `make explore` by `make test`."""
CHANGES_OF_MIND: Final = [*CHANGES, "target-back", "target-elsewhere"]
WITH_A_FAULT: Final = [*CASES] if EVERYTHING else ["two-bounce"]
WITH_A_CHANGE: Final = (
    [(name, change) for name in CASES for change in CHANGES_OF_MIND]
    if EVERYTHING
    else [
        ("two-bounce", "target-back"),
        pytest.param("two-bounce", "abort", marks=LONG),
        pytest.param("online-back", "target-back", marks=LONG),
        pytest.param("online-back", "template", marks=LONG),
    ]
)
EXITS: Final = replace(JAVA, warm=True)
LIVES_ON: Final = replace(EXITS, exits_when_fenced=False)
HANDOVERS: Final = [
    pytest.param(EXITS, 1, 0, marks=LONG),
    (LIVES_ON, 3, 0),
    pytest.param(LIVES_ON, 1, 1, marks=LONG),
] + ([(EXITS, 3, 0), (EXITS, 1, 1), (LIVES_ON, 3, 1)] if EVERYTHING else [])
"""Client, pods, faults. Processes that exit when they are fenced come back and fence in turn: more can happen."""
HANDOVER_STATES: Final = 1_000_000
THE_MOST: Final = (EXITS, 3, 1) if EVERYTHING else (LIVES_ON, 1, 1)
"""Three pods whose processes exit, and one fault, have 3.3 million states: an hour and a half of two processors."""
PREDICTED: Final = [(LIVES_ON, 3, 0), pytest.param(EXITS, 1, 0, marks=LONG)] + (
    [(EXITS, 3, 0), (EXITS, 1, 1)] if EVERYTHING else []
)
SEEDS: Final = range(40 if EVERYTHING else 5)


@pytest.fixture(autouse=True)
def _render_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rendering a template depends on nothing but its arguments, and takes longer than all else in a pass."""
    known: dict[tuple[int, str, Bounds | None], tuple[ConsumerGroup, Template]] = {}
    """With the group, so that no other one can come to have its id."""

    def render(group: ConsumerGroup, servers: str, profile: Profile, bounds: Bounds | None, restart: str) -> Template:
        name = (id(group), profile, bounds)
        if name not in known:
            known[name] = (group, render_template(group, servers, profile, bounds, restart))
        return known[name][1]

    monkeypatch.setattr(template, "render_template", render)


def judge(found: Explored) -> None:
    """From every state there is a way to the end."""
    lost = stuck(found)
    if lost:
        raise AssertionError(
            f"{len(lost)} of {len(found.digests)} states lead nowhere, as\n"
            f"{found.story(lost[0])}\n{found.fleet(lost[0])}"
        )


def generation(fleet: Fleet) -> int:
    return fleet.group.generation


def rebalances(found: Explored) -> set[int]:
    """How many there were on the ways to the end; the exploration has to keep generations apart."""
    return {end.group.generation - found.start.group.generation for end in found.ends.values()}


def test_two_bounces_cost_one_rebalance() -> None:
    """F4, in every order in which things can go without a fault."""
    found = explore(upgrading(*CASES["two-bounce"]), as_asked, apart=generation)
    judge(found)
    assert rebalances(found) == {1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=LONG) if name.startswith(("online-from", "drain")) else name for name in CASES]
)
def test_every_order_of_things(name: str) -> None:
    judge(explore(upgrading(*CASES[name]), as_asked_or_rolled_back))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", WITH_A_FAULT)
def test_one_fault_at_any_moment(name: str) -> None:
    judge(explore(upgrading(*CASES[name], faults=1), as_asked_or_rolled_back))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "change"), WITH_A_CHANGE)
def test_people_change_their_minds_at_any_moment(name: str, change: str) -> None:
    start = upgrading(*CASES[name], changes=1)
    judge(explore(start, as_asked_or_rolled_back, _change(change, CASES[name])))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", SEEDS)
def test_seven_pods_and_many_faults(name: str, seed: int) -> None:
    case = CASES[name]
    walk(case.client, (case.origin, case.target), seed)


@pytest.mark.slow
@pytest.mark.parametrize(("client", "replicas", "faults"), HANDOVERS)
def test_a_handover_in_every_order(client: Client, replicas: int, faults: int) -> None:
    free = not faults and not client.exits_when_fenced  # two that fence each other may be away for a whole session
    _judge_handover(with_another_version(client, replicas, faults), free)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(0)
def test_the_longest_handover_is_shared_out() -> None:
    client, replicas, faults = THE_MOST
    found = explore_together(
        with_another_version(client, replicas, faults), as_asked_or_taken_back, begun=200, limit=5_000_000
    )
    assert found.lost == [], found.story(found.lost[0])


@pytest.mark.slow
@pytest.mark.parametrize(("client", "replicas", "faults"), PREDICTED)
def test_an_old_pod_that_is_let_go_early_costs_none_either(
    monkeypatch: pytest.MonkeyPatch, client: Client, replicas: int, faults: int
) -> None:
    """As soon as its replacement runs: however wrong the prediction was."""

    def at_once(world: World, _: object, new: Pod | None) -> float | None:
        return world.now if new is not None and new.started_at is not None else None

    monkeypatch.setattr(waiting, "let_go_at", at_once)
    _judge_handover(with_another_version(client, replicas, faults), free=not faults)


@pytest.mark.slow
def test_two_bounces_may_be_handovers() -> None:
    judge(explore(upgrading(LIVES_ON, EAGER, COOPERATIVE), as_asked_or_taken_back))


def test_a_pod_that_is_let_go_before_it_was_replaced_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "holder", lambda *_: Holder.NEW)
    with pytest.raises(Broken, match="lets payments-0 go, which serves"):
        explore(with_another_version(LIVES_ON, 1, 0), as_asked_or_taken_back)


def test_a_skipped_bounce_is_stopped_by_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the table of strategies wrong, pods that cannot be mixed would not be: the group stays where it is."""
    _skip_the_bridge(monkeypatch)
    assert 0 in stuck(explore(upgrading(*CASES["two-bounce"]), as_asked))


def test_a_skipped_bounce_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that last check, a member is refused, and the exploration finds it."""
    _skip_the_bridge(monkeypatch)
    monkeypatch.setattr(next_act, "can_mix", lambda one, other: True)
    with pytest.raises(Broken, match="no protocol is common to all"):
        explore(upgrading(*CASES["two-bounce"]), as_asked)


def _judge_handover(start: Fleet, free: bool) -> None:
    """`free`: not one rebalance on any way to the end."""
    if not free:
        judge(explore(start, as_asked_or_taken_back, limit=HANDOVER_STATES))
        return
    found = explore(start, as_asked_or_taken_back, apart=generation)
    judge(found)
    assert rebalances(found) == {0}


def _skip_the_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tuple(
        replace(strategy, path=strategy.path[1:]) if strategy.name is StrategyName.TWO_BOUNCE else strategy
        for strategy in strategies.STRATEGIES
    )
    assert Profile.EAGER_AND_COOPERATIVE not in {profile for strategy in broken for profile in strategy.path}
    monkeypatch.setattr(preflight, "STRATEGIES", broken)


def _change(name: str, case: Case) -> Change:
    if name == "target-back":
        return turned_to(case.origin)
    if name == "target-elsewhere":
        return turned_to(next(t for t in (CONSUMER, COOPERATIVE, EAGER) if t not in (case.origin, case.target)))
    return CHANGES[name]
