"""What a pass does with what stands beside the pods: Service, budget, readiness marks, StatefulSets of others."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import (
    ClusterRefused,
    ClusterUnreachable,
)
from slackwater.adapters.cluster.paths import (
    CONSUMER_GROUP,
    KAFKA_CONNECTION,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    STATEFUL_SET,
)
from slackwater.api.annotations import GROUP_LABEL, REJOINED
from slackwater.core.manifests.drift import holds
from slackwater.core.members.rejoined import Mark
from slackwater.core.pace import AT_ONCE
from slackwater.shell import companions
from slackwater.shell import marks as module
from slackwater.shell.marks import A_PASS
from slackwater.shell.waking import AGAIN_S, MISSING_FOR_S
from tests.api.manifests import template
from tests.core.factories import pod
from tests.shell.fakes import KEY, group_object
from tests.shell.reconciler_stage import Stage


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

    monkeypatch.setattr(module, "marks_due", lambda world: [Mark(pod(0), rejoined=True)])
    monkeypatch.setattr(module, "write_mark", mark)
    stage.api.failures["apply PodDisruptionBudget"] = ClusterRefused("a policy forbids it")
    with pytest.raises(ClusterRefused):
        await stage.run()
    assert marked


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


async def test_pods_are_marked_a_few_at_a_time_and_the_next_pass_is_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand marks would hold up what is to be done about the group; and their answers show what no watch tells."""
    stage, marked = Stage(), list[Any]()
    await stage.run_to_rest()

    async def mark(*given: Any) -> Any:
        marked.append(given)
        return {"metadata": {"namespace": KEY.namespace, "name": "p", "uid": "u", "resourceVersion": str(len(marked))}}

    due = [Mark(pod(number), rejoined=True) for number in range(30)]
    monkeypatch.setattr(module, "marks_due", lambda _: due[len(marked) :])
    monkeypatch.setattr(module, "write_mark", mark)
    assert await stage.run() == AT_ONCE
    assert len(marked) == A_PASS
    assert await stage.run() == AT_ONCE
    assert len(marked) == 30
    assert await stage.run() != AT_ONCE


async def test_a_mark_that_waits_for_its_turn_has_a_pass_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """No watch brings one: the group may be at rest by then."""
    stage = Stage()
    await stage.run_to_rest()
    monkeypatch.setattr(module.Marks, "again_s", lambda self, key: 0.25)
    assert await stage.run() == 0.25


async def test_a_budget_that_is_asked_for_otherwise_is_applied_though_nobody_has_touched_it() -> None:
    """As in the first seconds, before its controller has written its status."""
    stage = Stage()
    await stage.run_to_rest()
    known = stage.api.objects["ConsumerGroup", *KEY]
    budget = {"disruptionBudget": {"maxUnavailable": 2}}
    stage.api.objects["ConsumerGroup", *KEY] = {**known, "spec": {**known["spec"], **budget}}
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, generation=2))
    await stage.run_to_rest()
    assert stage.api.objects["PodDisruptionBudget", *KEY]["spec"]["maxUnavailable"] == 2


async def test_what_was_found_right_is_not_compared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, compared = Stage(), list[str]()
    await stage.run_to_rest()
    for kind in (SERVICE, POD_DISRUPTION_BUDGET):
        stage.store.put(kind, stage.api.changed_by_somebody(kind, KEY))

    def counted(live: Any, wanted: Any) -> bool:
        compared.append(wanted["kind"])
        return holds(live, wanted)

    monkeypatch.setattr(companions, "holds", counted)
    for _ in range(3):
        await stage.run()
    assert compared == ["Service", "PodDisruptionBudget"]


async def test_a_stateful_set_whose_controller_makes_no_pod_is_woken_and_nobody_else_has_to_come() -> None:
    stage = Stage()
    first = await stage.run_to_rest()
    assert first is not None
    stage.later_s += MISSING_FOR_S
    stage.ask_nothing_more()
    again = await stage.run()
    assert stage.api.writes() == ["annotate StatefulSet"]
    assert again is not None
    assert again <= AGAIN_S
    stage.ask_nothing_more()
    await stage.run()
    assert stage.api.writes() == []


async def test_nobody_is_woken_in_a_pass_that_writes_the_stateful_set() -> None:
    """The act would be refused: what was looked at would be another version by then."""
    stage = Stage()
    await stage.run_to_rest()
    stage.later_s += MISSING_FOR_S
    edited = stage.api.objects["StatefulSet", *KEY]
    changed = {**edited, "spec": {**edited["spec"], "replicas": 1}}
    stage.api.objects["StatefulSet", *KEY] = changed
    stage.store.put(STATEFUL_SET, stage.api.changed_by_somebody(STATEFUL_SET, KEY, generation=2))
    stage.ask_nothing_more()
    await stage.run()
    assert "apply StatefulSet" in stage.api.writes()
    assert "annotate StatefulSet" not in stage.api.writes()


async def test_a_wake_up_that_is_refused_is_no_condition_of_the_group() -> None:
    """It would come and go with each try, once a minute."""
    stage = Stage()
    await stage.run_to_rest()
    stage.later_s += MISSING_FOR_S
    stage.ask_nothing_more()
    stage.api.failures["annotate StatefulSet"] = ClusterRefused("statefulsets may not be patched (403)")
    again = await stage.run()
    assert stage.api.writes() == ["annotate StatefulSet"]
    assert again is not None
    assert again > AT_ONCE


async def test_where_the_stateful_set_is_gone_nobody_waits_to_wake_it() -> None:
    """What the last pass had found due was due in each one after it."""
    stage = Stage()
    await stage.run_to_rest()
    stage.later_s += MISSING_FOR_S - 0.2
    await stage.run()
    gone = stage.api.objects.pop(("StatefulSet", *KEY))
    stage.store.drop(STATEFUL_SET, gone)
    stage.store.drop(KAFKA_CONNECTION, stage.api.objects.pop(("KafkaConnection", "default", "main")))
    await stage.run_to_rest()
    again = await stage.run()
    assert again is not None
    assert again > 1
