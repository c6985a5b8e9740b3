"""What a pass does with what it may not read or write, cannot read, or gets no answer to."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import (
    ClusterRefused,
    ClusterUnreachable,
    Conflict,
    Forbidden,
    WebhookFailed,
)
from slackwater.adapters.cluster.paths import (
    CONSUMER_GROUP,
    CONTROLLER_REVISION,
    STATEFUL_SET,
)
from slackwater.api.annotations import FINALIZER
from slackwater.core.decision.reasons import Reason
from slackwater.core.pace import AT_ONCE
from slackwater.core.world.observation import Unobserved
from tests.core.factories import observation
from tests.shell.fakes import KEY
from tests.shell.reconciler_stage import Stage


async def test_nothing_is_done_when_the_memory_cannot_be_written() -> None:
    stage = Stage()
    stage.api.failures["status ConsumerGroup"] = ClusterUnreachable("no answer")
    with pytest.raises(ClusterUnreachable):
        await stage.run()
    assert "apply StatefulSet" not in stage.api.asked
    await stage.run()
    assert stage.api.asked.count("apply StatefulSet") == 1


async def test_what_may_not_be_read_is_said_although_nothing_can_be_decided() -> None:
    stage = Stage()
    stage.api.forbidden = {STATEFUL_SET.name}
    with pytest.raises(ClusterRefused):
        await stage.run()
    gated = stage.condition("RolloutGated")
    assert (gated["status"], gated["reason"]) == ("True", "ClusterRefused")
    assert "403" in gated["message"]
    stage.api.forbidden = set()
    await stage.run_to_rest()
    assert stage.condition("RolloutGated")["reason"] != "ClusterRefused"


async def test_a_write_whose_answer_is_lost_is_counted_and_told_of_once() -> None:
    undisturbed, stage = Stage(), Stage()
    await undisturbed.run_to_rest()
    stage.api.lost.add("apply StatefulSet")
    with pytest.raises(ClusterUnreachable):
        await stage.run()
    assert stage.reasons() == ["RolloutStarted"]
    await stage.run_to_rest()
    assert stage.reasons() == undisturbed.reasons() != []
    assert stage.acts() == undisturbed.acts() != []
    assert stage.api.asked.count("apply StatefulSet") == 1


@pytest.mark.parametrize("brought", [True, False], ids=["a watch brings it", "no watch brings it"])
async def test_what_a_status_says_is_said_though_its_answer_is_lost(brought: bool) -> None:
    undisturbed, stage = Stage(), Stage()
    await undisturbed.run_to_rest()
    stage.api.lost.add("status ConsumerGroup")
    with pytest.raises(ClusterUnreachable):
        await stage.run()
    if brought:
        stage.see(stage.api.objects["ConsumerGroup", *KEY])
    await stage.run_to_rest()
    assert Counter(stage.reasons()) == Counter(undisturbed.reasons())


@pytest.mark.parametrize(
    "failure", [Conflict("it has changed"), ClusterUnreachable("no way there")], ids=["409", "away"]
)
async def test_what_holds_the_group_is_said_though_its_status_was_not_written_at_first(failure: Exception) -> None:
    """By a reason that does not pass by itself: those are said once, and not again."""
    stage = Stage()
    stage.connections.seen = Unobserved(Reason.TOPIC_MISSING, "there is no topic orders", time.time())
    await stage.run()
    stage.api.failures["status ConsumerGroup"] = failure
    with pytest.raises(type(failure)):
        await stage.run()
    await stage.run_to_rest()
    assert stage.reasons().count("TopicMissing") == 1


async def test_a_write_that_was_not_carried_out_is_told_of_when_it_is() -> None:
    undisturbed, stage = Stage(), Stage()
    await undisturbed.run_to_rest()
    stage.api.failures["apply StatefulSet"] = ClusterUnreachable("no way there")
    with pytest.raises(ClusterUnreachable):
        await stage.run()
    await stage.run_to_rest()
    assert stage.reasons() == undisturbed.reasons()
    assert stage.acts() == undisturbed.acts()


async def test_an_event_that_cannot_be_written_holds_nothing_up() -> None:
    stage = Stage()
    stage.api.failures["create Event"] = ClusterUnreachable("no answer")
    assert await stage.run() == AT_ONCE
    assert "apply StatefulSet" in stage.api.asked


async def test_what_the_api_server_refuses_shows_in_the_conditions_until_it_is_taken() -> None:
    stage = Stage()
    for _ in range(2):
        stage.api.failures["apply StatefulSet"] = ClusterRefused("exceeded quota: pods")
        with pytest.raises(ClusterRefused):
            await stage.run()
    gated = stage.condition("RolloutGated")
    assert (gated["status"], gated["reason"], gated["message"]) == ("True", "ClusterRefused", "exceeded quota: pods")
    assert stage.condition("Degraded")["status"] == "True"
    assert [e["reason"] for e in stage.api.events].count("ClusterRefused") == 1
    assert 'slackwater_gate_held{group="payments",namespace="default",reason="ClusterRefused"}' in stage.metrics_text()
    assert stage.connections.motion[KEY] is False  # looked at every second, it would be refused every second
    stage.ask_nothing_more()
    stage.api.failures["apply StatefulSet"] = ClusterRefused("exceeded quota: pods")
    with pytest.raises(ClusterRefused):
        await stage.run()
    assert stage.api.writes() == ["apply StatefulSet"]
    await stage.run_to_rest()
    assert stage.condition("Degraded")["status"] == "False"


async def test_a_connection_s_status_that_cannot_be_written_stops_no_group() -> None:
    stage = Stage()
    await stage.run_to_rest()
    stage.connections.seen = observation()
    stage.scale(5)
    stage.api.failures["status KafkaConnection"] = ClusterUnreachable("failed calling webhook (500)")
    await stage.run()
    assert stage.api.objects["StatefulSet", *KEY]["spec"]["replicas"] == 5
    assert "status KafkaConnection" in stage.api.asked


async def test_a_connection_whose_status_is_refused_holds_nothing_up() -> None:
    stage = Stage()
    stage.api.failures["status KafkaConnection"] = ClusterRefused("forbidden")
    assert await stage.run() == AT_ONCE
    assert "apply StatefulSet" in stage.api.asked


async def test_a_spec_that_cannot_be_read_is_reported_once_and_touches_nothing() -> None:
    stage = Stage(topics=[])
    assert await stage.run() is None
    assert stage.api.asked == ["status ConsumerGroup"]
    assert stage.condition("Degraded")["reason"] == "InvalidSpec"
    await stage.run()
    assert stage.api.asked == ["status ConsumerGroup"]


async def test_a_spec_that_cannot_be_read_does_not_keep_its_object_for_ever_without_a_word() -> None:
    stage = Stage(topics=[])
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, deletionTimestamp="2026-01-01T00:00:00Z"))
    await stage.run()
    assert f"remove the finalizer {FINALIZER}" in stage.condition("Degraded")["message"]


async def test_a_memory_that_cannot_be_read_does_not_keep_its_object_for_ever_without_a_word_either() -> None:
    stage = Stage()
    obj = stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, deletionTimestamp="2026-01-01T00:00:00Z")
    memory = {"phase": "FromTheFuture"}
    stage.see(stage.api.add(CONSUMER_GROUP, {**obj, "status": {"rollout": memory}}))
    assert await stage.run() is None
    assert f"remove the finalizer {FINALIZER}" in stage.condition("Degraded")["message"]
    assert stage.api.objects["ConsumerGroup", *KEY]["status"]["rollout"] == memory
    assert stage.api.writes() == ["status ConsumerGroup"]


async def with_a_newer_memory(stage: Stage) -> dict[str, Any]:
    """The group runs, and its status is now one that a newer operator wrote. Returns the object."""
    await stage.run_to_rest()
    status = stage.api.objects["ConsumerGroup", *KEY]["status"]
    stage.api.objects["ConsumerGroup", *KEY]["status"] = {**status, "rollout": {"phase": "FromTheFuture"}}
    stage.ask_nothing_more()
    return stage.api.changed_by_somebody(CONSUMER_GROUP, KEY)


async def test_a_memory_that_a_newer_operator_left_is_reported_once_and_touches_nothing() -> None:
    stage = Stage()
    stage.see(await with_a_newer_memory(stage))
    for _ in range(2):
        assert await stage.run() is None
        degraded = stage.condition("Degraded")
        assert (degraded["status"], degraded["reason"]) == ("True", "InvalidSpec")
        assert "a newer slackwater" in degraded["message"]
        assert stage.api.objects["ConsumerGroup", *KEY]["status"]["rollout"] == {"phase": "FromTheFuture"}
        assert stage.api.writes() == ["status ConsumerGroup"]


async def test_a_newer_memory_that_no_watch_has_brought_yet_is_not_written_over_either() -> None:
    stage = Stage()
    newer = await with_a_newer_memory(stage)
    stage.store.drop(STATEFUL_SET, stage.api.objects["StatefulSet", *KEY])  # so that everything is read again
    with pytest.raises(Conflict):
        await stage.run()
    stage.see(newer)
    assert await stage.run() is None
    assert stage.condition("Degraded")["reason"] == "InvalidSpec"


async def test_what_is_wrong_is_never_written_over_a_newer_status() -> None:
    stage = Stage(topics=[])
    stage.api.changed_by_somebody(CONSUMER_GROUP, KEY)
    with pytest.raises(Conflict):
        await stage.run()


async def test_a_finalizer_that_is_refused_is_said() -> None:
    stage = Stage(finalizers=())
    for _ in range(2):
        stage.api.failures["finalizers ConsumerGroup"] = Forbidden("consumergroups payments: denied by policy (403)")
        with pytest.raises(ClusterRefused):
            await stage.run()
    degraded = stage.condition("Degraded")
    assert (degraded["reason"], degraded["message"]) == (
        "ClusterRefused",
        "consumergroups payments: denied by policy (403)",
    )
    assert stage.api.writes().count("status ConsumerGroup") == 1, "once"
    await stage.run_to_rest()
    assert stage.condition("Degraded")["status"] == "False"


async def test_a_revision_that_may_not_be_read_is_said() -> None:
    stage = Stage()
    await stage.run_to_rest()
    obj = stage.api.objects["ConsumerGroup", *KEY]
    rollout = {**obj["status"]["rollout"], "phase": "Progressing", "lastGoodRevision": "payments-1"}
    stage.api.add(CONSUMER_GROUP, {**obj, "status": {**obj["status"], "rollout": rollout}})
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY))
    stage.api.forbidden = {CONTROLLER_REVISION.name}
    with pytest.raises(ClusterRefused):
        await stage.run()
    assert stage.condition("Degraded")["message"].endswith("(403)")


async def test_a_webhook_that_is_away_is_written_down_once() -> None:
    """Its errors name a port of their own each time."""
    stage = Stage(finalizers=())
    for port in (1, 2, 3):
        stage.api.failures["finalizers ConsumerGroup"] = WebhookFailed(
            f"failed calling webhook: read tcp :{port} (500)"
        )
        with pytest.raises(WebhookFailed):
            await stage.run()
    assert stage.api.writes().count("status ConsumerGroup") == 1
