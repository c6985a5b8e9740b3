"""When recommended timeouts come into force, and that no pod restarts for them alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import APPROVE
from slackwater.core.decision.acts import AlterGroupSettings, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.plan import plan
from slackwater.core.status.compose import compose_status
from slackwater.core.status.recommendation import say
from slackwater.core.timeouts.adoption import at_rest as go_on
from slackwater.core.world.advice import Range, Subject
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade, read_memory, write_memory
from slackwater.core.world.observation import GroupType
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.recording import read_world, write_world
from slackwater.core.world.settings import Setting
from slackwater.core.world.tuning import Tuning
from slackwater.core.world.world import World
from tests.core.factories import NOW, group, observation
from tests.core.timeouts.advised import advice, at_rest, session

KIP848 = session(55, 54, 56) | {Subject.HEARTBEAT: Range(5_000, 9_000, 15_000)}
FITS = {Setting.SESSION: 20_000, Setting.HEARTBEAT: 6_666}


def environment(decided: Decision) -> dict[str, str]:
    assert isinstance(decided.act, WriteWorkload)
    (container,) = [c for c in decided.act.template["spec"]["containers"] if c["name"] == "consumer"]
    return {variable["name"]: variable.get("value", "") for variable in container["env"]}


def edited(world: World, **spec: Any) -> World:
    """The same group after somebody changed its template, and, if given, more of its spec."""
    changed: dict[str, Any] = {
        "timeouts": {"mode": "Auto"},
        "template": {
            "metadata": {"labels": {"app": "payments"}},
            "spec": {"containers": [{"name": "consumer", "image": "consumer:2"}]},
        },
    }
    return replace(world, group=group(generation=2, **(changed | spec)))


def test_a_kip848_group_gets_them_at_once_and_no_pod_restarts() -> None:
    world = at_rest(profile=Profile.CONSUMER, advice=advice(KIP848))
    decided = plan(world)
    assert decided.act == AlterGroupSettings(
        {"consumer.session.timeout.ms": "55000", "consumer.heartbeat.interval.ms": "9000"}
    )
    assert not decided.act.disruptive
    assert decided.memory.phase is RolloutPhase.COMPLETE
    assert Reason.RECOMMENDATION_APPLIED in [note.reason for note in decided.notes]


def test_what_was_set_in_kafka_stays_when_the_recommendation_is_gone() -> None:
    world = at_rest(profile=Profile.CONSUMER, advice=advice(KIP848))
    memory = plan(world).memory
    settings = {"consumer.session.timeout.ms": "55000", "consumer.heartbeat.interval.ms": "9000"}
    kafka = observation(type=GroupType.CONSUMER, settings=settings)
    assert plan(replace(world, memory=memory, kafka=kafka, advice=None)).act is None


def test_classic_members_get_them_with_the_next_rollout() -> None:
    world = at_rest()
    decided = plan(world)
    assert decided.act is None
    assert decided.memory.tuning.queued == FITS
    assert decided.memory.tuning.values == {}

    rolled = plan(edited(replace(world, memory=decided.memory)))
    assert rolled.memory.phase is RolloutPhase.PROGRESSING
    assert environment(rolled)["KAFKA_SESSION_TIMEOUT_MS"] == "20000"
    assert environment(rolled)["KAFKA_HEARTBEAT_INTERVAL_MS"] == "6666"
    assert rolled.memory.session_timeout_ms == 45_000  # pods of before still have it
    assert rolled.memory.tuning.queued == {}


def test_a_restart_of_the_operator_between_the_two_loses_nothing() -> None:
    decided = plan(at_rest())
    again = read_memory({"rollout": write_memory(decided.memory)})
    assert again.tuning == decided.memory.tuning
    rolled = plan(edited(at_rest(memory=again, advice=None)))
    assert environment(rolled)["KAFKA_SESSION_TIMEOUT_MS"] == "20000"


def test_a_spec_that_says_it_itself_by_then_wins() -> None:
    world = at_rest()
    queued = replace(world, memory=plan(world).memory)
    rolled = plan(edited(queued, timeouts={"mode": "Auto", "session": "30s", "heartbeat": "4s"}))
    assert environment(rolled)["KAFKA_SESSION_TIMEOUT_MS"] == "30000"
    assert rolled.memory.tuning.values == {}


def test_a_mode_that_is_not_auto_any_more_takes_nothing_along() -> None:
    world = at_rest()
    queued = replace(world, memory=plan(world).memory)
    rolled = plan(edited(queued, timeouts={"mode": "Recommend"}))
    assert environment(rolled)["KAFKA_SESSION_TIMEOUT_MS"] == "45000"


def test_what_waits_for_approval_names_the_command() -> None:
    approving = "slackwater approve payments (annotation slackwater.dev/approve)"
    assert say(at_rest("Recommend"))[1].endswith(f": {approving} applies it")


def test_recommend_applies_nothing_until_somebody_approves() -> None:
    world = at_rest("Recommend")
    quiet = plan(world)
    assert (quiet.act, quiet.memory.tuning) == (None, Tuning())

    approved = plan(at_rest("Recommend", annotations={APPROVE: "1"}))
    assert environment(approved)["KAFKA_SESSION_TIMEOUT_MS"] == "20000"
    assert approved.memory.tuning.values == FITS
    assert approved.memory.phase is RolloutPhase.PROGRESSING


def test_approve_says_why_it_changes_nothing() -> None:
    for mode, changes, why in (
        ("Off", {}, "timeouts.mode is Off"),
        ("Auto", {"advice": None}, "there is no recommendation"),
        ("Auto", {"advice": advice(as_of=NOW - 1e7)}, "run the pipeline again"),
    ):
        decided = plan(at_rest(mode, annotations={APPROVE: "1"}, **changes))
        (note,) = decided.notes
        assert decided.act is None
        assert note.reason is Reason.RECOMMENDATION_NOT_APPLIED
        assert why in note.message


def test_off_changes_and_shows_nothing() -> None:
    world = at_rest("Off")
    decided = plan(world)
    assert (decided.act, decided.memory.tuning) == (None, Tuning())
    assert "recommendation" not in compose_status(world, decided, {})


TOOK = Tuning(values=FITS, as_of=NOW - 3600, good={Setting.SESSION: 40_000})
"""A rollout took these along; the last good version has a session of its own."""


@pytest.mark.parametrize("phase", [RolloutPhase.FAILED, RolloutPhase.ROLLING_BACK, RolloutPhase.ROLLED_BACK])
def test_a_failed_version_gives_the_timeouts_back_that_it_came_with(phase: RolloutPhase) -> None:
    world = at_rest()
    failed = replace(world.memory, phase=phase, failed_hash="x", target_hash="x", tuning=TOOK)
    rolled = plan(edited(replace(world, memory=failed)))
    assert environment(rolled)["KAFKA_SESSION_TIMEOUT_MS"] == "40000"
    assert rolled.memory.tuning.failed_as_of == NOW - 3600


def test_a_version_that_is_only_overtaken_hands_its_timeouts_on() -> None:
    """Another template came before every pod had this one: nothing has failed."""
    world = at_rest()
    under_way = replace(world.memory, phase=RolloutPhase.PROGRESSING, target_hash="v2", tuning=TOOK)
    overtaken = plan(edited(replace(world, memory=under_way)))
    assert overtaken.memory.target_hash != "v2"
    assert environment(overtaken)["KAFKA_SESSION_TIMEOUT_MS"] == "20000"
    assert overtaken.memory.tuning == TOOK


def test_nothing_is_adopted_while_a_version_has_failed() -> None:
    for phase in (RolloutPhase.FAILED, RolloutPhase.ROLLING_BACK, RolloutPhase.ROLLED_BACK):
        world = at_rest(profile=Profile.CONSUMER, advice=advice(KIP848))
        memory = replace(world.memory, phase=phase, failed_hash=world.memory.target_hash)
        decided = plan(replace(world, memory=memory, last_good_template=world.workload.template))  # type: ignore[union-attr]
        assert decided.memory.tuning == Tuning()


def test_the_status_shows_the_recommendation_and_what_becomes_of_it() -> None:
    world = at_rest()
    decided = plan(world)
    shown = compose_status(world, decided, {})["recommendation"]
    assert shown["reason"] == "WithNextRollout"
    assert shown["restarts"] == 120
    assert shown["settings"]["session"] == {
        "current": "45s",
        "lower": "18s",
        "target": "20s",
        "upper": "22s",
        "why": "because",
    }
    assert "applied" not in shown


def test_the_status_shows_what_was_applied() -> None:
    world = at_rest(profile=Profile.CONSUMER, advice=advice(KIP848))
    shown = compose_status(world, plan(world), {})["recommendation"]
    assert shown["applied"]["settings"] == {"consumer.session": "55s", "consumer.heartbeat": "9s"}
    assert shown["reason"] == "AsRecommended"


def test_a_recorded_world_keeps_its_recommendation() -> None:
    world = at_rest()
    assert read_world(write_world(world)).advice == world.advice


def test_the_same_recommendation_is_adopted_once() -> None:
    world = at_rest(profile=Profile.CONSUMER, advice=advice(KIP848))
    first = plan(world).memory
    assert plan(replace(world, memory=first)).memory.tuning == first.tuning


def test_memory_of_an_older_operator_is_read() -> None:
    assert read_memory({"rollout": {"phase": "Complete"}}) == RolloutMemory(phase=RolloutPhase.COMPLETE)


def test_nothing_is_queued_on_the_way_to_another_protocol() -> None:
    """Between two of its steps no rollout is under way."""
    world = at_rest()
    upgrade = Upgrade(Profile.EAGER, StrategyName.TWO_BOUNCE, (Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE))
    assert go_on(world).memory.tuning.queued == FITS
    assert go_on(world.remembering(replace(world.memory, upgrade=upgrade))).memory.tuning == Tuning()


def test_a_person_who_approves_lets_it_turn_once_more() -> None:
    world = at_rest("Recommend", annotations={APPROVE: "1"})
    turned = replace(world.memory, tuning=Tuning(turned=(Setting.SESSION,)))
    assert plan(world.remembering(turned)).memory.tuning.turned == ()
