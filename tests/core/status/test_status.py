"""The status: equal when nothing worth a write has changed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE, RETRY
from slackwater.api.parsing import parse_consumer_group
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.plan import plan
from slackwater.core.status.compose import LAG_REPORT_INTERVAL_S, compose_status, degraded_status
from slackwater.core.world.history import advance
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.world import World
from tests.api.manifests import consumer_group
from tests.core.factories import NEW, NOW, changed, group, members, observation, pod, tp, workload, world

Status = dict[str, Any]


def at_rest(lag: int = 0) -> World:
    pods = tuple(pod(o, NEW) for o in range(3))
    complete = RolloutMemory(phase=RolloutPhase.COMPLETE, target_hash="v2")
    kafka = observation(lag=lag)
    return world(pods=pods, memory=complete, kafka=kafka, workload=workload(current_revision=NEW))


def written(given: World, before: Status | None = None, decided: Decision | None = None) -> Status:
    status = compose_status(given, decided or Decision(given.memory), before or {})
    result: Status = json.loads(json.dumps(status))  # as it comes back from the API server
    return result


def later(given: World, seconds: float, lag: int = 0) -> World:
    kafka = observation(at=NOW + seconds, lag=lag)
    return replace(given, now=NOW + seconds, kafka=kafka, history=advance(given.history, kafka))


def test_the_same_world_later_is_not_written() -> None:
    before = written(at_rest())
    assert compose_status(later(at_rest(), 3600), Decision(at_rest().memory), before) == before


def test_a_little_lag_more_or_less_is_not_written() -> None:
    before = written(at_rest(lag=5000))
    for lag in (2500, 4000, 7500):
        assert written(later(at_rest(lag=5000), 3600, lag), before) == before


def test_much_lag_is_written_once_a_minute() -> None:
    before = written(at_rest())
    assert written(later(at_rest(), LAG_REPORT_INTERVAL_S - 1, lag=5000), before) == before
    news = written(later(at_rest(), LAG_REPORT_INTERVAL_S, lag=5000), before)
    assert news["group"]["lag"] == 5000
    assert written(later(at_rest(), LAG_REPORT_INTERVAL_S + 1, lag=50000), news) == news


def test_any_other_change_is_written_with_the_newest_figures() -> None:
    before = written(at_rest())
    changed = replace(later(at_rest(), 1, lag=7), kafka=observation(members(0, 1), at=NOW + 1, lag=7))
    after = written(changed, before)
    assert (after["group"]["members"], after["group"]["lag"]) == (2, 7)


def test_what_was_last_known_of_the_group_stays_while_kafka_is_away() -> None:
    before = written(at_rest(lag=7))
    away = replace(at_rest(), kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW))
    after = written(away, before)
    assert after["group"] == before["group"]
    assert after != before
    assert written(replace(away, now=NOW + 60), after) == after
    assert "group" not in written(away)


def test_counts() -> None:
    pods = (pod(0), pod(1, NEW, ready=False), pod(2, NEW), pod(3, NEW, terminating=True))
    status = written(changed(at_rest(), pods=pods))
    counts = (status["replicas"], status["readyReplicas"], status["updatedReplicas"])
    assert counts == (3, 2, 2)


def test_a_pod_whose_readiness_gate_says_no_is_not_ready_to_kubernetes_either() -> None:
    pods = (pod(0, rejoined=True), pod(1, rejoined=False), pod(2))
    assert written(changed(at_rest(), pods=pods))["readyReplicas"] == 2


def test_phases() -> None:
    assert written(at_rest())["phase"] == "Ready"
    assert written(changed(at_rest(), pods=()))["phase"] == "NotReady"
    failed = replace(at_rest(), memory=RolloutMemory(phase=RolloutPhase.FAILED))
    assert written(failed)["phase"] == "Failed"


TOPIC_MISSING = Unobserved(Reason.TOPIC_MISSING, "topic refunds does not exist", NOW)


@pytest.mark.parametrize(
    ("kafka", "phase", "reason"),
    [
        (observation(), "Ready", "AsWanted"),
        (observation(blind_to=TOPIC_MISSING), "Unknown", "TopicMissing"),
        (Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW), "Unknown", "KafkaUnreachable"),
        (observation(members(0, 1)), "NotReady", "MemberMissing"),
    ],
    ids=["at rest", "a topic is missing", "Kafka is away", "a member is missing"],
)
def test_at_rest_the_phase_says_what_the_condition_ready_says(kafka: KafkaView, phase: str, reason: str) -> None:
    status = written(replace(at_rest(), kafka=kafka))
    ready = next(condition for condition in status["conditions"] if condition["type"] == "Ready")
    assert (status["phase"], ready["reason"]) == (phase, reason)


def test_commands_obeyed_are_kept() -> None:
    given = replace(at_rest(), group=group(annotations={RETRY: "7"}))
    assert written(given, decided=plan(given))["commands"] == {RETRY: "7"}


def test_the_status_is_one_that_the_resource_accepts() -> None:
    given = at_rest(lag=7)
    manifest = consumer_group() | {
        "status": written(given, decided=Decision(given.memory, hold=Hold(Reason.PAUSED, "y")))
    }
    assert parse_consumer_group(manifest).status["phase"] == "Ready"


def test_an_object_that_cannot_be_worked_on_keeps_what_was_last_reported() -> None:
    before = written(at_rest())
    obj = {"metadata": {"generation": 2}, "status": before}
    after = degraded_status(obj, "Invalid", Reason.INVALID_SPEC, "name at least one topic", NOW)
    assert after | {field: before[field] for field in ("phase", "conditions", "observedGeneration")} == before
    assert (after["phase"], after["observedGeneration"]) == ("Invalid", 2)
    degraded = next(c for c in after["conditions"] if c["type"] == "Degraded")
    assert (degraded["status"], degraded["message"]) == ("True", "name at least one topic")
    again = degraded_status(obj | {"status": after}, "Invalid", Reason.INVALID_SPEC, "name at least one topic", NOW + 9)
    assert again == after


def said(status: Status, kind: str) -> tuple[str, str]:
    found = next(condition for condition in status["conditions"] if condition["type"] == kind)
    return found["status"], found["reason"]


def test_one_that_is_being_deleted_is_that_though_it_is_paused() -> None:
    given = at_rest()
    paused = group(annotations={PAUSE: ""})
    metadata = paused.metadata.model_copy(update={"deletion_timestamp": "2026-01-01T00:00:00Z"})
    deleted = paused.model_copy(update={"metadata": metadata})
    assert written(replace(given, group=paused))["phase"] == "Paused"
    assert written(replace(given, group=deleted))["phase"] == "Deleting"


def test_much_lag_is_half_of_what_it_was() -> None:
    before = written(at_rest(lag=5000))
    assert written(later(at_rest(lag=5000), 3600, 7501), before)["group"]["lag"] == 7501
    assert written(later(at_rest(lag=5000), 3600, 2499), before)["group"]["lag"] == 2499


def test_a_pod_that_is_not_ready_is_named_though_kafka_is_away() -> None:
    away = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)
    pods = (pod(0, NEW), pod(1, NEW, ready=False), pod(2, NEW))
    assert said(written(changed(at_rest(), kafka=away, pods=pods)), "Ready") == ("False", "NotAllReady")


@pytest.mark.parametrize(("partitions", "oversized"), [(2, "True"), (3, "False")])
def test_a_member_for_each_partition_is_none_too_many(partitions: int, oversized: str) -> None:
    kafka = observation(partitions=frozenset(tp(number) for number in range(partitions)))
    assert said(written(replace(at_rest(), kafka=kafka)), "Oversized")[0] == oversized


@pytest.mark.parametrize("phase", [RolloutPhase.FAILED, RolloutPhase.ROLLING_BACK, RolloutPhase.ROLLED_BACK])
def test_a_step_that_failed_is_shown_as_that_until_somebody_decides(phase: RolloutPhase) -> None:
    upgrade = Upgrade(Profile.EAGER, StrategyName.TWO_BOUNCE, (Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE))
    given = at_rest()
    failed = given.remembering(replace(given.memory, phase=phase, upgrade=upgrade))
    assert said(written(failed), "ProtocolUpgrade") == ("False", "RolloutFailed")
