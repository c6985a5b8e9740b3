"""One namespace does all that it can to harm the others, while a group in another one is rolled out under load."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Final

import pytest

from slackwater.shell.events import HOLDS_AT_ONCE
from tests.conftest import ROOT
from tests.e2e.handover.handovers import Cost
from tests.e2e.stage.groups import CONNECTION
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.tenants.attacks import THIEF, attacks
from tests.e2e.tenants.evil_servers import BANNER_AS_LENGTH, Servers, servers
from tests.e2e.tenants.neighbours import (
    CROWDED,
    DEEP,
    GOOD,
    MEMORY_MIB,
    Hostile,
    apply_attack,
    by_command,
    crowd,
    holds_nobody_up,
    longest_stall_s,
    meanwhile,
    neighbours,
    peak_mib,
    put,
    roll_out,
    started,
    wait_met,
)

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.quiet, pytest.mark.minutes(8), pytest.mark.timeout(1200)]

FIGURES: Final = ROOT / "build" / "bench" / "hostile.json"
PAUSED: Final = "f1-freezes"
READY_TIMES: Final = 2.0
"""So many times as long as without any of it an operator may take to be ready that meets all of it."""


_STEERS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@dataclass
class Figures:
    """What it came to. `…_without`: before the first attack, on the same machine with the same rollout."""

    longest_stall_seconds: float = 0.0
    longest_stall_seconds_without: float = 0.0
    longest_stall_seconds_of_the_twin: float = 0.0
    """What a process beside it, which does nothing, stood still."""
    longest_stall_seconds_after_the_start: float = 0.0
    longest_stall_seconds_of_the_twin_after_the_start: float = 0.0
    peak_mib: float = 0.0
    peak_mib_without: float = 0.0
    ready_seconds: float = 0.0
    """From the start of an operator that meets all of it until it is ready."""
    ready_seconds_without: float = 0.0
    operator_restarts: int = 0
    neighbour_rebalances: int = 0
    neighbour_idle_partition_seconds: float = 0.0
    neighbour_idle_partition_seconds_without: float = 0.0
    neighbour_idle_partition_seconds_while_it_begins: float = 0.0
    events_of_a_flapping_broker: int = 0
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
def attacked(story: Story, peace: Cost) -> Iterator[Servers]:
    """All at once, each until the operator has met it: the neighbour's consumers notice nothing of that."""
    stage, evil = story.hostile.stage, story.hostile.evil
    stage.kafka.make_topic(evil.namespace, 1)
    with servers() as at, crowd(stage, evil):
        cost = meanwhile(stage, lambda: attack(story, at))
        story.figures.neighbour_idle_partition_seconds_while_it_begins = cost.idle_s
        yield at


def attack(story: Story, at: Servers) -> None:
    stage, evil = story.hostile.stage, story.hostile.evil
    made = dict(attacks(evil, at, stage.kafka.bootstrap_servers, GOOD, stage.group_id(GOOD)))
    put(evil, *made[CONNECTION], *made["s9-metrics"])
    wait_for("a pod before the quota is used up", lambda: evil.pods("s9-metrics"), 120.0, stage.operator.log_tail)
    apply_attack(evil, THIEF, made[THIEF])
    put(evil, *(each for name, objects in made.items() for each in objects if name != THIEF))
    apply_attack(evil, DEEP, [])
    story.figures.attacks = sorted({*made, DEEP} - {CONNECTION})
    for name in story.figures.attacks:
        wait_met(stage, evil, name)


def test_the_neighbour_is_rolled_out_as_in_peace(story: Story, attacked: Servers) -> None:
    stage, figures = story.hostile.stage, story.figures
    process = stage.operator.process
    cost = roll_out(stage, "3")
    assert process is not None
    figures.operator_restarts += process.poll() is not None
    figures.neighbour_rebalances = cost.rebalances
    figures.neighbour_idle_partition_seconds = cost.idle_s
    figures.longest_stall_seconds, figures.peak_mib = longest_stall_s(stage), peak_mib(stage)
    figures.longest_stall_seconds_of_the_twin = story.hostile.twin.longest_stall_s()
    keep(figures)
    assert figures.operator_restarts == 0
    assert holds_nobody_up(figures.longest_stall_seconds, figures.longest_stall_seconds_of_the_twin), figures
    assert figures.peak_mib < MEMORY_MIB, figures


def test_an_operator_that_starts_meets_all_of_it_and_is_ready(story: Story, attacked: Servers) -> None:
    stage, figures, twin = story.hostile.stage, story.figures, story.hostile.twin
    stage.operator.kill()
    figures.ready_seconds = started(stage, twin)
    roll_out(stage, "4")
    assert stage.operator.process is not None
    assert stage.operator.process.poll() is None
    figures.peak_mib = max(figures.peak_mib, peak_mib(stage))
    figures.longest_stall_seconds_after_the_start = longest_stall_s(stage)
    figures.longest_stall_seconds_of_the_twin_after_the_start = twin.longest_stall_s()
    keep(figures)
    assert figures.peak_mib < MEMORY_MIB, figures
    assert figures.ready_seconds <= READY_TIMES * figures.ready_seconds_without, figures
    stalls = (
        figures.longest_stall_seconds_after_the_start,
        figures.longest_stall_seconds_of_the_twin_after_the_start,
    )
    assert holds_nobody_up(*stalls), figures


def test_a_broker_that_flaps_makes_few_events(story: Story, attacked: Servers) -> None:
    """From one group it made seven a second, and 24 writes."""
    stage, evil = story.hostile.stage, story.hostile.evil
    stage.wait_passes(100)
    story.figures.events_of_a_flapping_broker = len(evil.events("s12-flap"))
    keep(story.figures)
    assert story.figures.events_of_a_flapping_broker <= 2 * HOLDS_AT_ONCE, "of two lives of the operator"


def test_who_is_no_broker_is_not_quoted(story: Story, attacked: Servers) -> None:
    """The operator would be a scanner of ports, which reads four bytes of whatever listens there."""
    evil = story.hostile.evil

    def messages() -> str:
        said = [*evil.status("s13-scan").get("conditions", ())]
        said += ((evil.get("kafkaconnection", "s13-scan") or {}).get("status") or {}).get("conditions", ())
        told = [str(each["message"]) for each in evil.events("s13-scan")]
        return "\n".join([*(str(each["message"]) for each in said), *told])

    wait_for("it to be said what is wrong", lambda: "does not speak Kafka's protocol" in messages(), 60.0, messages)
    assert str(BANNER_AS_LENGTH) not in messages()
    assert "SSH" not in messages()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["list"], PAUSED),
        *((["status", name], name) for name in (CROWDED, PAUSED)),
        (["why", CROWDED], CROWDED),
        (["why", PAUSED], PAUSED),
        (["members", CROWDED], "runs in no pod of this group"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_no_name_steers_the_terminal_of_who_looks(story: Story, attacked: Servers, line: list[str], says: str) -> None:
    """Members have names that do, and so has a pause's reason."""
    stage, evil = story.hostile.stage, story.hostile.evil
    evil.annotate(PAUSED, "pause", "\x1b]52;c;ZXZpbA==\x07[link=https://evil.example]calm[/link]\u202e")
    done = by_command(stage, *line, namespace=evil.namespace)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
    assert _STEERS.findall(done.stdout + done.stderr) == []


def test_the_command_sends_no_secret_to_whom_the_operator_has_not_logged_in(story: Story, attacked: Servers) -> None:
    """By an administrator's rights, where nothing keeps tenants from naming Secrets. The operator stands still, so that
    only the command may log in; and where it is asked to, it does."""
    stage, evil, log_ins = story.hostile.stage, story.hostile.evil, attacked.weak.logged_in_with
    with stage.operator.stopped():
        by_command(stage, "list", namespace=evil.namespace)  # meanwhile what the operator had sent has come
        before = len(log_ins)
        done = by_command(stage, "status", "s15-weak", namespace=evil.namespace)
        assert done.returncode == 0, done.stderr
        assert len(log_ins) == before
        by_command(stage, "status", "s15-weak", "--ask-kafka", namespace=evil.namespace)
        assert len(log_ins) > before


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("s1-deep", "InvalidSpec"),
        ("s3-claimant-0", "GroupIdShared"),
        ("s8-rounds", "ConnectionInvalid"),
        ("s7-flood", "AnswerTooLong"),
        ("s7-partitions", "AnswerTooLong"),
        ("s7-members", "AnswerTooLong"),
        ("s7-assignment", "AnswerTooLong"),
        ("s7-brokers", "AnswerTooLong"),
        ("s7-null", "KafkaUnreachable"),
        ("s11-slow-0", "KafkaUnreachable"),
        ("s13-scan", "KafkaUnreachable"),
        (CROWDED, "ForeignMembers"),
    ],
)
def test_whoever_attacks_learns_what_is_wrong_with_his_own(
    story: Story, attacked: Servers, name: str, reason: str
) -> None:
    def reasons() -> set[str]:
        return {str(each["reason"]) for each in story.hostile.evil.status(name).get("conditions", ())}

    wait_for(f"{name} to be {reason}", lambda: reason in reasons(), 60.0, reasons)


def keep(figures: Figures) -> None:
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps(asdict(figures), indent=2) + "\n")
