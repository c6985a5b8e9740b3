"""`list`, `members`, `lag` and `why`, held by pictures as the view is; and their documents."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console, RenderableType

from slackwater.cli.pictures.groups import groups_document, groups_table
from slackwater.cli.pictures.members import lag_document, lag_table, members_document, members_table
from slackwater.cli.pictures.paragraph import explain_document, paragraph, paragraph_and_pointer
from slackwater.cli.words.standing import rollout_in_words
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.plan import plan
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation, PartitionOffsets, TopicPartition, Unobserved
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.cli import builders
from tests.cli.pictures import held
from tests.cli.test_view import WORLDS
from tests.core.factories import changed

PLAIN: dict[str, Any] = {"apiVersion": "slackwater.dev/v1alpha1", "kind": "ConsumerGroup"}


def as_object(world: World, name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": world.group.namespace}
    return {
        **PLAIN,
        "metadata": metadata,
        "spec": {"replicas": world.group.spec.replicas},
        "status": world.group.status,
    }


FLEET = [as_object(world, name) for name, world in WORLDS.items()]


def drawn(picture: RenderableType) -> str:
    console = Console(
        width=100 if isinstance(picture, str) else 200, color_system=None, legacy_windows=False, highlight=False
    )
    with console.capture() as capture:
        console.print(picture, markup=False) if isinstance(picture, str) else console.print(picture)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def seen(world: World) -> GroupObservation:
    assert isinstance(world.kafka, GroupObservation)
    return world.kafka


PICTURES: dict[str, Callable[[], RenderableType]] = {
    "list": lambda: groups_table(FLEET, with_namespace=False),
    "list-of-all": lambda: groups_table(FLEET, with_namespace=True),
    "members-crashing": lambda: members_table(WORLDS["crashing"], seen(WORLDS["crashing"])),
    "lag-at-rest": lambda: lag_table(WORLDS["at-rest"], WORLDS["at-rest"].kafka),
    "lag-kafka-away": lambda: lag_table(WORLDS["kafka-away"], WORLDS["kafka-away"].kafka),
    **{
        f"explain-{name}": lambda world=world: paragraph_and_pointer(world, plan(world))  # type: ignore[misc]
        for name, world in WORLDS.items()
    },
}


@pytest.mark.parametrize("picture", PICTURES)
def test_it_looks_as_it_is_held(picture: str) -> None:
    held(f"{picture}.txt", drawn(PICTURES[picture]()))


@pytest.mark.parametrize("name", WORLDS)
def test_the_list_gives_the_reason_that_why_gives(name: str) -> None:
    """Where `why` says that it waits, and the operator has taken the group up."""
    said = " ".join(paragraph(WORLDS[name], plan(WORLDS[name])).split())
    waits = re.search(r"It waits, (\w+):", said)
    (row,) = (row for row in groups_document(FLEET) if row["name"] == name)
    if waits and row["phase"]:
        assert row["reason"] == waits[1]


def test_the_documents_say_what_the_tables_say() -> None:
    crashing, world = WORLDS["crashing"], WORLDS["at-rest"]
    members = members_document(crashing, seen(crashing))["members"]
    assert [each["pod"] for each in members] == [None, "payments-0", "payments-1", "payments-2"]
    of_one = [row["lag"] for row in lag_document(world, world.kafka)["partitions"] if row["pod"] == "payments-0"]
    assert members_document(world, seen(world))["members"][0]["lag"] == sum(of_one) == 40
    (listed,) = (row for row in groups_document(FLEET) if row["name"] == "crashing")
    assert (listed["reason"], listed["degraded"]) == ("PodNotReady", "ForeignMembers")


def test_an_offset_that_is_not_known_is_not_made_up() -> None:
    kafka = builders.observation()
    nowhere = TopicPartition("orders", 0)
    kafka = replace(kafka, offsets={**kafka.offsets, nowhere: PartitionOffsets(None, None)})
    document = lag_document(builders.world(kafka=kafka), kafka)
    row = next(row for row in document["partitions"] if (row["topic"], row["partition"]) == ("orders", 0))
    assert (row["committed"], row["end"], row["lag"], document["lag"]) == (None, None, None, None)
    assert members_document(builders.world(kafka=kafka), kafka)["members"][0]["lag"] is None


def test_a_group_that_cannot_be_seen_is_said_to_be_so() -> None:
    world = WORLDS["kafka-away"]
    assert isinstance(world.kafka, Unobserved)
    assert lag_document(world, world.kafka)["observed"] is False


@pytest.mark.parametrize(("name", "holds"), [("at-rest", False), ("crashing", True), ("kafka-away", True)])
def test_the_explanation_says_whether_anything_holds_the_group(name: str, holds: bool) -> None:
    document = explain_document(WORLDS[name], plan(WORLDS[name]))
    assert (document["holds"], bool(document["reason"])) == (holds, holds)
    assert document["words"] == paragraph(WORLDS[name], plan(WORLDS[name]))


def test_what_is_said_of_a_failure_is_said_once() -> None:
    world = WORLDS["failed"]
    words = paragraph(world, plan(world))
    assert words.startswith("payments is Failed. It waits, RolloutFailed: ")
    assert words.count(world.memory.message) == 1


@pytest.mark.parametrize("name", WORLDS)
def test_no_sentence_is_said_twice(name: str) -> None:
    world = WORLDS[name]
    away = replace(world, kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", builders.NOW - 2))
    nobodys = replace(away, group=away.group.model_copy(update={"status": {}}))
    for given in (world, away, builders.with_status(away), nobodys):
        words = paragraph(given, plan(given))
        assert ".." not in words
        for said in ("no broker answers", world.memory.message):
            assert not said or words.count(said) <= 1, words


def test_a_failure_is_not_shown_of_a_rollout_that_is_complete() -> None:
    """As an earlier operator left it in the status."""
    world = WORLDS["at-rest"]
    world = world.remembering(replace(world.memory, message="pod payments-2 crashed"))
    assert rollout_in_words(world, plan(world)) == "Complete, consumer:1"


def test_of_one_pod_it_is_told_as_of_one() -> None:
    world = builders.world(builders.group(replicas=1))
    world = world.remembering(replace(world.memory, phase=RolloutPhase.PROGRESSING))
    told = rollout_in_words(world, Decision(world.memory))
    assert told.endswith("1 of 1 pod has the new version (consumer:1)")


def test_of_a_group_that_nobody_has_looked_at_nothing_is_made_up() -> None:
    unseen = Unobserved(Reason.CONNECTION_MISSING, "there is no KafkaConnection main: apply one", builders.NOW)
    world = builders.world(workload=None, pods=(), kafka=unseen, bootstrap_servers=None, memory=RolloutMemory())
    said = paragraph(world, plan(world))
    assert "None" not in said
    assert "the operator says" not in said
    assert "It waits, ConnectionMissing: " in said


def told_not_ready(generation: int = 3) -> World:
    """Looked at for 3 s, when the operator has said that a pod is not Ready, which cannot be seen any more."""
    rolling = builders.rolling()
    held = builders.with_status(changed(rolling, pods=tuple(replace(pod, ready=False) for pod in rolling.pods)))
    metadata = held.group.metadata.model_copy(update={"generation": generation})
    return builders.rolling(watched_s=3, group=held.group.model_copy(update={"metadata": metadata}))


def test_after_a_short_look_the_operators_word_counts() -> None:
    world = told_not_ready()
    assert "It waits, PodNotReady: " in paragraph(world, plan(world))


def test_unless_it_is_of_an_earlier_generation() -> None:
    world = told_not_ready(generation=4)
    assert "It waits, GroupStabilizing: calm, but watched for only 3 s" in paragraph(world, plan(world))


def _shown_of(world: World) -> tuple[list[str], list[str | None]]:
    """What the table has for the pods of its members, and the document of whether they have joined."""
    table = members_table(world, seen(world))
    document = members_document(world, seen(world))["members"]
    return [str(cell) for cell in table.columns[1].cells], [each["joined"] for each in document]


def _restarted(**changes: Any) -> World:
    """payments-2 was, 4 s ago; the group is looked at once."""
    world = builders.world(watched_s=0)
    started = replace(world.pods[2], created_at=builders.NOW - 5, started_at=builders.NOW - 4)
    return changed(world, pods=(*world.pods[:2], replace(started, **changes)))


def test_a_member_of_a_pod_that_was_restarted_may_be_that_of_the_process_before() -> None:
    """It keeps its partitions, and its first holder's address, until its session ends (F10, F41)."""
    pods, joined = _shown_of(_restarted())
    assert pods == ["payments-0", "payments-1", "payments-2, or another process of its id"]
    assert joined == ["yes", "yes", "unknown"]


def test_a_member_that_was_there_before_the_restart_is_not_the_pods() -> None:
    world = _restarted()
    before = Step(2, builders.NOW - 6, {"payments-2": "payments-2-4f1c"})
    pods, joined = _shown_of(replace(world, memory=replace(world.memory, step=before)))
    assert (pods[2], joined[2]) == ("payments-2, which has yet to join", "no")
    another = replace(before, members_before={"payments-2": "payments-2-0000"})
    assert _shown_of(replace(world, memory=replace(world.memory, step=another)))[0][2] == "payments-2"


def test_a_member_whose_pod_is_missing_is_no_strangers() -> None:
    world = builders.world()
    assert _shown_of(changed(world, pods=world.pods[:2])) == (
        ["payments-0", "payments-1", "payments-2, which is missing"],
        ["yes", "yes", None],
    )
