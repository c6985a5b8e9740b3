"""A group that is deleted: each step as a table, and all of them in their order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import FINALIZER
from slackwater.core.decision.acts import (
    Act,
    DeleteGroup,
    DeleteWorkload,
    LetGo,
    RemoveMembers,
    kind_of,
)
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.remains import Remains
from slackwater.core.deletion import (
    KAFKA_AGAIN_S,
    PODS_AGAIN_S,
    PODS_LATE_S,
    RIGHTS_COME_BACK_WITHIN_S,
    cannot_leave,
    is_kafkas_turn,
    members_of_ours,
    plan_deletion,
)
from slackwater.core.world.claims import Claim
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation, Unobserved
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World
from tests.core.factories import (
    NAME,
    NOW,
    folded,
    group,
    member,
    members,
    observation,
    pod,
    stranger,
    watched,
    workload,
    world,
)

RUN = RolloutMemory(phase=RolloutPhase.COMPLETE, target_hash="abc", ids_given=3)
OURS, SECOND = workload(), workload(name=f"{NAME}-alt", uid="second")
THEIRS = workload(owner_uid="", uid="theirs")
LABELLED = frozenset({NAME})
NOTHING_LEFT = Remains()
EMPTY = observation(())
AWAY = Unobserved(Reason.KAFKA_UNREACHABLE, "broker:9092 does not answer", NOW)
ANOTHER_TYPE = Unobserved(Reason.GROUP_OF_ANOTHER_TYPE, "group payments is a streams group", NOW)


def ending(memory: RolloutMemory = RUN, orphan: bool = False, **changes: Any) -> World:
    """A group that ran three pods and is being deleted; its pods have ended, their members are in the group."""
    deleted = group(**changes.pop("spec", {}))
    finalizers = (FINALIZER, "orphan") if orphan else (FINALIZER,)
    deleted = deleted.model_copy(update={"metadata": deleted.metadata.model_copy(update={"finalizers": finalizers})})
    return world(**({"group": deleted, "memory": memory, "workload": None, "pods": ()} | changes))


def removed(world: World, remains: Remains = NOTHING_LEFT) -> list[str]:
    act = plan_deletion(world, remains).act
    return [ref.instance_id for ref in act.members] if isinstance(act, RemoveMembers) else []


@pytest.mark.parametrize(
    ("memory", "orphan", "sets", "labelled", "stays"),
    [
        (RUN, False, (), frozenset(), False),
        (RUN, False, (OURS,), LABELLED, False),
        (RUN, True, (OURS,), LABELLED, True),
        (RUN, False, (THEIRS,), LABELLED, True),
        (RUN, False, (THEIRS,), frozenset(), False),
        (RUN, False, (THEIRS, SECOND), LABELLED, False),
        (RolloutMemory(), False, (THEIRS,), frozenset(), True),
        (RolloutMemory(), False, (replace(THEIRS, name=f"{NAME}-alt"),), frozenset(), False),
        (RolloutMemory(), False, (), frozenset(), True),
    ],
    ids=[
        "nothing is left",
        "ours, and labelled",
        "the garbage collector still takes our name off",
        "it has taken it off",
        "somebody made one of the group's name after ours had gone",
        "somebody's, while one of ours is there",
        "never adopted",
        "never adopted, under the name of a second one that we never had",
        "nothing was ever made",
    ],
)
def test_what_is_not_ours_stays_with_its_pods_and_members(
    memory: RolloutMemory, orphan: bool, sets: tuple[Workload, ...], labelled: frozenset[str], stays: bool
) -> None:
    decided = plan_deletion(ending(memory, orphan), Remains(sets, labelled, pods=bool(sets)))
    assert isinstance(decided.act, LetGo) is stays


def test_the_stateful_sets_go_one_by_one_and_exactly_those() -> None:
    remains = Remains((OURS, SECOND, workload(name="x", uid="x", owner_uid="somebody")))
    deleted = []
    while isinstance(act := plan_deletion(ending(), remains).act, DeleteWorkload):
        deleted.append((act.name, act.uid))
        remains = remains.after(act)
    assert deleted == [(OURS.name, OURS.uid), (SECOND.name, SECOND.uid)]


@pytest.mark.parametrize(
    ("made", "pods", "remembered"),
    [(3, 3, 3), (5, 3, 5), (3, 5, 5), (1, 1, 3)],
    ids=["as we made it", "scaled by somebody", "a pod that is about to end", "scaled down by somebody"],
)
def test_the_ids_that_a_stateful_set_gave_are_remembered_before_it_goes(made: int, pods: int, remembered: int) -> None:
    """Afterwards nothing says that they were given."""
    seen = ending(workload=workload(replicas=made), pods=tuple(map(pod, range(pods))))
    decided = plan_deletion(seen, Remains((OURS,)))
    assert isinstance(decided.act, DeleteWorkload)
    assert decided.memory.ids_given == remembered
    last = members(*range(6))
    gone = ending(decided.memory, kafka=observation(last))
    assert removed(gone) == [f"{NAME}-{ordinal}" for ordinal in range(remembered)]


@pytest.mark.parametrize(
    ("when_deleted", "reason", "words"),
    [
        ("Retain", Reason.VOLUME_CLAIMS_STAY, "kubectl delete pvc -n default -l slackwater.dev/group=payments"),
        ("Delete", Reason.VOLUME_CLAIMS_GO, "(state) are deleted with it, as whenDeleted says"),
    ],
)
def test_people_learn_what_becomes_of_the_volumes(when_deleted: str, reason: Reason, words: str) -> None:
    fixed = {"volumeClaimTemplates": [{"metadata": {"name": "state"}}]}
    ours = workload(fixed=fixed, retention={"whenDeleted": when_deleted, "whenScaled": "Retain"})
    (note,) = plan_deletion(ending(workload=ours), Remains((ours,))).notes
    assert (note.reason, note.message.endswith(words)) == (reason, True)


def test_claims_of_an_adopted_one_are_found_by_its_own_labels() -> None:
    labels = {"matchLabels": {"tier": "back", "app": "payments"}}
    ours = workload(fixed={"volumeClaimTemplates": [{"metadata": {"name": "state"}}], "selector": labels})
    (note,) = plan_deletion(ending(workload=ours), Remains((ours,))).notes
    assert note.message.endswith("-l app=payments,tier=back")


def test_a_memory_that_says_enough_is_not_written_again() -> None:
    """Each write of a status is a request more for each group that goes."""
    seen = ending(replace(RUN, ids_given=0), workload=workload(replicas=2), pods=(pod(0), pod(1)))
    assert plan_deletion(seen, Remains((OURS,))).memory == seen.memory


def test_members_stay_until_the_pods_have_ended() -> None:
    decided = plan_deletion(ending(), Remains(pods=True))
    assert decided.act is None
    assert decided.hold == Hold(Reason.DRAINING, "waiting for the pods to end", PODS_AGAIN_S)
    assert decided.notes == ()


def test_a_pod_that_should_have_ended_is_named_with_what_helps() -> None:
    """On a node that is lost it never ends by itself, and the object would wait in silence."""
    in_time, late = NOW - PODS_LATE_S, NOW - PODS_LATE_S - 0.1
    assert plan_deletion(ending(), Remains(pods=True, end_by={"payments-0": in_time})).notes == ()
    decided = plan_deletion(ending(), Remains(pods=True, end_by={"payments-0": in_time, "payments-1": late}))
    assert decided.hold is not None and "waiting for payments-1 to end" in decided.hold.message
    assert "--force" in decided.hold.message
    assert "where its containers have ended, a finalizer of the pod keeps it" in decided.hold.message
    assert decided.notes == (Note(Reason.DRAINING, decided.hold.message, warning=True),)


def left_alone(deletion_policy: str = "Retain", members_taken_out: bool = False) -> Decision:
    """Pod 0 has lost its StatefulSet, and lives; pods 1 and 2 have ended."""
    kafka = observation((member(0), *(() if members_taken_out else members(1, 2))))
    seen = ending(kafka=kafka, spec={"deletionPolicy": deletion_policy})
    return plan_deletion(seen, Remains(alone=frozenset({"payments-0"})))


def test_pods_that_no_stateful_set_has_any_more_stay_with_their_members() -> None:
    act = left_alone().act
    assert isinstance(act, RemoveMembers)
    assert {ref.instance_id for ref in act.members} == {"payments-1", "payments-2"}


@pytest.mark.parametrize("policy", ["Retain", "DeleteGroup"])
def test_they_are_named_when_the_rest_has_gone(policy: str) -> None:
    decided = left_alone(policy, members_taken_out=True)
    assert isinstance(decided.act, LetGo)
    (note,) = decided.notes
    assert (note.reason, note.warning) == (Reason.ORPHANED_PODS, True)
    assert note.message.endswith("kubectl delete pod -n default payments-0")


def test_they_are_somebody_elses_where_the_group_never_had_a_pod() -> None:
    """Somebody put its label on a pod that is called so."""
    assert isinstance(plan_deletion(ending(RolloutMemory()), Remains(alone=frozenset({"payments-0"}))).act, LetGo)


def test_they_stay_where_the_group_is_orphaned() -> None:
    assert isinstance(plan_deletion(ending(orphan=True), Remains(alone=frozenset({"payments-0"}))).act, LetGo)


def test_after_a_stateful_set_its_pods_are_there_although_no_look_showed_them() -> None:
    remains = Remains((OURS,)).after(DeleteWorkload(OURS.name, OURS.uid, ""))
    assert plan_deletion(ending(), remains).hold is not None


def test_a_pass_that_deletes_ours_does_not_let_go_beside_somebody_elses() -> None:
    """Only another look shows what is left, and what the object is by then."""
    remains = Remains((THEIRS, SECOND), LABELLED, pods=True)
    act = plan_deletion(ending(), remains).act
    assert isinstance(act, DeleteWorkload)
    decided = plan_deletion(ending(), remains.after(act))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.recheck_s == PODS_AGAIN_S


@pytest.mark.parametrize(
    ("seen", "out"),
    [
        (members(0, 1, 2), [0, 1, 2]),
        (members(0, 3), [0]),
        ((member(0), stranger()), [0]),
        ((member(0), stranger(instance_id="reports-0")), [0]),
        ((member(0, instance_id=f"{NAME}-0-1"),), ["0-1"]),
        ((), []),
    ],
    ids=["all", "an id that was never given", "a dynamic one", "somebody's id", "a thread's", "nobody"],
)
def test_only_members_that_the_operator_gave_their_id_are_taken_out(seen: Any, out: list[int | str]) -> None:
    assert removed(ending(kafka=observation(seen))) == [f"{NAME}-{which}" for which in out]


def test_one_that_came_by_an_id_after_its_member_was_taken_out_is_somebody_else() -> None:
    before = replace(RUN, removed={f"{NAME}-2": member(2).member_id})
    assert removed(ending(before)) == [f"{NAME}-{ordinal}" for ordinal in range(3)]
    came = observation((*members(0, 1), member(2, incarnation="b")))
    assert removed(ending(before, kafka=came)) == [f"{NAME}-{ordinal}" for ordinal in range(2)]


def test_while_kafka_is_away_it_waits_and_says_how_to_give_up() -> None:
    decided = plan_deletion(ending(kafka=AWAY), NOTHING_LEFT)
    assert decided == cannot_leave(ending(), Reason.KAFKA_UNREACHABLE, "broker:9092 does not answer")
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.recheck_s == KAFKA_AGAIN_S
    assert FINALIZER in decided.hold.message
    path = "/metadata/finalizers/0"
    tested = f'{{"op":"test","path":"{path}","value":"{FINALIZER}"}}'
    patch = f'[{tested},{{"op":"remove","path":"{path}"}}]'
    way_out = f"kubectl patch consumergroup payments -n default --type=json -p '{patch}'"
    assert decided.hold.message.endswith(way_out)
    refused = cannot_leave(ending(), Reason.KAFKA_UNREACHABLE, "Secret a has no key password: add it.").hold
    assert refused is not None and ".. " not in refused.message
    assert [(note.reason, note.warning) for note in decided.notes] == [(Reason.KAFKA_UNREACHABLE, True)]


@pytest.mark.parametrize("changes", [{"kafka": AWAY}, {"bootstrap_servers": None}, {"kafka": ANOTHER_TYPE}])
@pytest.mark.parametrize("policy", ["Retain", "DeleteGroup"])
def test_a_group_that_never_had_a_pod_goes_whatever_kafka_says(policy: str, changes: dict[str, Any]) -> None:
    """It has no members there: a mistyped address held it for ever. And nothing of it is said to stay."""
    seen = ending(RolloutMemory(), spec={"deletionPolicy": policy}, **changes)
    assert not is_kafkas_turn(seen, NOTHING_LEFT)
    decided = plan_deletion(seen, NOTHING_LEFT)
    assert (decided.act, decided.notes) == (LetGo("it never had a pod"), ())


@pytest.mark.parametrize(
    ("memory", "remains"),
    [
        (replace(RUN, target_hash=""), NOTHING_LEFT),
        (replace(RUN, ids_given=0), NOTHING_LEFT),
        (RolloutMemory(), Remains((OURS,))),
        (RolloutMemory(), Remains(pods=True)),
    ],
    ids=["ids were given", "a version was asked for", "a StatefulSet of ours, the status lost", "a pod ends"],
)
def test_a_group_that_may_have_members_is_not_let_go_unseen(memory: RolloutMemory, remains: Remains) -> None:
    """Static members that nobody takes out keep their partitions until their sessions end."""
    ours = (workload(),) if remains.sets else ()
    assert not isinstance(plan_deletion(ending(memory, sets=ours, kafka=AWAY), remains).act, LetGo)


NEVER_RAN = replace(RUN, never_ran=True)


@pytest.mark.parametrize("reason", [Reason.KAFKA_UNREACHABLE, Reason.CONNECTION_INVALID, Reason.NOT_AUTHORIZED])
@pytest.mark.parametrize("policy", ["Retain", "DeleteGroup"])
def test_a_group_none_of_whose_pods_ever_ran_goes_though_nobody_says_what_is_in_kafka(
    policy: str, reason: Reason
) -> None:
    """It was scaled to nothing, or its image cannot be pulled: no member of it is there. A group may be."""
    away = Unobserved(reason, "it is wrong", NOW)
    decided = plan_deletion(ending(NEVER_RAN, spec={"deletionPolicy": policy}, kafka=away), NOTHING_LEFT)
    assert decided.act == LetGo("no pod of it ever ran")
    message = "nobody could check whether there is a group payments to delete: it is wrong"
    assert decided.notes == ((Note(reason, message, warning=True),) if policy == "DeleteGroup" else ())


@pytest.mark.parametrize(
    ("policy", "changes", "remains"),
    [
        ("Retain", {"memory": RUN}, NOTHING_LEFT),
        ("Retain", {}, Remains(ran=True)),
        ("Retain", {"kafka": Unobserved(Reason.OBSERVATION_INCOMPLETE, "soon", NOW)}, NOTHING_LEFT),
        ("DeleteGroup", {"kafka": Unobserved(Reason.COORDINATOR_UNAVAILABLE, "soon", NOW)}, NOTHING_LEFT),
        ("DeleteGroup", {"status": {"group": {"observedAt": "2026-01-01T00:00:00Z"}}}, NOTHING_LEFT),
    ],
    ids=["a pod ran", "one that ends has run", "the first look comes", "Kafka answers", "Kafka answered once"],
)
def test_a_group_that_may_be_in_kafka_waits(policy: str, changes: dict[str, Any], remains: Remains) -> None:
    status = changes.pop("status", {})
    usual: dict[str, Any] = {"memory": NEVER_RAN, "kafka": AWAY, "spec": {"deletionPolicy": policy}}
    seen = ending(**(usual | changes))
    seen = replace(seen, group=seen.group.model_copy(update={"status": status}))
    decided = plan_deletion(seen, remains)
    assert decided.act is None
    assert decided.hold is not None and decided.hold.recheck_s == KAFKA_AGAIN_S


def test_a_group_in_which_no_pod_ever_ran_is_somebody_elses_and_stays() -> None:
    """A wrong groupId, say, of a program that is scaled to nothing: its offsets are all that is left of it."""
    seen = ending(NEVER_RAN, spec={"deletionPolicy": "DeleteGroup"}, kafka=observation(()))
    decided = plan_deletion(seen, NOTHING_LEFT)
    assert not isinstance(decided.act, DeleteGroup)
    assert "its offsets stay in Kafka" in decided.notes[0].message


@pytest.mark.parametrize("remains", [Remains((OURS,), ran=True), Remains(pods=True, ran=True)])
def test_that_a_pod_ran_is_remembered_before_it_is_gone(remains: Remains) -> None:
    decided = plan_deletion(ending(NEVER_RAN, workload=workload() if remains.sets else None), remains)
    assert decided.memory.never_ran is False


@pytest.mark.parametrize("policy", ["Retain", "DeleteGroup"])
def test_a_group_of_another_type_stays_as_it_is_and_the_object_goes(policy: str) -> None:
    """Our static members cannot be in a Streams or share group, and it is not ours to delete."""
    seen = ending(spec={"deletionPolicy": policy}, kafka=ANOTHER_TYPE)
    assert is_kafkas_turn(seen, NOTHING_LEFT)
    decided = plan_deletion(seen, NOTHING_LEFT)
    assert isinstance(decided.act, LetGo)
    (note,) = decided.notes
    assert (note.reason, note.warning) == (Reason.GROUP_OF_ANOTHER_TYPE, True)
    assert "stays in Kafka as it is" in note.message and "is a streams group" in note.message
    for unfinished in (Remains((OURS,)), Remains(pods=True)):
        assert not isinstance(plan_deletion(seen, unfinished).act, LetGo)


def test_without_a_connection_the_group_goes_and_says_what_stays() -> None:
    decided = plan_deletion(ending(bootstrap_servers=None), NOTHING_LEFT)
    assert isinstance(decided.act, LetGo)
    assert [note.reason for note in decided.notes] == [Reason.CONNECTION_MISSING]


def test_the_stateful_sets_go_without_a_connection_too() -> None:
    decided = plan_deletion(ending(bootstrap_servers=None), Remains((OURS,)))
    assert isinstance(decided.act, DeleteWorkload)


@pytest.mark.parametrize(
    ("policy", "acts"),
    [
        ("Retain", ["delete statefulset", "remove members", "let go"]),
        ("DeleteGroup", ["delete statefulset", "delete group", "let go"]),
    ],
)
def test_the_order_is_pods_members_group_object(policy: str, acts: list[str]) -> None:
    seen, remains, done = ending(spec={"deletionPolicy": policy}), Remains((OURS,), LABELLED, pods=True), list[str]()
    while (act := _next(seen, remains)) is not None:
        done.append(kind_of(act))
        remains = Remains() if isinstance(act, DeleteWorkload) else remains.after(act)
        their_sessions_ended = isinstance(act, DeleteWorkload) and policy == "DeleteGroup"
        if isinstance(act, RemoveMembers) or their_sessions_ended:
            seen = replace(seen, kafka=EMPTY, history=watched(EMPTY))
        if isinstance(act, LetGo):
            break
    assert done == acts


def test_an_empty_group_is_deleted_where_that_was_asked_for() -> None:
    seen = ending(spec={"deletionPolicy": "DeleteGroup"}, kafka=EMPTY, history=watched(EMPTY))
    assert plan_deletion(seen, NOTHING_LEFT).act == DeleteGroup()


@pytest.mark.parametrize(
    ("kafka", "deleted"),
    [(EMPTY, True), (observation(members(0)), False), (observation((stranger(),)), True)],
    ids=["nobody is in it", "members called as ours are", "others are, and Kafka refuses"],
)
def test_a_group_is_deleted_once_nobody_is_in_it_who_may_live_elsewhere(kafka: GroupObservation, deleted: bool) -> None:
    decided = plan_deletion(ending(spec={"deletionPolicy": "DeleteGroup"}, kafka=kafka), NOTHING_LEFT)
    assert (decided.act == DeleteGroup()) is deleted
    assert (decided.hold is None) is deleted
    assert decided.act is None or decided.act == DeleteGroup()  # nobody is taken out


@pytest.mark.parametrize(("ended_s_ago", "warns"), [(60.0, False), (3600.0, True)])
def test_who_stays_in_a_group_that_is_to_be_deleted_is_named(ended_s_ago: float, warns: bool) -> None:
    """Once the sessions of our pods' members have ended; and the message has the way on."""
    seen = ending(spec={"deletionPolicy": "DeleteGroup"}, kafka=observation(members(1)))
    decided = plan_deletion(seen, replace(NOTHING_LEFT, kafkas_turn_since=NOW - ended_s_ago))
    assert decided.hold is not None and decided.hold.reason is Reason.DRAINING
    assert f"{NAME}-1" in decided.hold.message and "set spec.deletionPolicy to Retain" in decided.hold.message
    assert [note.warning for note in decided.notes] == ([True] if warns else [])


@pytest.mark.parametrize("policy", ["Retain", "DeleteGroup"])
def test_where_no_pod_ever_ran_nobody_is_taken_out(policy: str) -> None:
    """Whoever is called as our pods would be has the id from somewhere else."""
    assert removed(ending(NEVER_RAN, spec={"deletionPolicy": policy}, kafka=observation(members(0, 1)))) == []


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        (
            (Claim("shop", "a"), Claim("x", "b", certain=False)),
            "group payments and its offsets stay in Kafka: ConsumerGroup shop/a has the same groupId",
        ),
        (
            (Claim("shop", "a", certain=False),),
            "group payments and its offsets stay in Kafka: ConsumerGroup shop/a has the same groupId, and it is not"
            " known whether in another Kafka cluster",
        ),
    ],
    ids=["known", "may be"],
)
@pytest.mark.parametrize("policy", ["Retain", "DeleteGroup"])
def test_a_group_that_another_one_claims_stays_in_kafka(policy: str, claims: tuple[Claim, ...], says: str) -> None:
    seen = ending(spec={"deletionPolicy": policy}, kafka=observation(()), claims=claims)
    decided = plan_deletion(seen, NOTHING_LEFT)
    assert isinstance(decided.act, LetGo)
    expected = (Note(Reason.GROUP_ID_SHARED, says, warning=True),) if policy == "DeleteGroup" else ()
    assert decided.notes == expected


@pytest.mark.parametrize("certain", [True, False])
@pytest.mark.parametrize(
    ("name", "out"), [("reports", ["0", "0-1"]), (NAME, []), (f"{NAME}-0", ["0"])], ids=["other", "same", "longer"]
)
def test_a_member_whose_id_another_one_may_have_given_stays(name: str, out: list[str], certain: bool) -> None:
    """A ConsumerGroup of the same name in another namespace gives the same ids: its consumers work."""
    seen = observation((member(0), member(0, instance_id=f"{NAME}-0-1")))
    found = removed(ending(kafka=seen, claims=(Claim("elsewhere", name, certain=certain),)))
    assert sorted(found) == [f"{NAME}-{which}" for which in out]


@pytest.mark.parametrize(
    ("remains", "turn"),
    [
        (Remains((OURS,)), False),
        (Remains(pods=True), False),
        (NOTHING_LEFT, True),
    ],
    ids=["a StatefulSet is there", "pods end", "all is gone"],
)
def test_kafka_is_looked_at_once_all_else_is_done(remains: Remains, turn: bool) -> None:
    """The connection is read for that look, and not before."""
    assert is_kafkas_turn(ending(bootstrap_servers=None), remains) is turn


def _next(seen: World, remains: Remains) -> Act | None:
    return plan_deletion(seen, remains).act


@pytest.mark.parametrize(("since_s", "goes"), [(1.0, False), (RIGHTS_COME_BACK_WITHIN_S - 1.0, False), (61.0, True)])
def test_without_rights_it_is_let_go_after_a_minute_and_says_what_stays(since_s: float, goes: bool) -> None:
    """A namespace that is deleted takes the operator's rights along (F52)."""
    decided = plan_deletion(ending(), Remains(refused="cannot list pods (403)", refused_since=NOW - since_s))
    assert isinstance(decided.act, LetGo) is goes
    assert [note.reason for note in decided.notes] == ([Reason.CLUSTER_REFUSED] if goes else [])
    if not goes:
        assert decided.hold is not None
        assert "403" in decided.hold.message


def test_rights_that_are_missing_are_waited_for_before_it_is_let_go_of_pods_that_are_to_stay() -> None:
    decided = plan_deletion(ending(orphan=True), Remains(refused="cannot list pods (403)", refused_since=NOW - 1))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.CLUSTER_REFUSED


def test_of_a_group_of_another_type_people_hear_though_no_pod_ever_ran() -> None:
    decided = plan_deletion(ending(replace(RUN, never_ran=True), kafka=ANOTHER_TYPE), NOTHING_LEFT)
    assert isinstance(decided.act, LetGo)
    assert [note.reason for note in decided.notes] == [Reason.GROUP_OF_ANOTHER_TYPE]


def test_whose_id_another_process_took_lives_elsewhere_and_is_not_taken_out() -> None:
    """Of two clusters the one that stood in is deleted once the other one has its pods back. Only while pods are there
    can that be told."""
    theirs = (*members(0, 1), member(2, "theirs"))
    looks = (observation(members(0, 1, 2), at=NOW - 32), observation(theirs, at=NOW - 30))
    there = ending(kafka=looks[-1], history=folded(*looks), workload=OURS, pods=(pod(0), pod(1), pod(2)))
    ours = members_of_ours(there, {})
    assert ours == {f"payments-{ordinal}": f"payments-{ordinal}-a" for ordinal in range(3)}
    assert removed(ending(kafka=looks[-1]), Remains(ours=ours)) == ["payments-0", "payments-1"]
    assert removed(ending(kafka=looks[-1]), Remains()) == ["payments-0", "payments-1", "payments-2"]
    assert members_of_ours(ending(kafka=looks[-1]), ours) == ours
