"""What the commands say of a group that is being deleted: what its deletion waits for, and no plan of what goes on."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from slackwater.adapters.cluster.snapshot import Snapshot
from slackwater.cli.looking.looks import look_at
from slackwater.cli.pictures.documents import plan_document, status_document
from slackwater.cli.pictures.paragraph import explain_document, paragraph_and_pointer
from slackwater.cli.pictures.view import render_view
from slackwater.cli.planning.outlook import outlook_on
from slackwater.cli.words.deletion import decide
from slackwater.cli.words.explanation import explain
from slackwater.core.plan import plan
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.reasons import Reason
from slackwater.core.world.world import World
from tests.cli import builders
from tests.core.factories import changed

AWAY = Unobserved(Reason.KAFKA_UNREACHABLE, "broker:9092 does not answer", builders.NOW)
WAITS = "the group's members cannot be taken out: broker:9092 does not answer"
NOT_SAID = "its pods end first, then its members are taken out of the group in Kafka"


def ending(phase: str, **changes: Any) -> World:
    """Deleted in the middle of a rollout. `phase`: in the status. Its pods have ended, and Kafka is away."""
    world = builders.rolling(**({"kafka": AWAY, "workload": None, "pods": ()} | changes))
    degraded = {"type": "Degraded", "status": "True", "reason": "KafkaUnreachable", "message": WAITS}
    gated = {"type": "RolloutGated", "status": "True", "reason": "GroupRebalancing", "message": "of the rollout"}
    metadata = world.group.metadata.model_copy(update={"deletion_timestamp": "2026-01-01T00:00:00Z", "generation": 9})
    status = {"phase": phase, "observedGeneration": 8, "conditions": [gated, degraded]}
    group = world.group.model_copy(update={"metadata": metadata, "status": status})
    return changed(world, group=group)


@pytest.mark.parametrize(
    ("phase", "reason", "words"),
    [("Deleting", "KafkaUnreachable", WAITS), ("Progressing", "Draining", NOT_SAID)],
    ids=["the operator says what it waits for", "what degraded it before is not what its deletion waits for"],
)
def test_it_is_explained_by_what_its_deletion_waits_for(phase: str, reason: str, words: str) -> None:
    world = ending(phase)
    said = paragraph_and_pointer(world, decide(world))
    why = "" if words is WAITS else " (broker:9092 does not answer)"  # once is enough
    assert said == (
        f"payments is being deleted. It waits, {reason}: {words}. From here the group cannot be seen"
        f"{why}, so this is what the operator says.\n"
        f"slackwater reason {reason} says what to do"
    )
    document = explain_document(world, decide(world))
    assert (document["holds"], document["reason"]) == (True, reason)


def test_no_command_plans_what_goes_on_without_it() -> None:
    world = ending("Deleting")
    outlook = outlook_on(world)
    assert (outlook.plan.act, outlook.explanation.words) == (None, WAITS)
    document = plan_document(world, decide(world), explain(world, decide(world)))
    assert (document["outcome"], document["act"], document["gates"]) == ("hold", None, [])
    assert status_document(world, decide(world))["next"]["words"] == WAITS


def test_its_gates_are_not_asked_while_its_pods_end() -> None:
    rolling = builders.rolling()
    world = ending("Progressing", kafka=rolling.kafka, workload=rolling.workload, pods=rolling.pods)
    explained = explain(world, decide(world))
    assert (explained.gates, explained.follow, explained.words) == ((), (), NOT_SAID)


def test_the_view_shows_what_it_waits_for() -> None:
    world = ending("Deleting")
    console = Console(width=120, color_system=None)
    with console.capture() as capture:
        console.print(render_view(world, decide(world)))
    lines = [" ".join(line.split()) for line in capture.get().splitlines()]
    assert "Rollout being deleted" in lines
    assert f"Waits KafkaUnreachable: {WAITS}" in lines
    assert "of the rollout" not in "".join(lines[:8])
    assert not [line for line in lines if line.startswith("Operator")]


def test_a_group_that_is_to_stay_is_planned() -> None:
    world = builders.rolling()
    assert decide(world) == plan(world)


def test_what_is_looked_at_is_not_planned_where_it_is_being_deleted() -> None:
    world = ending("Deleting")

    class Sees:
        def world(self, snapshot: Snapshot) -> World:
            return world

    lookout: Any = Sees()
    assert look_at(Snapshot({}), lookout).plan == decide(world)
    assert decide(world).act is None
