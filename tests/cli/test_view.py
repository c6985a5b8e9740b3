"""The view of a group, held by pictures."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.console import Console

from slackwater.cli.pictures.view import render_view
from slackwater.cli.pictures.view_tables import MOST_PODS
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.plan import plan
from slackwater.core.status.compose import compose_status
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, Member, TopicPartition, Unobserved
from slackwater.core.world.world import World
from tests.cli import builders, upgrades
from tests.cli.pictures import held
from tests.core.factories import changed


def _crashing() -> World:
    world = builders.rolling()
    stranger = Member("console-1", None, "console", "/10.9.9.9", frozenset({TopicPartition("orders", 0)}))
    assert isinstance(world.kafka, GroupObservation)
    kafka = replace(world.kafka, members=(*world.kafka.members, stranger))
    why = "back-off 10s restarting failed container=consumer"
    down = replace(world.pods[2], ready=False, waiting="CrashLoopBackOff", waiting_message=why, restarts=2)
    return builders.with_status(changed(world, kafka=kafka, pods=(*world.pods[:2], down)))


def _kafka_away() -> World:
    """The operator sees Kafka, and holds; this machine does not see it."""
    told = builders.with_status(replace(builders.rolling(), history=builders.history(builders.observation(), 3)))
    return replace(
        told, kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "Kafka did not answer within 5 s", builders.NOW - 2)
    )


def _many_pods() -> World:
    world = builders.world(builders.group(replicas=40))
    return builders.with_status(changed(world, pods=tuple(p for p in world.pods if p.ordinal != 17)))


def _failed() -> World:
    rolling = builders.rolling()
    why = "pod payments-2 is Ready but has not joined the group after 5 min (rejoinTimeout)"
    target = rolling.memory.target_hash
    failed = replace(rolling.memory, phase=RolloutPhase.FAILED, failed_hash=target, message=why)
    return builders.with_status(rolling.remembering(failed))


def _refused_by_the_api_server() -> World:
    """The operator has tried to write what is next."""
    rolling = builders.rolling()
    why = "the API server refused it: spec.template.spec.containers[0].image: Required value."
    refusal = Decision(rolling.memory, hold=Hold(Reason.CLUSTER_REFUSED, why))
    status = compose_status(rolling, refusal, {})
    return replace(rolling, group=rolling.group.model_copy(update={"status": status}))


def _to_adopt() -> World:
    """A StatefulSet of the group's name runs, whose pods do not carry the group's label."""
    world = builders.world()
    assert world.workload is not None
    theirs = replace(world.workload, owner_uid="")
    return builders.with_status(changed(world, workload=theirs, pods=(), memory=RolloutMemory()))


def _nobody_has_joined() -> World:
    world = builders.rolling()
    dead = builders.observation(state=GroupState.DEAD, members=())
    return builders.with_status(replace(world, kafka=dead, history=builders.history(dead, 3)))


def _topic_missing() -> World:
    blind = Unobserved(Reason.TOPIC_MISSING, "topic refunds does not exist", builders.NOW - 30)
    return builders.with_status(builders.world(kafka=builders.observation(blind_to=blind)))


WORLDS = {
    "at-rest": builders.with_status(builders.world()),
    "rolling": builders.with_status(builders.rolling()),
    "handing-over": builders.with_status(builders.handing_over()),
    "crashing": _crashing(),
    "kafka-away": _kafka_away(),
    "no-operator": builders.world(workload=None, pods=()),
    "many-pods": _many_pods(),
    "two-bounce": builders.with_status(upgrades.two_bounce()),
    "drain-cutover": builders.with_status(upgrades.drain_cutover()),
    "upgrade-refused": builders.with_status(upgrades.refused()),
    "failed": _failed(),
    "refused": _refused_by_the_api_server(),
    "to-adopt": _to_adopt(),
    "nobody-has-joined": _nobody_has_joined(),
    "topic-missing": _topic_missing(),
    "member-released": builders.with_status(upgrades.released()),
}


def _picture(world: World, width: int, **console: object) -> str:
    made = Console(width=width, color_system=None, legacy_windows=False, **console)  # type: ignore[arg-type]
    with made.capture() as capture:
        made.print(render_view(world, plan(world)))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", WORLDS)
def test_the_picture_is_the_one_that_was_approved(name: str, width: int) -> None:
    held(f"{name}-{width}.txt", _picture(WORLDS[name], width))


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("name", WORLDS)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    assert max(len(line) for line in _picture(WORLDS[name], width).splitlines()) <= width


def test_colour_adds_nothing_that_is_not_said() -> None:
    """The same characters with colour as without."""
    world = WORLDS["crashing"]
    coloured = Console(width=80, force_terminal=True, color_system="truecolor")
    with coloured.capture() as capture:
        coloured.print(render_view(world, plan(world)))
    bare = re.sub(r"\x1b\[[0-9;]*m", "", capture.get())
    assert [line.rstrip() for line in bare.splitlines()] == _raw_lines(world)


def _raw_lines(world: World) -> list[str]:
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(render_view(world, plan(world)))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_of_many_pods_only_those_are_shown_that_something_is_to_be_said_of() -> None:
    picture = _picture(WORLDS["many-pods"], 120)
    assert "payments-17" in picture
    assert "and 39 more" in picture
    assert picture.count("payments-") < MOST_PODS


def test_what_is_not_of_now_says_so() -> None:
    world = WORLDS["at-rest"]
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(render_view(world, plan(world), trouble="not of now: the API server is away"))
    assert "not of now: the API server is away" in capture.get()
