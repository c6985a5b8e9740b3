"""One pass: what is written in which order, and what becomes of it when something fails at each step."""

from __future__ import annotations

import time
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

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
    KAFKA_CONNECTION,
    POD,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    STATEFUL_SET,
)
from slackwater.api.annotations import FINALIZER, GROUP_LABEL, PAUSE, REJOINED
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.members.sharing import MADE_AGAIN_WITHIN_S
from slackwater.core.pace import AT_ONCE, AT_REST_AGAIN_S
from slackwater.core.plan import plan
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupObservation, GroupState, Unobserved
from slackwater.core.world.profile import Profile
from slackwater.shell import gathering
from slackwater.shell import reconciler as module
from slackwater.shell.advice import AdviceBook
from slackwater.shell.events import HOLDS_AT_ONCE
from slackwater.shell.gathering import Gathering
from slackwater.shell.metrics import Metrics
from slackwater.shell.reconciler import MARKS_A_PASS, Reconciler
from slackwater.shell.store import Key, Store
from slackwater.shell.telemetry import Telemetry
from tests.api.manifests import template
from tests.core.factories import NOW, observation
from tests.core.plan.test_plan import rolling
from tests.shell.fakes import CONNECTION, KEY, FakeApi, FakeConnections, connection_object, group_object

CREATE = ["status ConsumerGroup", "apply Service", "apply PodDisruptionBudget", "apply StatefulSet"]


class Stage:
    """A reconciler over a cluster in memory, with one ConsumerGroup in it."""

    def __init__(self, **group: Any) -> None:
        self.api, self.store, self.connections = FakeApi(), Store(), FakeConnections()
        self.see(self.api.add(CONSUMER_GROUP, group_object(**group)))
        self.store.put(KAFKA_CONNECTION, self.api.add(KAFKA_CONNECTION, connection_object()))
        api: Any = self.api
        connections: Any = self.connections
        self.advice = AdviceBook(lambda key: None)
        self.metrics, telemetry = Metrics(), Telemetry(None, time.time)
        witnesses = (self.metrics, telemetry)
        self.later_s = 0.0
        """How far its clock is ahead of ours."""
        self.reconciler = Reconciler(api, self.store, connections, self.advice, self.now, witnesses)

    def now(self) -> float:
        return time.time() + self.later_s

    def see(self, obj: dict[str, Any]) -> None:
        """What a watch brings."""
        self.store.put(CONSUMER_GROUP, obj)

    def scale(self, replicas: int) -> None:
        """As people do it."""
        known = self.api.objects["ConsumerGroup", *KEY]
        self.api.objects["ConsumerGroup", *KEY] = {**known, "spec": {**known["spec"], "replicas": replicas}}
        self.see(self.api.changed_by_somebody(CONSUMER_GROUP, KEY, generation=2))

    async def run(self) -> float | None:
        return await self.reconciler.reconcile(KEY)

    async def run_to_rest(self) -> float | None:
        for _ in range(10):
            if (again_s := await self.run()) != AT_ONCE:
                return again_s
        raise AssertionError(f"it never comes to rest: {self.api.asked}")

    def condition(self, kind: str) -> dict[str, Any]:
        status = self.api.objects["ConsumerGroup", *KEY]["status"]
        return next(c for c in status["conditions"] if c["type"] == kind)

    def metrics_text(self) -> str:
        return self.metrics.text().decode()

    def reasons(self) -> list[str]:
        return [event["reason"] for event in self.api.events]

    def acts(self) -> list[str]:
        return [line for line in self.metrics_text().splitlines() if line.startswith("slackwater_acts_total")]

    def ask_nothing_more(self) -> None:
        self.api.asked.clear()
        self.api.requests.clear()


async def test_the_finalizer_comes_before_everything_else() -> None:
    stage = Stage(finalizers=())
    assert await stage.run() == AT_ONCE
    assert stage.api.asked == ["finalizers ConsumerGroup"]


async def test_the_memory_is_written_before_the_act() -> None:
    stage = Stage()
    assert await stage.run() == AT_ONCE
    assert [w for w in stage.api.writes() if "KafkaConnection" not in w] == CREATE


async def test_a_group_whose_holds_are_no_longer_said_says_what_is_done_to_it_and_shows_them_all_the_same() -> None:
    stage = Stage()
    flaps = [Decision(RolloutMemory(), hold=Hold(reason, "")) for reason in (Reason.PAUSED, Reason.POD_NOT_READY)]
    for decided in flaps * HOLDS_AT_ONCE:
        stage.reconciler._told.to_tell(KEY, {}, decided, time.time())
    await stage.run_to_rest()
    stage.store.drop(KAFKA_CONNECTION, stage.api.objects.pop(("KafkaConnection", *CONNECTION)))
    await stage.run_to_rest()
    assert stage.reasons() == ["RolloutStarted", "Created"]
    assert stage.condition("RolloutGated")["reason"] == "ConnectionMissing"


async def test_nothing_is_done_when_the_memory_cannot_be_written() -> None:
    stage = Stage()
    stage.api.failures["status ConsumerGroup"] = ClusterUnreachable("no answer")
    with pytest.raises(ClusterUnreachable):
        await stage.run()
    assert "apply StatefulSet" not in stage.api.asked
    await stage.run()
    assert stage.api.asked.count("apply StatefulSet") == 1


async def test_an_act_is_decided_again_from_the_cluster_itself() -> None:
    stage = Stage()
    stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, deletionTimestamp="2026-01-01T00:00:00Z")
    assert await stage.run() == AT_ONCE
    assert "apply StatefulSet" not in stage.api.asked
    assert stage.connections.looks == 1


async def test_a_pass_that_finds_nothing_new_asks_nobody_anything() -> None:
    stage = Stage()
    await stage.run_to_rest()
    stage.ask_nothing_more()
    for _ in range(3):
        assert await stage.run() != AT_ONCE
    assert stage.api.asked == []
    assert not stage.api.requests


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


async def test_a_stateful_set_that_went_while_nobody_watched_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it was the last of its kind: of an empty list kopf tells nothing."""
    stage = Stage()
    await stage.run_to_rest()
    del stage.api.objects["StatefulSet", *KEY]
    monkeypatch.setattr(gathering, "DOUBTED_AGAIN_S", 0.0)
    await stage.run()
    assert ("StatefulSet", *KEY) in stage.api.objects


async def test_a_stateful_set_that_is_gone_does_not_come_back_by_what_a_watch_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage()
    await stage.run_to_rest()
    del stage.api.objects["StatefulSet", *KEY]
    monkeypatch.setattr(gathering, "DOUBTED_AGAIN_S", 0.0)
    stage.api.failures["apply StatefulSet"] = ClusterRefused("exceeded quota")
    with pytest.raises(ClusterRefused):
        await stage.run()
    assert stage.store.get(STATEFUL_SET, KEY) is None


async def test_a_stateful_set_without_pods_is_read_again_once_in_a_while() -> None:
    stage = Stage()
    await stage.run_to_rest()
    assert stage.api.requests["GET", "statefulsets"] > 0
    stage.ask_nothing_more()
    for _ in range(5):
        await stage.run()
    assert stage.api.requests["GET", "statefulsets"] == 0


async def test_pods_that_went_while_nobody_watched_are_found_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(replicas=0)
    await stage.run_to_rest()
    uid = stage.api.objects["StatefulSet", *KEY]["metadata"]["uid"]
    owners = [{"kind": "StatefulSet", "name": KEY.name, "uid": uid, "controller": True}]
    made = {"resourceVersion": "5", "creationTimestamp": "2026-01-01T00:00:00Z"}
    named = {"namespace": KEY.namespace, "name": f"{KEY.name}-0", "uid": "0", **made}
    labels = {GROUP_LABEL: KEY.name, "apps.kubernetes.io/pod-index": "0"}
    stage.store.put(POD, {"metadata": {**named, "labels": labels, "ownerReferences": owners}, "spec": {}, "status": {}})
    monkeypatch.setattr(gathering, "DOUBTED_AGAIN_S", 0.0)
    await stage.run()
    assert stage.store.pods_of(KEY) == []


async def test_every_pass_says_when_to_look_again() -> None:
    """Time alone may change the next decision, and nobody tells of a Secret."""
    stage = Stage(replicas=0)
    again_s = await stage.run_to_rest()
    assert again_s is not None
    assert 0 < again_s <= AT_REST_AGAIN_S


async def test_a_connection_that_cannot_be_opened_for_a_moment_is_tried_again_soon_at_rest_too() -> None:
    stage = Stage(replicas=0)
    await stage.run_to_rest()
    stage.connections.again = 0.25
    assert await stage.run_to_rest() == 0.25


async def test_a_statefulset_that_has_changed_meanwhile_is_looked_at_again() -> None:
    stage = Stage()
    stage.api.failures["apply StatefulSet"] = Conflict("it has changed")
    assert await stage.run() == AT_ONCE
    assert await stage.run() == AT_ONCE
    assert stage.api.asked.count("apply StatefulSet") == 2


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


async def test_what_somebody_changed_just_before_the_status_was_written_is_not_overlooked() -> None:
    """The answer would bring the change into the store, and its event would then count as old."""
    stage = Stage(replicas=0)
    await stage.run_to_rest()
    stage.connections.seen = Unobserved(Reason.KAFKA_UNREACHABLE, "Kafka is still away", 0.0)
    changed = stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, annotations={PAUSE: "lunch"})
    with pytest.raises(Conflict):
        await stage.run()
    stage.see(changed)
    await stage.run_to_rest()
    assert stage.condition("Paused")["status"] == "True"


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


@pytest.mark.parametrize("what", ["Service", "PodDisruptionBudget"])
async def test_a_webhook_that_is_down_for_what_stands_beside_the_pods_holds_none_of_them_up(what: str) -> None:
    stage = Stage(readinessGate=True)
    await stage.run_to_rest()
    stage.scale(5)
    kind = SERVICE if what == "Service" else POD_DISRUPTION_BUDGET
    stage.store.drop(kind, stage.store.get(kind, KEY) or {})
    stage.api.failures[f"apply {what}"] = ClusterUnreachable("failed calling webhook (500)")
    with pytest.raises(ClusterUnreachable):  # so that it is tried again soon
        await stage.run()
    assert stage.api.objects["StatefulSet", *KEY]["spec"]["replicas"] == 5


async def test_pods_are_marked_though_a_budget_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else none becomes Ready, and a rollout stands still."""
    stage, marked = Stage(), []

    async def mark(*_: Any) -> Any:
        marked.append(1)
        return {"metadata": {"namespace": KEY.namespace, "name": f"{KEY.name}-0", "uid": "0", "resourceVersion": "5"}}

    monkeypatch.setattr(module, "marks_due", lambda world: ["rejoined"])
    monkeypatch.setattr(module, "write_mark", mark)
    stage.api.failures["apply PodDisruptionBudget"] = ClusterRefused("a policy forbids it")
    with pytest.raises(ClusterRefused):
        await stage.run()
    assert marked


async def test_a_connection_s_status_that_cannot_be_written_stops_no_group() -> None:
    stage = Stage()
    await stage.run_to_rest()
    stage.connections.seen = observation()
    stage.scale(5)
    stage.api.failures["status KafkaConnection"] = ClusterUnreachable("failed calling webhook (500)")
    await stage.run()
    assert stage.api.objects["StatefulSet", *KEY]["spec"]["replicas"] == 5
    assert "status KafkaConnection" in stage.api.asked


async def test_somebody_else_s_service_of_the_same_name_is_left_alone() -> None:
    stage = Stage()
    theirs = {
        "metadata": {"managedBy": "somebody", "uid": "theirs", "generation": 1},
        "spec": {"selector": {"app": "x"}},
    }
    stage.api.objects["Service", *KEY] = theirs
    with pytest.raises(ClusterRefused, match="Service payments is there already and not ours"):
        await stage.run()
    assert stage.api.objects["Service", *KEY] == theirs
    assert "apply StatefulSet" not in stage.api.asked


async def test_somebody_else_s_service_does_not_stop_a_group_that_runs() -> None:
    """Such as the one of a StatefulSet that was adopted."""
    stage = Stage()
    await stage.run_to_rest()
    theirs = {"metadata": {"managedBy": "somebody", "uid": "theirs", "generation": 1}, "spec": {"selector": {}}}
    stage.api.objects["Service", *KEY] = theirs
    stage.store.drop(SERVICE, stage.store.get(SERVICE, KEY) or {})
    stage.ask_nothing_more()
    await stage.run()
    await stage.run()
    assert stage.api.objects["Service", *KEY] == theirs
    assert stage.api.writes().count("apply Service") == 1


async def test_a_budget_that_is_refused_holds_no_pod_up() -> None:
    """Such as by a quota, or a policy: the pods are scaled all the same, and the condition says what was refused."""
    stage = Stage()
    await stage.run_to_rest()
    stage.store.drop(POD_DISRUPTION_BUDGET, stage.store.get(POD_DISRUPTION_BUDGET, KEY) or {})
    stage.scale(5)
    stage.api.failures["apply PodDisruptionBudget"] = ClusterRefused("a policy forbids it")
    with pytest.raises(ClusterRefused, match="a policy forbids it"):
        await stage.run()
    assert stage.api.objects["StatefulSet", *KEY]["spec"]["replicas"] == 5


async def test_a_budget_of_our_own_is_taken_away_when_people_have_theirs() -> None:
    stage = Stage()
    await stage.run_to_rest()
    known = stage.api.objects["ConsumerGroup", *KEY]
    off = {**known["spec"], "disruptionBudget": {"enabled": False}}
    stage.api.objects["ConsumerGroup", *KEY] = {**known, "spec": off}
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, generation=2))
    await stage.run_to_rest()
    assert ("PodDisruptionBudget", *KEY) not in stage.api.objects
    theirs = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {}}
    labels = {"labels": {GROUP_LABEL: KEY.name}, "uid": "theirs", "resourceVersion": "900"}
    their_budget = {**theirs, "metadata": {"namespace": KEY.namespace, "name": KEY.name, **labels}}
    stage.store.put(POD_DISRUPTION_BUDGET, stage.api.add(POD_DISRUPTION_BUDGET, their_budget))
    await stage.run_to_rest()
    assert ("PodDisruptionBudget", *KEY) in stage.api.objects


async def test_pods_are_made_with_the_readiness_gate_where_that_is_asked_for() -> None:
    stage = Stage(readinessGate=True)
    await stage.run_to_rest()
    made = stage.api.objects["StatefulSet", *KEY]
    assert made["spec"]["template"]["spec"]["readinessGates"] == [{"conditionType": REJOINED}]


async def test_nobody_is_advised_to_delete_the_service_of_a_stateful_set_that_was_just_adopted() -> None:
    """Its group has no phase yet."""
    stage = Stage()
    await stage.run_to_rest()
    stage.api.objects["Service", *KEY] = {
        "metadata": {"managedBy": "somebody", "uid": "theirs", "generation": 1},
        "spec": {},
    }
    stage.store.drop(SERVICE, stage.store.get(SERVICE, KEY) or {})
    known = stage.api.objects["ConsumerGroup", *KEY]
    stage.api.objects["ConsumerGroup", *KEY] = {**known, "status": {}}
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY))
    await stage.run()
    assert stage.api.writes().count("apply Service") >= 1


async def test_beside_somebody_else_s_stateful_set_nothing_is_made() -> None:
    stage = Stage()
    await stage.run_to_rest()
    owners = [{"kind": "Rollout", "name": "pay", "uid": "x", "controller": True}]
    stage.store.put(STATEFUL_SET, stage.api.changed_by_somebody(STATEFUL_SET, KEY, ownerReferences=owners))
    for kind in (SERVICE, POD_DISRUPTION_BUDGET):
        stage.store.drop(kind, stage.store.get(kind, KEY) or {})
    stage.ask_nothing_more()
    await stage.run()
    assert stage.condition("RolloutGated")["reason"] == "ForeignStatefulSet"
    assert stage.api.writes() == ["status ConsumerGroup"]


async def test_what_cannot_be_changed_in_a_stateful_set_stays_as_it_is() -> None:
    stage = Stage()
    await stage.run_to_rest()
    theirs = {
        "selector": {"matchLabels": {"app": "legacy"}},
        "serviceName": "old",
        "podManagementPolicy": "OrderedReady",
    }
    stage.api.objects["StatefulSet", *KEY]["spec"] |= theirs
    stage.store.put(STATEFUL_SET, stage.api.changed_by_somebody(STATEFUL_SET, KEY))
    known = stage.api.objects["ConsumerGroup", *KEY]
    changed = group_object(template=template(("NEW",)))["spec"]
    stage.api.objects["ConsumerGroup", *KEY] = {**known, "spec": changed}
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, generation=2))
    await stage.run()
    written = stage.api.objects["StatefulSet", *KEY]["spec"]
    assert {name: written[name] for name in theirs} == theirs


async def test_what_is_empty_is_left_out_of_the_status() -> None:
    """The API server makes null of an empty map that is applied over a filled one, and refuses it."""
    stage = Stage(replicas=0)
    await stage.run_to_rest()
    for target in ({"target": "Cooperative"}, {}):
        obj = stage.api.objects["ConsumerGroup", *KEY]
        obj["spec"] = obj["spec"] | {"protocol": target}
        stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, generation=obj["metadata"]["generation"] + 1))
        await stage.run_to_rest()
        assert stage.api.objects["ConsumerGroup", *KEY]["status"].get("protocol", {}) == target


async def test_a_connection_whose_status_is_refused_holds_nothing_up() -> None:
    stage = Stage()
    stage.api.failures["status KafkaConnection"] = ClusterRefused("forbidden")
    assert await stage.run() == AT_ONCE
    assert "apply StatefulSet" in stage.api.asked


async def test_a_restarted_operator_waits_for_its_first_look() -> None:
    stage = Stage()
    stage.connections.first_look_is_awaited = True
    await stage.run()
    assert "status ConsumerGroup" not in stage.api.asked


async def test_a_group_is_watched_by_what_is_remembered_of_it() -> None:
    """Its protocol, where the spec has no target any more."""
    stage = Stage()
    stage.api.objects["ConsumerGroup", *KEY]["status"] = {"rollout": {"phase": "Complete", "protocol": "Consumer"}}
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY))
    await stage.run()
    assert stage.connections.remembered.protocol is Profile.CONSUMER


async def test_a_spec_that_cannot_be_read_is_reported_once_and_touches_nothing() -> None:
    stage = Stage(topics=[])
    assert await stage.run() is None
    assert stage.api.asked == ["status ConsumerGroup"]
    assert stage.condition("Degraded")["reason"] == "InvalidSpec"
    await stage.run()
    assert stage.api.asked == ["status ConsumerGroup"]


async def test_a_group_that_is_gone_leaves_nothing_behind() -> None:
    stage = Stage()
    await stage.run_to_rest()
    stage.store.drop(CONSUMER_GROUP, group_object())
    assert "payments" in stage.metrics_text()
    assert await stage.run() is None
    assert stage.connections.forgotten == [KEY]
    assert "payments" not in stage.metrics_text()


async def test_a_group_without_a_connection_says_so_and_comes_back() -> None:
    stage = Stage()
    stage.store.drop(KAFKA_CONNECTION, stage.api.objects.pop(("KafkaConnection", *CONNECTION)))
    assert await stage.run_to_rest() == 30.0
    assert stage.condition("RolloutGated")["reason"] == "ConnectionMissing"
    assert ("StatefulSet", *KEY) not in stage.api.objects
    assert KEY in stage.connections.forgotten  # nobody reads on with what was deleted


async def test_a_group_that_its_connection_does_not_allow_is_not_begun_and_nobody_is_asked_about_it() -> None:
    stage = Stage()
    spec = {**connection_object()["spec"], "groups": ["orders-", "refunds-"]}
    stage.store.put(KAFKA_CONNECTION, stage.api.add(KAFKA_CONNECTION, connection_object(2) | {"spec": spec}))
    assert await stage.run_to_rest() == 60.0
    gated = stage.condition("RolloutGated")
    assert gated["reason"] == "GroupNotAllowed"
    assert "begins with orders- or refunds-" in gated["message"]
    assert ("StatefulSet", *KEY) not in stage.api.objects
    assert stage.connections.used == []


@pytest.mark.parametrize("protocol", [{}, {"target": "Consumer"}], ids=["any protocol", "a protocol that is refused"])
async def test_a_statefulset_of_somebody_else_is_left_alone(protocol: dict[str, str]) -> None:
    stage = Stage(protocol=protocol, client={"library": "Librdkafka", "version": "1.9.0"})
    metadata = {"namespace": KEY.namespace, "name": KEY.name, "uid": "x", "generation": 1, "resourceVersion": "5"}
    theirs = {"metadata": metadata, "spec": {"replicas": 1, "template": {"spec": {"containers": []}}}, "status": {}}
    stage.api.add(STATEFUL_SET, theirs)
    await stage.run_to_rest()
    assert stage.condition("RolloutGated")["reason"] == "ForeignStatefulSet"
    assert stage.api.objects["StatefulSet", *KEY] == theirs
    assert {write for write in stage.api.writes() if "KafkaConnection" not in write} == {"status ConsumerGroup"}
    rollout = stage.api.objects["ConsumerGroup", *KEY]["status"].get("rollout") or {}
    assert not rollout.keys() & {"targetHash", "protocol"}  # what it will begin from is not known before it is adopted


@pytest.mark.parametrize("name", [KEY.name, f"{KEY.name}-alt"])
async def test_what_was_given_back_is_not_joined_by_a_second_fleet(name: str) -> None:
    """Its pods have the group's instance ids, whatever it is called."""
    stage = Stage()
    metadata = {"namespace": KEY.namespace, "name": name, "uid": "x", "generation": 1, "resourceVersion": "5"}
    theirs = {
        "metadata": {**metadata, "labels": {GROUP_LABEL: KEY.name}},
        "spec": {"replicas": 1, "template": {"spec": {"containers": []}}},
        "status": {},
    }
    stage.api.add(STATEFUL_SET, theirs)
    await stage.run_to_rest()
    assert stage.condition("RolloutGated")["reason"] == "ForeignStatefulSet"
    assert "apply StatefulSet" not in stage.api.asked


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


@pytest.mark.parametrize("finalizers", [(), (FINALIZER,)])
async def test_a_group_that_is_gone_before_the_watch_says_so_is_forgotten_at_once(finalizers: tuple[str, ...]) -> None:
    stage = Stage(finalizers=finalizers)
    stage.api.objects.clear()
    assert await stage.run() == AT_ONCE
    assert await stage.run() is None
    assert stage.connections.forgotten == [KEY]
    assert not any("StatefulSet" in asked for asked in stage.api.asked)


async def test_of_two_groups_of_one_id_the_younger_makes_nothing_until_the_older_is_gone() -> None:
    """None of them is in Kafka yet."""
    stage = Stage()
    other = stage.api.add(CONSUMER_GROUP, group_object(name="reports", groupId=KEY.name))
    assert await stage.run_to_rest() is not None
    assert stage.condition("Degraded")["status"] == "False"
    assert KEY in stage.store.put(CONSUMER_GROUP, other)
    for _ in range(3):
        await stage.run()
        await stage.reconciler.reconcile(Key(KEY.namespace, "reports"))
    theirs = stage.api.objects["ConsumerGroup", KEY.namespace, "reports"]["status"]["conditions"]
    degraded = next(each for each in theirs if each["type"] == "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "GroupIdShared")
    assert degraded["message"].startswith("ConsumerGroup default/payments has the same groupId and came first")
    assert stage.condition("Degraded")["status"] == "False", "one that only claims the group is no harm to it"
    made = {kind for kind, _, name in stage.api.objects if name == "reports"}
    assert made == {"ConsumerGroup"}, "of what is held nothing is made, neither its Service nor its budget"
    gone = stage.store.get(CONSUMER_GROUP, KEY) or {}
    assert Key(KEY.namespace, "reports") in stage.store.drop(CONSUMER_GROUP, gone)
    for _ in range(3):
        await stage.reconciler.reconcile(Key(KEY.namespace, "reports"))
    assert ("StatefulSet", KEY.namespace, "reports") not in stage.api.objects, "it may be made again"
    stage.later_s = MADE_AGAIN_WITHIN_S
    for _ in range(3):
        await stage.reconciler.reconcile(Key(KEY.namespace, "reports"))
    assert ("StatefulSet", KEY.namespace, "reports") in stage.api.objects


async def test_a_group_that_was_let_go_is_forgotten_once_its_watch_says_that_it_is_gone() -> None:
    stage = Stage()
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, deletionTimestamp="2026-01-01T00:00:00Z"))
    last = stage.store.get(CONSUMER_GROUP, KEY)
    assert last is not None
    for _ in range(3):
        assert await stage.run() is None
    assert stage.api.writes() == ["finalizers ConsumerGroup"]
    stage.store.drop(CONSUMER_GROUP, last)
    assert await stage.run() is None
    assert stage.connections.forgotten == [KEY]


@pytest.mark.parametrize("replicas", [0, 3])
async def test_a_group_that_kafka_never_showed_and_that_never_had_a_pod_that_ran_can_be_deleted(replicas: int) -> None:
    """Its topic was missing, and then its KafkaConnection may not look. Its StatefulSet was made, its pods were not."""
    stage = Stage(replicas=replicas, deletionPolicy="DeleteGroup")
    stage.connections.seen = Unobserved(Reason.TOPIC_MISSING, "topic orders does not exist", 0.0)
    await stage.run_to_rest()
    stage.connections.seen = Unobserved(Reason.NOT_AUTHORIZED, "grant it Describe on the group", 0.0)
    assert ("StatefulSet", *KEY) in stage.api.objects
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, deletionTimestamp="2026-01-01T00:00:00Z"))
    for _ in range(3):
        await stage.run()
    assert ("ConsumerGroup", *KEY) not in stage.api.objects
    assert stage.connections.kafka.deleted == []
    assert stage.reasons()[-1] == "NotAuthorized"


class SlowWrites:
    """All gates hold for the restart of a pod, and each write of the status takes so many seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, takes_s: float) -> None:
        self.stage, self.now, self.takes_s, self.carried_out = Stage(), NOW, takes_s, AsyncMock(return_value=None)
        self.world = rolling()
        self.rebalances = False
        act = plan(self.world).act
        assert isinstance(act, WriteWorkload)
        assert act.purpose is Purpose.RESTART
        monkeypatch.setattr(Gathering, "from_store", self._gathered)
        monkeypatch.setattr(Gathering, "read_again", self._gathered)
        monkeypatch.setattr(self.stage.reconciler, "_now", lambda: self.now)
        monkeypatch.setattr(self.stage.reconciler, "_remember", self._remember)
        monkeypatch.setattr("slackwater.shell.reconciler.carry_out", self.carried_out)

    async def _gathered(self, *_: Any) -> Any:
        state = GroupState.PREPARING_REBALANCE if self.rebalances else GroupState.STABLE
        assert isinstance(self.world.kafka, GroupObservation)
        kafka = observation(self.world.kafka.members, at=self.now, state=state)
        return replace(self.world, now=self.now, kafka=kafka), {}

    async def _remember(self, key: Key, world: Any, decided: Decision, before: Any) -> None:
        if decided.memory != world.memory:
            self.now += self.takes_s
            self.world = replace(self.world, memory=decided.memory)


async def test_a_pod_is_not_restarted_by_a_look_that_slow_writes_made_old(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowWrites(monkeypatch, takes_s=14.0)  # of the 15 s that a request may take
    remember = slow._remember

    async def remember_and_rebalance(*given: Any) -> None:
        await remember(*given)
        slow.rebalances = True

    monkeypatch.setattr(slow.stage.reconciler, "_remember", remember_and_rebalance)
    await slow.stage.run()
    slow.carried_out.assert_not_awaited()


@pytest.mark.parametrize("takes_s", [0.5, 14.0])
async def test_where_writes_take_long_a_rollout_goes_on_by_a_second_look(
    monkeypatch: pytest.MonkeyPatch, takes_s: float
) -> None:
    """Each pass would write as long: it remembers the moment of its act."""
    slow = SlowWrites(monkeypatch, takes_s)
    await slow.stage.run()
    slow.carried_out.assert_awaited_once()
    (_, _, world, act), _ = slow.carried_out.await_args_list[0]
    assert slow.now - world.now <= 10.0
    assert act.purpose is Purpose.RESTART


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


@pytest.mark.parametrize("how", ["edited", "made again"])
async def test_a_statefulset_that_is_not_as_it_was_written_is_put_right(how: str) -> None:
    """One that somebody made again, by `kubectl replace --force`, begins with the generation that ours had."""
    stage = Stage()
    await stage.run_to_rest()
    theirs = deepcopy(stage.api.objects["StatefulSet", *KEY])
    theirs["spec"]["template"]["spec"]["containers"][0]["image"] = "somebody/elses:1"
    theirs["metadata"] |= {"generation": 2} if how == "edited" else {"generation": 1, "uid": "another"}
    generation = theirs["metadata"]["generation"]
    theirs["status"] = {"observedGeneration": generation, "updateRevision": "x", "currentRevision": "x"}
    stage.store.put(STATEFUL_SET, stage.api._store(STATEFUL_SET, theirs))
    stage.ask_nothing_more()
    for _ in range(3):
        await stage.run()
    assert "apply StatefulSet" in stage.api.asked


async def test_a_connection_that_somebody_corrects_as_its_status_is_written_wakes_all_its_groups() -> None:
    stage = Stage()
    stage.see(stage.api.add(CONSUMER_GROUP, group_object(name="refunds")))
    await stage.run_to_rest()
    stage.connections.seen = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", time.time())
    corrected = stage.api.changed_by_somebody(KAFKA_CONNECTION, CONNECTION, generation=2)  # no watch has told of it
    await stage.run()
    assert Key(KEY.namespace, "refunds") in stage.store.put(KAFKA_CONNECTION, corrected)


async def test_pods_are_marked_a_few_at_a_time_and_the_next_pass_is_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand marks would hold up what is to be done about the group; and their answers show what no watch tells."""
    stage, marked = Stage(), list[Any]()
    await stage.run_to_rest()

    async def mark(*given: Any) -> Any:
        marked.append(given)
        return {"metadata": {"namespace": KEY.namespace, "name": "p", "uid": "u", "resourceVersion": str(len(marked))}}

    monkeypatch.setattr("slackwater.shell.reconciler.marks_due", lambda _: range(len(marked), 30))
    monkeypatch.setattr("slackwater.shell.reconciler.write_mark", mark)
    assert await stage.run() == AT_ONCE
    assert len(marked) == MARKS_A_PASS
    assert await stage.run() == AT_ONCE
    assert len(marked) == 30
    assert await stage.run() != AT_ONCE


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
