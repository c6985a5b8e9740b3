"""One namespace does all that it can to harm the others, while a group in another one is rolled out under load."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.handover.handovers import Cost
from tests.e2e.stage.groups import CONNECTION
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.tenants.attacks import Servers, attacks, servers
from tests.e2e.tenants.neighbours import (
    CROWDED,
    DEEP,
    GOOD,
    Hostile,
    apply_attack,
    crowd,
    longest_stall_s,
    neighbours,
    peak_mib,
    roll_out,
    started,
    wait_met,
)

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.quiet, pytest.mark.minutes(5), pytest.mark.timeout(1200)]

FIGURES: Final = ROOT / "build" / "bench" / "hostile.json"
STALL_S: Final = 0.25
"""So long the event loop may stand still, or for three times as long as it does on this machine without an attack."""
MEMORY_MIB: Final = 512
"""The chart's limit."""


@dataclass
class Figures:
    """What it came to. `…_without`: before the first attack, on the same machine with the same rollout."""

    longest_stall_seconds: float = 0.0
    longest_stall_seconds_without: float = 0.0
    peak_mib: float = 0.0
    peak_mib_without: float = 0.0
    ready_seconds: float = 0.0
    """From the start of an operator that meets all of it until it is ready."""
    ready_seconds_without: float = 0.0
    operator_restarts: int = 0
    neighbour_rebalances: int = 0
    neighbour_idle_partition_seconds: float = 0.0
    neighbour_idle_partition_seconds_without: float = 0.0
    attacks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Story:
    hostile: Hostile
    figures: Figures


@pytest.fixture(scope="module")
def story(stage: Stage) -> Iterator[Story]:
    """Nobody attacks yet."""
    with neighbours(stage) as hostile:
        yield Story(hostile, Figures(ready_seconds_without=hostile.ready_seconds))


@pytest.fixture(scope="module")
def peace(story: Story) -> Cost:
    """What the same rollout costs while nobody attacks."""
    stage, figures = story.hostile.stage, story.figures
    cost = roll_out(stage, "2")
    figures.longest_stall_seconds_without = longest_stall_s(stage)
    figures.peak_mib_without = peak_mib(stage)
    figures.neighbour_idle_partition_seconds_without = cost.idle_s
    return cost


@pytest.fixture(scope="module")
def attacked(story: Story, peace: Cost) -> Iterator[None]:
    """All at once, each until the operator has met it."""
    stage, evil = story.hostile.stage, story.hostile.evil
    stage.kafka.make_topic(evil.namespace, 1)
    with servers() as at, crowd(stage, evil):
        attack(story, at)
        yield


def attack(story: Story, at: Servers) -> None:
    stage, evil = story.hostile.stage, story.hostile.evil
    made = dict(attacks(evil, at, stage.kafka.bootstrap_servers, stage.group_id(GOOD)))
    evil.apply(*made[CONNECTION], *made["s9-metrics"])
    wait_for("a pod before the quota is used up", lambda: evil.pods("s9-metrics"), 120.0, stage.operator.log_tail)
    evil.apply(*(each for objects in made.values() for each in objects))
    apply_attack(evil, DEEP, [])
    story.figures.attacks = sorted({*made, DEEP} - {CONNECTION})
    for name in story.figures.attacks:
        wait_met(stage, evil, name)


def test_the_neighbour_is_rolled_out_as_in_peace(story: Story, attacked: None) -> None:
    stage, figures = story.hostile.stage, story.figures
    process = stage.operator.process
    cost = roll_out(stage, "3")
    assert process is not None
    figures.operator_restarts += process.poll() is not None
    figures.neighbour_rebalances = cost.rebalances
    figures.neighbour_idle_partition_seconds = cost.idle_s
    figures.longest_stall_seconds, figures.peak_mib = longest_stall_s(stage), peak_mib(stage)
    keep(figures)
    assert figures.operator_restarts == 0
    assert figures.longest_stall_seconds <= max(STALL_S, 3 * figures.longest_stall_seconds_without), figures
    assert figures.peak_mib < MEMORY_MIB, figures


def test_an_operator_that_starts_meets_all_of_it_and_is_ready(story: Story, attacked: None) -> None:
    stage, figures = story.hostile.stage, story.figures
    stage.operator.kill()
    figures.ready_seconds = started(stage)
    roll_out(stage, "4")
    assert stage.operator.process is not None
    assert stage.operator.process.poll() is None
    figures.peak_mib = max(figures.peak_mib, peak_mib(stage))
    figures.longest_stall_seconds = max(figures.longest_stall_seconds, longest_stall_s(stage))
    keep(figures)
    assert figures.peak_mib < MEMORY_MIB


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("s1-deep", "InvalidSpec"),
        ("s3-thief", "GroupIdShared"),
        ("s8-rounds", "ConnectionInvalid"),
        ("s7-flood", "AnswerTooLong"),
        ("s7-partitions", "AnswerTooLong"),
        ("s7-members", "AnswerTooLong"),
        ("s7-assignment", "AnswerTooLong"),
        ("s7-brokers", "AnswerTooLong"),
        ("s7-null", "KafkaUnreachable"),
        ("s11-slow-0", "KafkaUnreachable"),
        (CROWDED, "ForeignMembers"),
    ],
)
def test_whoever_attacks_learns_what_is_wrong_with_his_own(
    story: Story, attacked: None, name: str, reason: str
) -> None:
    def reasons() -> set[str]:
        return {str(each["reason"]) for each in story.hostile.evil.status(name).get("conditions", ())}

    wait_for(f"{name} to be {reason}", lambda: reason in reasons(), 60.0, reasons)


def keep(figures: Figures) -> None:
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps(asdict(figures), indent=2) + "\n")
