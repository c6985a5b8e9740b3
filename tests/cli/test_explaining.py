"""`slackwater why`, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE
from slackwater.cli.pictures.paragraph import paragraph
from slackwater.cli.pictures.pod_rows import pod_rows
from slackwater.cli.words.acts import in_words, ordinals_of
from slackwater.cli.words.explanation import explain
from slackwater.cli.words.standing import standing_of
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.plan import plan
from slackwater.core.status.compose import compose_status
from slackwater.core.world.claimed import Outranked
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase
from slackwater.core.world.pods import NotMade
from slackwater.core.world.profile import Profile
from slackwater.core.world.step import Step
from slackwater.core.world.workload import UpdateStrategy
from slackwater.core.world.world import World
from tests.cli import builders
from tests.cli.test_view import WORLDS
from tests.core.factories import changed

QUOTA = "is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"


def said_of(world: World) -> str:
    return paragraph(world, plan(world))


def _short_of_a_pod() -> World:
    """The operator has asked for the StatefulSet's Events; from here nobody does."""
    made = builders.rolling()
    short = changed(made, pods=made.pods[1:])
    told = builders.with_status(replace(short, not_made={"payments-0": NotMade(QUOTA, builders.NOW)}))
    return replace(told, not_made={})


def _short_at_rest() -> World:
    made = builders.world()
    short = changed(made, pods=made.pods[:2])
    told = builders.with_status(replace(short, not_made={"payments-2": NotMade(QUOTA, builders.NOW)}))
    return replace(told, not_made={})


def _not_mounted() -> World:
    made = builders.rolling()
    pods = (*made.pods[:2], replace(made.pods[2], ready=False, started_at=None))
    why = replace(pods[2], waiting="FailedMount", waiting_message='secret "certificates" not found')
    told = builders.with_status(changed(made, pods=(*pods[:2], why)))
    return changed(told, pods=pods)


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (_short_of_a_pod(), f"It waits, PodMissing: pod payments-0 does not exist: {QUOTA}."),
        (_short_at_rest(), f"has this version. Not Ready: payments-2 ({QUOTA})."),
        (_not_mounted(), '(FailedMount: secret "certificates" not found).'),
    ],
    ids=["missing", "missing at rest", "not started"],
)
def test_what_only_events_say_is_taken_from_the_operators_word(world: World, words: str) -> None:
    """`status` says it alike."""
    assert words in said_of(world)
    assert standing_of(world, explain(world, plan(world))).words in said_of(world)


def test_what_the_operator_said_before_the_last_change_is_no_reason_for_it() -> None:
    world = _short_of_a_pod()
    later = world.group.model_copy(update={"metadata": world.group.metadata.model_copy(update={"generation": 99})})
    assert QUOTA not in said_of(replace(world, group=later))


def _at_a_canary(steps: list[dict[str, Any]], canary: Canary, paused: str = "") -> World:
    """payments-2 has the new version."""
    of = builders.group({PAUSE: paused} if paused else {}, rollout={"canary": steps})
    made = builders.rolling()
    return replace(made, group=of, memory=replace(made.memory, canary=canary))


def test_a_canary_stops_where_it_does_not_stand_already() -> None:
    held = Canary(0, builders.NOW - 60, replicas=1)
    words = said_of(_at_a_canary([{"replicas": 1}], held))
    assert "It waits, CanaryHold: canary of 1 pod held until it is promoted" in words
    assert words.endswith("each after its gates: payments-1, payments-0.")
    assert said_of(_at_a_canary([{"replicas": 1}, {"replicas": 2}], held)).endswith(
        "; it stops at 2 pods until promoted."
    )
    assert "stop" not in said_of(_at_a_canary([{"replicas": 1}], replace(held, passed=True)))


def test_a_canary_that_something_else_holds_as_well_is_still_to_be_promoted() -> None:
    words = said_of(_at_a_canary([{"replicas": 1}], Canary(0, builders.NOW - 60, replicas=1), paused="holiday"))
    assert "It waits, Paused: " in words
    assert words.endswith("; it stops at 1 pod until promoted.")


def test_a_canary_that_was_scaled_away_stops_there_again() -> None:
    lost = Canary(0, builders.NOW - 60, replicas=1, lost=True)
    assert "it stops at 1 pod until promoted" in said_of(_at_a_canary([{"replicas": 1}], lost, paused="holiday"))


def test_a_paused_group_is_said_to_be_paused_as_its_phase_is() -> None:
    of = builders.group({PAUSE: "holiday"})
    rolling, at_rest = (
        builders.with_status(replace(each, group=of)) for each in (builders.rolling(), builders.world())
    )
    assert rolling.group.status["phase"] == at_rest.group.status["phase"] == "Paused"
    words = "payments is Paused, its rollout Progressing, for 2 min: 1 of 3 pods have the new version (consumer:1)"
    assert said_of(rolling).startswith(words)
    assert said_of(at_rest).startswith("payments is Paused, its rollout Complete, consumer:1")


def test_a_group_that_has_never_begun_is_named_with_its_phase() -> None:
    world = WORLDS["to-adopt"]
    start = "payments is NotReady, nothing was rolled out yet. It waits, ForeignStatefulSet: "
    assert said_of(world).startswith(start)


def test_pods_that_are_to_be_scaled_away_are_not_passed_over() -> None:
    made = builders.world()
    scaled = changed(made, pods=(*made.pods, builders.pod(3), builders.pod(4, terminating=True)))
    words = "3 pods as wanted, all of them of this version; payments-3, payments-4 have yet to end."
    assert said_of(builders.with_status(scaled)).startswith(f"payments: nothing more to do: {words}")


def _on_the_way_back() -> World:
    """payments-2 has the version that failed, whose template stands yet: the last good revision was deleted."""
    made = builders.rolling()
    failed = made.memory.target_hash
    memory = replace(made.memory, phase=RolloutPhase.ROLLING_BACK, failed_hash=failed, message="pod payments-2 crashed")
    good = "0123456789abcdef"
    pods = tuple(replace(pod, template_hash=failed if pod.ordinal == 2 else good) for pod in made.all_pods)
    return builders.with_status(replace(made, all_pods=pods, memory=replace(memory, last_good_hash=good)))


def test_on_the_way_back_the_pods_of_the_last_good_version_are_those_that_have_it() -> None:
    world = _on_the_way_back()
    hold = plan(world).hold
    assert hold is not None
    assert hold.reason is Reason.LAST_GOOD_UNKNOWN
    words = said_of(world)
    assert "2 of 3 pods went back to the last good version" in words
    assert "1 pod is restarted after its gates: payments-2" in words
    assert world.group.status["updatedReplicas"] == 2
    rows = pod_rows(world, plan(world), explain(world, plan(world)))
    assert [row.version for row in rows] == ["new", "new", "old"]


def test_who_has_the_group_in_kafka_only_the_operator_knows() -> None:
    """From here no other ConsumerGroup is looked at: none of them seems to be there."""
    made = builders.world(workload=None, pods=())
    outranked = replace(made, memory=RolloutMemory(outranked=Outranked()))
    why = "orders in namespace shop has the groupId and came first"
    told = replace(Decision(outranked.memory), hold=Hold(Reason.GROUP_ID_SHARED, why))
    status = compose_status(outranked, told, {})
    world = replace(outranked, group=outranked.group.model_copy(update={"status": status}))
    assert f"It waits, GroupIdShared: {why}." in said_of(world)


def test_a_group_at_rest_of_which_nobody_reads_a_part_is_not_said_to_be_well_and_no_more() -> None:
    """As where a version does not subscribe to a topic of the spec."""
    seen = builders.observation()
    fewer = tuple(
        replace(m, assignment=frozenset(p for p in m.assignment if p.topic != "refunds")) for m in seen.members
    )
    kafka = replace(seen, members=fewer)
    world = builders.with_status(builders.world(kafka=kafka, history=builders.history(kafka)))
    assert said_of(world).endswith(" Partitions without an owner: refunds-0, refunds-1, refunds-2.")


def test_no_pod_has_a_version_that_no_operator_has_taken_up() -> None:
    told = builders.with_status(builders.made_with(Profile.OWN_CHOICE, builders.group()))
    newer = builders.group(generation=4, timeouts={"session": "30s"})
    asked = replace(told, group=newer.model_copy(update={"status": told.group.status}))
    words = said_of(asked)
    assert "The operator has not taken up generation 4" in words
    assert "0 of 3 pods have the new version (consumer:1)" in words


def test_several_pods_go_at_a_time_after_the_first() -> None:
    made = builders.rolling()
    few = replace(made, group=builders.group({PAUSE: "holiday"}, rollout={"maxUnavailable": 2}))
    begun = few.remembering(replace(few.memory, step=Step(2, builders.NOW - 100, made=True)))
    assert "2 pods are restarted, up to 2 at a time, each after its gates" in said_of(begun)
    unproven = few.remembering(replace(few.memory, step=None))
    assert "2 pods are restarted, the first one alone, then up to 2 at a time, each" in said_of(unproven)


def test_an_act_names_all_pods_that_it_lets_go() -> None:
    made = builders.rolling()
    act = WriteWorkload(Purpose.RESTART, {}, 3, UpdateStrategy.ROLLING_UPDATE, 0, "1", 1, "payments", also=(0,))
    assert in_words(made, act) == "restart pods payments-1, payments-0 together, so that they take up the new version"
    assert ordinals_of(made, act) == {0, 1}
