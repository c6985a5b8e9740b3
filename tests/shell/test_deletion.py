"""Deletion: pods first, then members, then the object; and what it says while it waits."""

from __future__ import annotations

import time
from copy import deepcopy
from typing import Any

import pytest
import structlog
from structlog.testing import LogCapture

from slackwater.adapters.cluster.errors import Conflict, Forbidden, WebhookFailed
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, POD, STATEFUL_SET
from slackwater.adapters.kafka.errors import KafkaRefused
from slackwater.api.annotations import FINALIZER, GROUP_LABEL
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.acts import Act, kind_of
from slackwater.core.decision.reasons import Reason
from slackwater.core.deletion import KAFKA_AGAIN_S, PODS_AGAIN_S, RIGHTS_AGAIN_S, RIGHTS_COME_BACK_WITHIN_S
from slackwater.core.members.elsewhere import AGAIN_S
from slackwater.core.world.observation import Unobserved
from slackwater.shell.claims import Claims
from slackwater.shell.deletion import SAID_AFTER_S, Deletion, _Course
from slackwater.shell.store import Key, Store
from tests.core.factories import folded, member, members, observation, stranger, watched
from tests.shell import reconciler_stage
from tests.shell.fakes import KEY, FakeApi, FakeConnections, connection_object, group_object

UID = f"uid-of-{KEY.name}"


class Stage:
    def __init__(self, *, ran: bool = True, ended_here: bool = True, **group: Any) -> None:
        """`ran`: it had pods once, which its memory says; `ended_here`: they ended under this very process' eyes."""
        self.api, self.connections = FakeApi(), FakeConnections(seen=observation())
        self.api.add(CONSUMER_GROUP, group_object(**group))
        self.api.changed_by_somebody(CONSUMER_GROUP, KEY, deletionTimestamp="2026-01-01T00:00:00Z")
        self.api.add(KAFKA_CONNECTION, connection_object())
        self.taken_in: list[Any] = []
        api: Any = self.api
        connections: Any = self.connections
        if ran:
            self.remember(targetHash="abc")
        self.acts: list[Act] = []
        self.now = time.time()
        self.store = Store()
        claims = Claims(self.store, connections)
        self.deletion = Deletion(api, connections, claims, self.taken_in.append, lambda: self.now, self.saw_act)
        if ended_here:
            self.deletion._courses[KEY] = _Course(UID, saw_pods=True)

    def saw_act(self, key: Key, act: Act) -> None:
        self.acts.append(act)

    async def run(self, stale: Any = None) -> float | None:
        """`stale`: the object as the store has it, where that is not the newest."""
        obj = stale or self.api.objects["ConsumerGroup", *KEY]
        return await self.deletion.go_on(parse_consumer_group(obj), obj)

    def leave(self) -> None:
        """Nobody is in the group any more, and has not been for a while."""
        self.connections.seen = empty = observation(())
        self.connections.history = watched(empty)

    def refuse_to_delete(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def refused(*_: object) -> None:
            raise KafkaRefused("the group has members", Reason.NOT_AUTHORIZED)

        monkeypatch.setattr(self.connections.kafka, "delete_group", refused)

    def remember(self, **rollout: Any) -> None:
        """As somebody writes it."""
        obj = self.api.changed_by_somebody(CONSUMER_GROUP, KEY)
        self.api.add(CONSUMER_GROUP, {**obj, "status": {"rollout": rollout}})

    def add_set(self, name: str = KEY.name, owner: str = UID, replicas: int = 3, **metadata: Any) -> None:
        owners = [{"kind": "ConsumerGroup", "name": KEY.name, "uid": owner, "controller": True}] if owner else []
        usual = {"namespace": KEY.namespace, "name": name, "uid": f"uid-of-{name}", "resourceVersion": "3"}
        spec = {"template": {}, "replicas": replicas}
        self.api.add(STATEFUL_SET, {"metadata": usual | {"ownerReferences": owners} | metadata, "spec": spec})

    def add_pods(self, owner: str = UID) -> None:
        self.add_set(owner=owner)
        self.add_pod("payments-0", KEY.name)

    def add_pod(self, name: str, of: str, **metadata: Any) -> None:
        """`of`: the StatefulSet that controls it; empty: nobody."""
        owners = [{"kind": "StatefulSet", "name": of, "uid": f"uid-of-{of}", "controller": True}] if of else []
        usual = {"namespace": KEY.namespace, "name": name, "uid": f"uid-of-{name}", "ownerReferences": owners}
        usual |= {"creationTimestamp": "2026-01-01T00:00:00Z"}
        self.api.add(POD, {"metadata": usual | {"labels": {GROUP_LABEL: KEY.name}} | metadata})

    @property
    def is_gone(self) -> bool:
        return ("ConsumerGroup", *KEY) not in self.api.objects


async def test_members_stay_until_the_pods_are_gone() -> None:
    stage = Stage(ended_here=False)
    stage.add_pods()
    assert await stage.run() == PODS_AGAIN_S
    assert stage.api.writes() == ["delete StatefulSet"]
    assert await stage.run() == PODS_AGAIN_S  # the pod still ends
    assert stage.connections.kafka.removed == []
    del stage.api.objects["Pod", KEY.namespace, "payments-0"]
    assert await stage.run() is None
    assert stage.connections.kafka.removed == ["payments-0", "payments-1", "payments-2"]
    assert stage.is_gone


async def test_members_are_taken_out_where_they_were_seen_before() -> None:
    """In the Kafka cluster of that id, which is known in each pass."""
    stage = Stage()
    stage.remember(targetHash="abc", seenIn="KafkaConnection main in A")
    stage.connections.cluster_ids[KEY] = "A"
    stage.add_pods()
    running = {"name": "consumer", "state": {"running": {"startedAt": "2026-01-01T00:00:10Z"}}}
    at = {"podIP": "10.0.0.0", "containerStatuses": [running]}
    stage.api.objects["Pod", KEY.namespace, "payments-0"]["status"] = at
    stage.connections.seen = observation()
    assert await stage.run() == PODS_AGAIN_S
    del stage.api.objects["Pod", KEY.namespace, "payments-0"]
    assert await stage.run() is None
    assert stage.connections.kafka.removed == ["payments-0", "payments-1", "payments-2"]


async def test_members_of_pods_that_nobody_here_saw_are_left_to_their_sessions() -> None:
    """They may be those of the pods in another Kubernetes cluster, which has taken over; or the operator has started
    since ours ended, and who made the object again at once found their members in the group."""
    stage = Stage(ended_here=False)
    assert await stage.run() == AGAIN_S
    message = stage.api.objects["ConsumerGroup", *KEY]["status"]["conditions"][-1]["message"]
    assert "waiting for the sessions of consumer (instance id payments-0)" in message
    stage.now += 3600
    assert await stage.run() is None
    assert stage.connections.kafka.removed == []
    assert stage.is_gone


async def test_whose_id_another_process_took_before_the_pods_ended_is_left_alone() -> None:
    stage = Stage()
    stage.add_pods()
    running = {"name": "consumer", "state": {"running": {"startedAt": "2026-01-01T00:00:10Z"}}}
    stage.api.objects["Pod", KEY.namespace, "payments-0"]["status"] = {"containerStatuses": [running]}
    before, after = observation(at=stage.now - 32), observation((member(0, "x"), *members(1, 2)), at=stage.now - 30)
    stage.connections.seen, stage.connections.history = after, folded(before, after)
    assert await stage.run() == PODS_AGAIN_S
    del stage.api.objects["Pod", KEY.namespace, "payments-0"]
    assert await stage.run() is None
    assert stage.connections.kafka.removed == ["payments-1", "payments-2"]
    assert stage.is_gone


async def test_so_is_who_takes_it_as_they_end() -> None:
    stage = Stage()
    stage.add_pods()
    assert await stage.run() == PODS_AGAIN_S
    del stage.api.objects["Pod", KEY.namespace, "payments-0"]
    stage.connections.seen = observation((member(0, "x"), *members(1, 2)))
    assert await stage.run() is None
    assert stage.connections.kafka.removed == ["payments-1", "payments-2"]
    assert stage.is_gone


async def test_they_are_gone_as_soon_as_their_sessions_have_ended() -> None:
    stage = Stage(ended_here=False)
    assert await stage.run() == AGAIN_S
    stage.connections.seen = observation(())
    assert await stage.run() is None
    assert stage.is_gone


async def test_who_outlives_the_sessions_is_not_taken_out_by_whoever_follows_the_advice() -> None:
    """With DeleteGroup it says who lives elsewhere, and how to keep the group: then they are kept, too."""
    stage = Stage(deletionPolicy="DeleteGroup")
    assert await stage.run() == AGAIN_S
    stage.now += 3600
    assert await stage.run() == AGAIN_S
    status = stage.api.objects["ConsumerGroup", *KEY]["status"]
    assert "set spec.deletionPolicy to Retain" in status["conditions"][-1]["message"]
    obj = stage.api.changed_by_somebody(CONSUMER_GROUP, KEY)
    stage.api.add(CONSUMER_GROUP, {**obj, "spec": {**obj["spec"], "deletionPolicy": "Retain"}})
    assert await stage.run() is None
    assert (stage.connections.kafka.removed, stage.connections.kafka.deleted) == ([], [])
    assert stage.is_gone


async def test_pods_whose_stateful_set_was_deleted_without_them_stay_with_their_members() -> None:
    """Whether they were meant to, as with `--cascade=orphan`, nothing tells any more."""
    stage = Stage()
    stage.add_set(name="payments-alt")
    stage.add_pod("payments-0", of="")
    stage.add_pod("payments-1", of="", deletionTimestamp=timestamp(stage.now))
    stage.add_pod("payments-alt-2", of="payments-alt")
    assert await stage.run() == PODS_AGAIN_S
    assert stage.api.writes() == ["delete StatefulSet"]
    assert stage.connections.kafka.removed == []
    for name in ("payments-1", "payments-alt-2"):
        del stage.api.objects["Pod", KEY.namespace, name]
    assert await stage.run() is None
    assert stage.connections.kafka.removed == ["payments-1", "payments-2"]
    assert stage.is_gone
    assert [event["reason"] for event in stage.api.events] == ["OrphanedPods"]


async def test_pods_of_others_that_have_the_groups_label_are_neither_ended_nor_waited_for() -> None:
    stage = Stage()
    stage.add_pod("payments-6d5f-x2x", of="payments-6d5f")
    stage.add_pod("payments-debug", of="")
    assert await stage.run() is None
    assert stage.api.writes() == ["finalizers ConsumerGroup"]
    assert stage.is_gone


async def test_where_it_never_had_a_pod_one_that_is_called_so_is_somebody_elses() -> None:
    stage = Stage(ran=False)
    stage.add_pod("payments-0", of="")
    assert await stage.run() is None
    assert stage.api.writes() == ["finalizers ConsumerGroup"]
    assert stage.is_gone


@pytest.mark.parametrize("collector", ["has not begun", "has ended"])
async def test_what_is_orphaned_stays_with_its_pods_and_members(collector: str) -> None:
    """`kubectl delete --cascade=orphan`: the garbage collector takes owners off, and then its finalizer."""
    begun = collector == "has ended"
    stage = Stage(finalizers=(FINALIZER,) if begun else (FINALIZER, "orphan"))
    stage.add_pods()
    if begun:
        stage.api.changed_by_somebody(STATEFUL_SET, KEY, ownerReferences=[], labels={GROUP_LABEL: KEY.name})
    assert await stage.run() is None
    assert stage.api.writes() == ["finalizers ConsumerGroup"]
    assert stage.connections.kafka.removed == []


async def test_members_of_somebody_elses_stateful_set_are_not_taken_out() -> None:
    """It has the group's name, and so have its members, but it was never adopted."""
    stage = Stage(ran=False)
    stage.add_pods(owner="somebody")
    assert await stage.run() is None
    assert stage.api.writes() == ["finalizers ConsumerGroup"]
    assert stage.connections.kafka.removed == []
    assert stage.is_gone


async def test_ours_are_taken_out_although_somebody_else_has_made_a_stateful_set_of_the_groups_name() -> None:
    """Ours had the other name, and is gone. Who has an id that only theirs gives stays."""
    stage = Stage()
    stage.add_set(owner="", replicas=8)
    stage.connections.seen = observation(members(*range(8)))
    stage.remember(targetHash="abc")
    assert await stage.run() is None
    assert stage.connections.kafka.removed == ["payments-0", "payments-1", "payments-2"]


async def test_a_group_that_never_had_a_pod_is_somebody_elses() -> None:
    """A manifest was tried for a group that runs elsewhere, was refused, and is deleted again."""
    stage = Stage(ran=False, deletionPolicy="DeleteGroup")
    assert await stage.run() is None
    assert (stage.connections.kafka.removed, stage.connections.kafka.deleted) == ([], [])
    assert stage.is_gone


@pytest.mark.parametrize("reason", [Reason.KAFKA_UNREACHABLE, Reason.CONNECTION_INVALID])
async def test_a_group_that_never_had_a_pod_asks_nothing_of_kafka(reason: Reason) -> None:
    """Its address was mistyped, or its Secret is not there, which is why it never had one."""
    stage = Stage(ran=False)
    stage.connections.seen = Unobserved(reason, "broker:9092 does not answer", 0.0)
    assert await stage.run() is None
    assert (stage.connections.looks, stage.api.asked) == (0, ["finalizers ConsumerGroup"])
    assert stage.is_gone


async def test_a_group_of_another_type_keeps_no_object_and_is_not_touched() -> None:
    """A Streams or share group came to have its id."""
    stage = Stage(deletionPolicy="DeleteGroup")
    stage.connections.seen = Unobserved(Reason.GROUP_OF_ANOTHER_TYPE, "group payments is a streams group", 0.0)
    assert await stage.run() is None
    assert (stage.connections.kafka.removed, stage.connections.kafka.deleted) == ([], [])
    assert [event["reason"] for event in stage.api.events] == ["GroupOfAnotherType"]
    assert stage.is_gone


async def test_only_our_members_are_taken_out() -> None:
    stage = Stage()
    theirs = stranger(instance_id="reports-0")
    stage.connections.seen = observation((*members(0), theirs, stranger()))
    await stage.run()
    assert stage.connections.kafka.removed == ["payments-0"]
    assert stage.connections.kafka.deleted == []


async def test_the_group_is_deleted_where_that_was_asked_for() -> None:
    stage = Stage(deletionPolicy="DeleteGroup")
    assert await stage.run() == AGAIN_S  # until the sessions have ended
    assert (stage.connections.kafka.removed, stage.connections.kafka.deleted) == ([], [])
    stage.leave()
    assert await stage.run() is None
    assert stage.connections.kafka.deleted == ["payments"]


async def test_who_stays_in_a_group_that_is_to_be_deleted_lives_elsewhere_and_keeps_it() -> None:
    """The same ConsumerGroup runs in another Kubernetes cluster: its members have the same ids."""
    stage = Stage(deletionPolicy="DeleteGroup")
    for _ in range(3):
        assert await stage.run() == AGAIN_S
    assert (stage.connections.kafka.removed, stage.connections.kafka.deleted) == ([], [])
    assert stage.api.events == []  # a session may have to end yet
    assert not stage.is_gone


async def test_while_kafka_is_away_it_waits_and_says_so_once() -> None:
    stage = Stage()
    stage.connections.seen = Unobserved(Reason.KAFKA_UNREACHABLE, "broker:9092 does not answer", 0.0)
    assert await stage.run() == KAFKA_AGAIN_S
    assert await stage.run() == KAFKA_AGAIN_S
    assert stage.api.asked == ["status ConsumerGroup", "create Event"]
    status = stage.api.objects["ConsumerGroup", *KEY]["status"]
    assert status["phase"] == "Deleting"
    assert FINALIZER in status["conditions"][-1]["message"]
    stage.connections.seen = observation()
    assert await stage.run() is None
    assert stage.is_gone


async def test_a_first_look_that_is_still_to_come_is_waited_for_without_a_word() -> None:
    stage = Stage()
    stage.connections.seen = Unobserved(Reason.OBSERVATION_INCOMPLETE, "the group has not been looked at yet", 0.0)
    stage.connections.first_look_is_awaited = True
    assert await stage.run() == KAFKA_AGAIN_S
    assert stage.api.asked == []


async def test_without_a_connection_the_group_goes_all_the_same() -> None:
    stage = Stage()
    del stage.api.objects["KafkaConnection", KEY.namespace, "main"]
    assert await stage.run() is None
    assert [event["reason"] for event in stage.api.events] == ["ConnectionMissing"]
    assert stage.api.asked == ["create Event", "finalizers ConsumerGroup"]  # afterwards nobody would make up for it
    assert stage.is_gone


@pytest.mark.parametrize("policy", ["Retain", "DeleteGroup"])
async def test_a_group_that_its_connection_does_not_allow_goes_and_nobody_is_asked_about_it(policy: str) -> None:
    stage = Stage(deletionPolicy=policy)
    stage.api.objects["KafkaConnection", KEY.namespace, "main"]["spec"]["groups"] = ["orders-"]
    assert await stage.run() is None
    assert [event["reason"] for event in stage.api.events] == ["GroupNotAllowed"]
    assert (stage.connections.kafka.removed, stage.connections.kafka.deleted) == ([], [])
    assert stage.connections.used == []
    assert stage.is_gone


async def test_what_is_gone_does_not_come_back_into_the_store() -> None:
    """The watch may tell that it is gone before the answer to our own request arrives."""
    stage = Stage()
    await stage.run()
    assert stage.taken_in == []


async def test_other_finalizers_are_kept() -> None:
    stage = Stage(finalizers=(FINALIZER, "backup.example/done"))
    assert await stage.run() is None
    assert stage.api.objects["ConsumerGroup", *KEY]["metadata"]["finalizers"] == ["backup.example/done"]
    assert await stage.run() is None
    assert stage.api.writes() == ["finalizers ConsumerGroup"]


async def test_members_of_pods_that_somebody_made_by_scaling_our_stateful_set_are_taken_out_too() -> None:
    """By the time that members are taken out, the StatefulSet that gave them their ids is gone."""
    stage = Stage()
    stage.add_pods()
    stage.api.objects["StatefulSet", *KEY]["spec"]["replicas"] = 5
    stage.connections.seen = observation(members(0, 1, 2, 3, 4))
    assert await stage.run() == PODS_AGAIN_S
    assert stage.api.writes() == ["status ConsumerGroup", "delete StatefulSet"]
    del stage.api.objects["Pod", KEY.namespace, "payments-0"]
    await stage.run()
    assert stage.connections.kafka.removed == [f"payments-{ordinal}" for ordinal in range(5)]


async def test_what_kafka_refuses_is_said_and_the_group_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(deletionPolicy="DeleteGroup")
    stage.leave()
    stage.refuse_to_delete(monkeypatch)
    assert await stage.run() == KAFKA_AGAIN_S
    assert [event["reason"] for event in stage.api.events] == ["NotAuthorized"]
    assert not stage.is_gone


async def test_each_act_is_counted() -> None:
    stage = Stage(deletionPolicy="DeleteGroup")
    await stage.run()
    stage.leave()
    await stage.run()
    assert [kind_of(act) for act in stage.acts] == ["delete group", "let go"]


async def test_kafka_is_left_alone_while_pods_end() -> None:
    stage = Stage()
    stage.add_pods()
    for _ in range(2):
        await stage.run()
    assert stage.connections.looks == 0


async def test_a_pod_that_does_not_end_is_said_once_in_a_condition_and_an_event() -> None:
    stage = Stage()
    stage.add_pods()
    await stage.run()
    stage.api.changed_by_somebody(POD, Key(KEY.namespace, "payments-0"), deletionTimestamp=timestamp(stage.now - 300))
    for _ in range(3):
        assert await stage.run() == PODS_AGAIN_S
    status = stage.api.objects["ConsumerGroup", *KEY]["status"]
    assert (status["phase"], status["conditions"][-1]["reason"]) == ("Deleting", "Draining")
    assert "waiting for payments-0 to end" in status["conditions"][-1]["message"]
    assert stage.api.asked == ["delete StatefulSet", "status ConsumerGroup", "create Event"]


async def test_the_memory_is_never_written_over_a_newer_one() -> None:
    stage = Stage()
    stage.add_set(replicas=5)
    stale = stage.api.objects["ConsumerGroup", *KEY]
    stage.remember(targetHash="newer")
    with pytest.raises(Conflict):
        await stage.run(stale)
    newest = stage.api.objects["ConsumerGroup", *KEY]
    assert newest["status"]["rollout"] == {"targetHash": "newer"}
    assert stage.taken_in == [newest]
    assert ("StatefulSet", *KEY) in stage.api.objects
    assert await stage.run() == PODS_AGAIN_S
    assert stage.taken_in[-1]["status"]["rollout"] == {"targetHash": "newer", "idsGiven": 5, "phase": "None"}


async def test_why_it_waits_is_never_written_over_a_newer_memory_either() -> None:
    stage = Stage()
    stage.connections.seen = Unobserved(Reason.KAFKA_UNREACHABLE, "broker:9092 does not answer", 0.0)
    stale = stage.api.objects["ConsumerGroup", *KEY]
    stage.remember(targetHash="newer")
    with pytest.raises(Conflict):
        await stage.run(stale)
    assert await stage.run() == KAFKA_AGAIN_S
    assert stage.api.objects["ConsumerGroup", *KEY]["status"]["rollout"] == {"targetHash": "newer"}


async def test_a_pass_that_writes_the_memory_does_not_conflict_with_itself() -> None:
    """Ours was scaled by somebody, and has the other name; one that was given back has the group's."""
    stage = Stage()
    stage.add_set(owner="", labels={GROUP_LABEL: KEY.name})
    stage.add_set(f"{KEY.name}-alt", replicas=5)
    assert await stage.run() == PODS_AGAIN_S
    assert stage.api.writes() == ["status ConsumerGroup", "delete StatefulSet"]
    assert await stage.run() is None
    assert stage.is_gone


async def test_for_two_stateful_sets_the_memory_is_written_once() -> None:
    stage = Stage()
    for name in (KEY.name, f"{KEY.name}-alt"):
        stage.add_set(name, replicas=5)
    assert await stage.run() == PODS_AGAIN_S
    assert stage.api.writes() == ["status ConsumerGroup", "delete StatefulSet", "delete StatefulSet"]


async def test_what_is_orphaned_is_let_go_although_its_memory_cannot_be_read() -> None:
    stage = Stage(finalizers=(FINALIZER, "orphan"))
    stage.add_pods()
    stage.remember(phase="FromTheFuture")
    assert await stage.run() is None
    assert stage.api.writes() == ["finalizers ConsumerGroup"]


@pytest.mark.parametrize(
    ("scene", "reads"),
    [
        ("orphaned", {}),
        ("somebody else's", {"statefulsets": 2}),
        ("ours", {"statefulsets": 2, "pods": 1}),
        ("pods end", {"statefulsets": 2, "pods": 1}),
        ("all is gone", {"statefulsets": 2, "pods": 1, "kafkaconnections": 1}),
    ],
)
async def test_each_pass_reads_what_it_needs_and_no_more(scene: str, reads: dict[str, int]) -> None:
    """What stands in a later step's way, such as a right that is missing, is not in the way of an earlier one.

    The pods of ours are read before it goes: which ids they have is remembered.
    """
    finalizers = (FINALIZER, "orphan") if scene == "orphaned" else (FINALIZER,)
    stage = Stage(ran=scene != "somebody else's", finalizers=finalizers)
    if scene != "all is gone":
        stage.add_pods(owner="somebody" if scene == "somebody else's" else UID)
    if scene == "pods end":
        del stage.api.objects["StatefulSet", *KEY]
    await stage.run()
    assert stage.api.requests == {("GET", plural): count for plural, count in reads.items()}


async def test_the_log_says_which_members_were_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    captured = LogCapture()  # whatever level another test has set for the whole process
    everything = structlog.make_filtering_bound_logger(0)
    log = structlog.wrap_logger(None, processors=[captured], wrapper_class=everything)
    monkeypatch.setattr("slackwater.shell.deletion._log", log)
    await Stage().run()
    assert [(each["act"], each["members"]) for each in captured.entries] == [
        ("remove members", ["payments-0", "payments-1", "payments-2"]),
        ("let go", None),
    ]


async def test_without_a_usable_connection_it_waits_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    monkeypatch.setattr(stage.connections, "admin", lambda key: None)
    assert await stage.run() == KAFKA_AGAIN_S
    [event] = stage.api.events
    assert event["reason"] == "ConnectionInvalid"
    assert "there is no usable connection" in event["message"]


async def test_where_its_rights_went_with_the_namespace_it_lets_the_newest_version_go() -> None:
    """The watch has ended, too: what the store has is old, and the API server refuses a patch of that."""
    stage = Stage()
    old = deepcopy(stage.api.objects["ConsumerGroup", *KEY])
    stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, labels={"changed": "since"})
    stage.api.forbidden = {STATEFUL_SET.name, POD.name, KAFKA_CONNECTION.name}
    assert await stage.run(old) == RIGHTS_AGAIN_S
    stage.now += RIGHTS_COME_BACK_WITHIN_S
    assert await stage.run(old) is None
    assert stage.api.writes() == ["finalizers ConsumerGroup"]
    assert [event["reason"] for event in stage.api.events] == ["ClusterRefused"]
    assert stage.is_gone


async def test_rights_that_come_back_are_waited_for() -> None:
    stage = Stage()
    stage.add_pods()
    for _ in range(3):  # however long ago it was deleted: each refusal has its own minute
        stage.api.forbidden = {STATEFUL_SET.name}
        assert await stage.run() == RIGHTS_AGAIN_S
        stage.now += RIGHTS_COME_BACK_WITHIN_S
        stage.api.forbidden = set()
        assert await stage.run() == PODS_AGAIN_S
    assert stage.api.writes() == ["delete StatefulSet"]


def beside(stage: Stage, name: str = "reports", groupId: str = KEY.name, **metadata: Any) -> None:  # noqa: N803
    """Another ConsumerGroup, of the same KafkaConnection."""
    policy = metadata.pop("deletionPolicy", "Retain")
    obj = group_object(name=name, groupId=groupId, deletionPolicy=policy)
    stage.store.put(CONSUMER_GROUP, {**obj, "metadata": {**obj["metadata"], **metadata}})


async def test_the_group_stays_where_another_consumer_group_claims_it_although_nobody_is_in_it() -> None:
    """It is scaled to nothing for maintenance: its offsets went with the one that nobody needed."""
    stage = Stage(deletionPolicy="DeleteGroup")
    beside(stage)
    stage.connections.seen = observation((*members(0), stranger(instance_id="reports-0")))
    assert await stage.run() is None
    assert (stage.connections.kafka.removed, stage.connections.kafka.deleted) == (["payments-0"], [])
    [event] = stage.api.events
    assert (event["type"], event["reason"]) == ("Warning", "GroupIdShared")
    assert event["message"].endswith(": ConsumerGroup default/reports has the same groupId")
    assert stage.is_gone


ENDING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
GOES_WITH_IT = {**ENDING, "deletionPolicy": "DeleteGroup"}


async def test_the_group_stays_for_one_that_is_deleted_as_well_and_retains_it() -> None:
    """It may be made again, and go on with its offsets."""
    stage = Stage(deletionPolicy="DeleteGroup")
    beside(stage, **ENDING)
    stage.leave()
    assert await stage.run() is None
    assert stage.connections.kafka.deleted == []


@pytest.mark.parametrize(
    "other",
    [{"groupId": "another"}, GOES_WITH_IT, {"name": KEY.name}],
    ids=["another groupId", "it is being deleted, too", "the group itself"],
)
async def test_the_group_is_deleted_where_no_other_is_there_to_stay(other: dict[str, str]) -> None:
    stage = Stage(deletionPolicy="DeleteGroup")
    beside(stage, **other)
    stage.leave()
    assert await stage.run() is None
    assert stage.connections.kafka.deleted == ["payments"]
    assert stage.api.events == []


@pytest.mark.parametrize(
    ("told", "deleted"),
    [({}, []), ({"payments": "A"}, []), ({"payments": "A", "staging": "B"}, ["payments"])],
    ids=["nobody told", "the other's brokers have not told", "two clusters"],
)
async def test_the_group_is_deleted_beside_one_of_its_id_once_that_is_known_to_be_elsewhere(
    told: dict[str, str], deleted: list[str]
) -> None:
    stage = Stage(deletionPolicy="DeleteGroup")
    beside(stage, "staging", namespace="staging")
    stage.leave()
    connection = {**connection_object(), "spec": {"bootstrapServers": "kafka.staging:9092"}}
    stage.store.put(KAFKA_CONNECTION, {**connection, "metadata": {**connection["metadata"], "namespace": "staging"}})
    spaces = {"payments": "default", "staging": "staging"}
    stage.connections.cluster_ids = {Key(spaces[name], name): cluster for name, cluster in told.items()}
    assert await stage.run() is None
    assert stage.connections.kafka.deleted == deleted
    assert [("it is not known whether" in each["message"]) for each in stage.api.events] == [True] * (not deleted)


async def test_a_group_that_was_let_go_is_not_deleted_once_more() -> None:
    """The watch has not told that it is gone, and another pass was in the queue: by then somebody else may have the
    group."""
    stage = Stage(deletionPolicy="DeleteGroup")
    stage.leave()
    in_the_store = deepcopy(stage.api.objects["ConsumerGroup", *KEY])
    for _ in range(2):
        assert await stage.run(in_the_store) is None
    assert stage.connections.kafka.deleted == ["payments"]
    assert [kind_of(act) for act in stage.acts] == ["delete group", "let go"]
    another = deepcopy(in_the_store)
    another["metadata"]["uid"] = "another"
    stage.api.add(CONSUMER_GROUP, another)
    await stage.run()
    assert stage.connections.kafka.deleted == ["payments", "payments"]


@pytest.mark.parametrize(("policy", "says"), [("Retain", []), ("DeleteGroup", ["KafkaUnreachable"])])
async def test_a_group_none_of_whose_pods_ever_ran_goes_without_kafka(policy: str, says: list[str]) -> None:
    """A mistyped address, and an image that cannot be pulled: it waited for ever."""
    stage = Stage(deletionPolicy=policy)
    stage.remember(targetHash="abc", idsGiven=3, neverRan=True)
    stage.connections.seen = Unobserved(Reason.KAFKA_UNREACHABLE, "broker:9092 does not answer", 0.0)
    assert await stage.run() is None
    assert [event["reason"] for event in stage.api.events] == says
    assert stage.is_gone


async def test_a_pod_that_ran_while_it_ended_is_remembered_and_its_member_waited_for() -> None:
    """It came up after the last pass, and once it is gone nothing else tells."""
    stage = Stage()
    stage.remember(targetHash="abc", idsGiven=3, neverRan=True)
    stage.connections.seen = Unobserved(Reason.KAFKA_UNREACHABLE, "broker:9092 does not answer", 0.0)
    stage.add_pod("payments-0", KEY.name, deletionTimestamp=timestamp(stage.now))
    ended = {"name": "consumer", "restartCount": 0, "state": {"terminated": {"exitCode": 0}}}
    stage.api.objects["Pod", KEY.namespace, "payments-0"]["status"] = {"containerStatuses": [ended]}
    assert await stage.run() == PODS_AGAIN_S
    assert stage.api.asked == ["status ConsumerGroup"]
    assert "neverRan" not in stage.api.objects["ConsumerGroup", *KEY]["status"]["rollout"]
    del stage.api.objects["Pod", KEY.namespace, "payments-0"]
    assert await stage.run() == KAFKA_AGAIN_S
    assert not stage.is_gone


async def test_what_is_remembered_is_written_with_why_it_waits_and_that_is_said_once() -> None:
    stage = Stage()
    stage.remember(targetHash="abc", idsGiven=3, neverRan=True)
    stage.add_pod("payments-0", KEY.name, deletionTimestamp=timestamp(stage.now - 300))
    ran = {"name": "consumer", "restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    stage.api.objects["Pod", KEY.namespace, "payments-0"]["status"] = {"containerStatuses": [ran]}
    for _ in range(2):
        assert await stage.run() == PODS_AGAIN_S
    assert stage.api.asked == ["status ConsumerGroup", "create Event"]
    status = stage.api.objects["ConsumerGroup", *KEY]["status"]
    assert (status["phase"], "neverRan" in status["rollout"]) == ("Deleting", False)


async def test_of_one_whose_finalizer_somebody_took_off_nothing_stays() -> None:
    stage = Stage()
    await stage.run()
    assert stage.deletion._courses
    stage.deletion.forget(KEY)
    assert not stage.deletion._courses


async def test_what_was_seen_of_one_is_not_taken_for_another_of_its_name() -> None:
    stage = Stage()
    await stage.run()
    again = parse_consumer_group({**group_object(), "metadata": {**group_object()["metadata"], "uid": "again"}})
    assert not stage.deletion._course_of(again).saw_pods


async def test_what_the_api_server_refuses_is_said_with_the_way_on_and_no_longer_than_it_lasts() -> None:
    """By a policy that lets nobody delete StatefulSets, say: nothing else would tell why it takes so long."""
    stage = reconciler_stage.Stage()
    await stage.run_to_rest()
    owner = {"kind": "StatefulSet", "name": KEY.name, "uid": "uid-of-StatefulSet", "controller": True}
    named: dict[str, Any] = {"name": f"{KEY.name}-0", "namespace": KEY.namespace, "uid": "pod", "resourceVersion": "50"}
    named |= {
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {GROUP_LABEL: KEY.name},
        "ownerReferences": [owner],
    }
    spec = {"containers": [{"name": "c", "image": "i"}]}
    stage.api.add(POD, {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": spec, "status": {}})
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, deletionTimestamp="2026-01-01T00:00:00Z"))
    refused = Forbidden("statefulsets payments: deletion is blocked by policy (403)")
    for at_s in (0.0, SAID_AFTER_S - 1):
        stage.later_s, stage.api.failures["delete StatefulSet"] = at_s, refused
        with pytest.raises((Forbidden, Conflict)):  # a webhook may be away for a moment: it is tried again soon
            await stage.run()
    assert stage.condition("Degraded")["status"] == "False"
    stage.later_s, stage.api.failures["delete StatefulSet"] = SAID_AFTER_S + 1, refused
    assert await stage.run() == KAFKA_AGAIN_S
    said = stage.condition("Degraded")
    assert (said["status"], said["reason"]) == ("True", "ClusterRefused")
    assert said["message"].startswith("what is left cannot be done: statefulsets payments: deletion is blocked")
    assert "remove the finalizer" in said["message"]
    again = Forbidden("statefulsets payments: deletion is blocked by policy, says request 7 (403)")
    stage.api.failures["delete StatefulSet"], written = again, stage.api.asked.count("status ConsumerGroup")
    assert await stage.run() == KAFKA_AGAIN_S
    assert stage.condition("Degraded") == said, "each try says it in its own words, and people read it once"
    assert stage.api.asked.count("status ConsumerGroup") == written
    stage.api.failures["delete StatefulSet"] = WebhookFailed("failed calling webhook")
    await stage.run()
    assert "failed calling webhook" in stage.condition("Degraded")["message"], "it is another reason"
    await stage.run()
    assert ("StatefulSet", *KEY) not in stage.api.objects, "the policy is gone"
    assert ("ConsumerGroup", *KEY) in stage.api.objects, "its pod has not ended yet"
    assert stage.condition("Degraded")["status"] == "False", "nobody must take its members for lost now"
