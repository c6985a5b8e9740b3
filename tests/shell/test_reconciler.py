"""One pass: what is written in which order, and what becomes of it when something fails at each step."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from slackwater.adapters.cluster.errors import (
    ClusterRefused,
    Conflict,
)
from slackwater.adapters.cluster.paths import (
    CONSUMER_GROUP,
    KAFKA_CONNECTION,
    POD,
    STATEFUL_SET,
)
from slackwater.api.annotations import FINALIZER, GROUP_LABEL, PAUSE
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
from slackwater.shell.events import HOLDS_AT_ONCE
from slackwater.shell.gathering import Gathering
from slackwater.shell.store import Key
from tests.core.factories import NOW, observation
from tests.core.plan.test_plan import rolling
from tests.shell.fakes import CONNECTION, KEY, connection_object, group_object
from tests.shell.reconciler_stage import Stage

CREATE = ["status ConsumerGroup", "apply Service", "apply PodDisruptionBudget", "apply StatefulSet"]


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


async def test_a_connection_that_somebody_corrects_as_its_status_is_written_wakes_all_its_groups() -> None:
    stage = Stage()
    stage.see(stage.api.add(CONSUMER_GROUP, group_object(name="refunds")))
    await stage.run_to_rest()
    stage.connections.seen = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", time.time())
    corrected = stage.api.changed_by_somebody(KAFKA_CONNECTION, CONNECTION, generation=2)  # no watch has told of it
    await stage.run()
    assert Key(KEY.namespace, "refunds") in stage.store.put(KAFKA_CONNECTION, corrected)
