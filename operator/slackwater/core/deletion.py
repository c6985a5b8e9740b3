"""A ConsumerGroup that is being deleted: its pods go first, then its members in Kafka, then the object itself (F10).

What the operator was given stays what others own: a StatefulSet that was orphaned or never adopted, with its pods and
members, and every member whose instance id the operator did not give.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from slackwater.api.annotations import FINALIZER
from slackwater.api.consumer_group import DeletionPolicy
from slackwater.api.kafka_connection import allows
from slackwater.api.volume_claims import Retention
from slackwater.core.decision.acts import DeleteGroup, DeleteWorkload, LetGo, RemoveMembers
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.remains import Remains
from slackwater.core.decision.words import listing
from slackwater.core.manifests.claims import names_of_claims
from slackwater.core.manifests.objects import selector
from slackwater.core.members.elsewhere import outlived, somebody_is_in_it, until_they_have_left
from slackwater.core.members.ownership import given, given_ordinal, has_begun, ids_given
from slackwater.core.members.seen import seen_in, was_in_it
from slackwater.core.members.sharing import whose_group_stays
from slackwater.core.members.taken import noted
from slackwater.core.world.identity import number_in
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import Member, Unobserved, refs
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World

PODS_AGAIN_S: Final = 1.0
PODS_LATE_S: Final = 30.0
"""After its grace is over a kubelet that works ends a pod within seconds."""
KAFKA_AGAIN_S: Final = 10.0
RIGHTS_AGAIN_S: Final = 5.0
RIGHTS_COME_BACK_WITHIN_S: Final = 60.0
"""In that time a right that is missing may be on its way: a chart that is being upgraded."""
_KAFKA_COMES: Final = frozenset({Reason.OBSERVATION_INCOMPLETE, Reason.COORDINATOR_UNAVAILABLE})
"""It is about to be asked, or has answered."""
_ORPHAN: Final = "orphan"
"""The garbage collector's finalizer, while it takes the owner's name off what is to stay."""


def plan_deletion(world: World, remains: Remains) -> Decision:
    """The first step that has something to do, or to wait for, decides; when none has, the object goes."""
    world = world.remembering(_noted(world, remains))
    steps = (step(world, remains) for step in (*_IN_CLUSTER, *_IN_KAFKA))
    decided = next((decided for decided in steps if decided is not None), _end(world, "nothing of it is left"))
    stay = isinstance(decided.act, LetGo) and _ORPHAN not in world.group.metadata.finalizers and has_begun(world)
    return replace(decided, notes=(*decided.notes, *_of_those_that_stay(world, remains))) if stay else decided


def is_let_go(world: World, remains: Remains) -> bool:
    """The object goes, and what is left of it stays: nothing more has to be looked at."""
    return _let_go_of_what_is_not_ours(world, remains) is not None


def is_kafkas_turn(world: World, remains: Remains) -> bool:
    """Nothing is left to do in the cluster: only now is a look at the connection and at Kafka worth its price."""
    return all(step(world, remains) is None for step in _IN_CLUSTER)


def members_of_ours(world: World, known: Mapping[str, str]) -> Mapping[str, str]:
    """For `Remains.ours`, brought up to date. `known`: as it was."""
    known = {**world.memory.removed, **known}
    return {**known, **noted(world, (member for member, _ in given(world)), known)}


def cannot_leave(world: World, reason: Reason, problem: str) -> Decision:
    """Kafka or the API server cannot be asked, or refuses: the object waits, and says how to give up."""
    metadata = world.group.metadata
    where = f"{metadata.name} -n {metadata.namespace}"
    path = f"/metadata/finalizers/{metadata.finalizers.index(FINALIZER) if FINALIZER in metadata.finalizers else 0}"
    tested = {"op": "test", "path": path, "value": FINALIZER}  # those of others stay
    patch = json.dumps([tested, {"op": "remove", "path": path}], separators=(",", ":"))
    what = (
        "what is left cannot be done" if reason is Reason.CLUSTER_REFUSED else "the group's members cannot be taken out"
    )
    message = (
        f"{what}: {problem.rstrip('.')}. To give up, remove the finalizer {FINALIZER}:"
        f" kubectl patch consumergroup {where} --type=json -p '{patch}'"
    )
    return Decision(world.memory, hold=Hold(reason, message, KAFKA_AGAIN_S), notes=(Note(reason, message, True),))


def _let_go_of_what_is_not_ours(world: World, remains: Remains) -> Decision | None:
    """The pods are not ours any more, or never were: they stay, and so do their members.

    Deleted with `--cascade=orphan`, that is, whether the garbage collector has taken our name off the StatefulSet yet
    or not; or beside a StatefulSet that was never adopted, whose members may be called just as ours would be.
    """
    if _ORPHAN in world.group.metadata.finalizers:
        return _end(world, "its pods are to stay")
    if not remains.fresh or _ours(world, remains):
        return None
    never_ours, name = not world.memory.target_hash, world.group.name
    theirs = any(each.name in remains.labelled or (never_ours and each.name == name) for each in remains.sets)
    return _end(world, "its pods are not ours") if theirs else None


def _let_go_without_rights(world: World, remains: Remains) -> Decision | None:
    """A namespace that is deleted takes the operator's rights there with it (F52), and would wait for ever for a
    finalizer. Its owner being gone, the garbage collector deletes the StatefulSet."""
    if not remains.refused:
        return None
    if world.now - remains.refused_since < RIGHTS_COME_BACK_WITHIN_S:
        hold = Hold(Reason.CLUSTER_REFUSED, f"the operator's rights are missing: {remains.refused}", RIGHTS_AGAIN_S)
        return Decision(world.memory, hold=hold)
    message = f"its members stay in the group until their sessions end, and offsets stay: {remains.refused}"
    return _leaving(world, "the operator has no rights here any more", Reason.CLUSTER_REFUSED, message)


def _delete_the_stateful_sets(world: World, remains: Remains) -> Decision | None:
    """Which ids they gave is remembered first: once they and their pods are gone nothing else says so."""
    ours = _ours(world, remains)
    if not ours:
        return None
    given, memory = ids_given(world), world.memory
    known = max(memory.ids_given, world.replicas) if memory.target_hash else memory.ids_given
    if given > known:
        memory = replace(memory, ids_given=given)
    act = DeleteWorkload(ours[0].name, ours[0].uid, "its ConsumerGroup is deleted")
    return Decision(memory, act, notes=_of_its_claims(world, ours[0]))


def _of_its_claims(world: World, workload: Workload) -> tuple[Note, ...]:
    """What becomes of the volumes: as the StatefulSet has it, since Kubernetes goes by that."""
    if not workload.claims:
        return ()
    names = listing(names_of_claims(workload.claims))
    if workload.retention.get("whenDeleted") == Retention.DELETE:
        message = f"the claims of its pods' volumes ({names}) are deleted with it, as whenDeleted says"
        return (Note(Reason.VOLUME_CLAIMS_GO, message, warning=True),)
    labels = (workload.fixed.get("selector") or {}).get("matchLabels") or selector(world.group)
    by = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    message = f"the claims of its pods' volumes ({names}) stay: kubectl delete pvc -n {world.group.namespace} -l {by}"
    return (Note(Reason.VOLUME_CLAIMS_STAY, message),)


def _wait_for_the_pods(world: World, remains: Remains) -> Decision | None:
    """A member that still runs would join again. A pod on a node that is lost never ends by itself."""
    if not remains.pods:
        return None
    late = sorted(name for name, by in remains.end_by.items() if world.now - by > PODS_LATE_S)
    if not late:
        return Decision(world.memory, hold=Hold(Reason.DRAINING, "waiting for the pods to end", PODS_AGAIN_S))
    message = (
        f"waiting for {listing(late)} to end, whose grace is over: where the node is lost, bring it back or delete it;"
        " where it is off for good, delete the pod with --force; where its containers have ended, a finalizer of the"
        " pod keeps it, and whoever put that there has to take it off"
    )
    hold = Hold(Reason.DRAINING, message, PODS_AGAIN_S)
    return Decision(world.memory, hold=hold, notes=(Note(Reason.DRAINING, message, warning=True),))


def _let_go_of_what_never_began(world: World, remains: Remains) -> Decision | None:
    """No pod was ever asked for, so that no member is ours: a Kafka that nobody sees has nothing to say."""
    return None if has_begun(world) else _end(world, "it never had a pod")


def _let_go_without_a_connection(world: World, remains: Remains) -> Decision | None:
    """Nothing says any more where the group is; or its KafkaConnection does not allow it, or not any more."""
    stays = "members stay in the group until their sessions end, offsets stay"
    if world.bootstrap_servers is None:
        message = f"{world.group.spec.connection_ref} is gone: {stays}"
        return _leaving(world, "its connection is gone", Reason.CONNECTION_MISSING, message)
    if allows(world.allowed_groups, world.group.group_id):
        return None
    message = f"{world.group.spec.connection_ref} does not allow the group: {stays}"
    return _leaving(world, "its connection does not allow it", Reason.GROUP_NOT_ALLOWED, message)


def _let_go_of_what_never_ran(world: World, remains: Remains) -> Decision | None:
    """No pod ever ran, so that no member is ours, and nobody says what is in Kafka. A group that is to be deleted is
    waited for where the object's status shows that it was seen once."""
    if not world.memory.never_ran or not isinstance(world.kafka, Unobserved) or world.kafka.reason in _KAFKA_COMES:
        return None
    why = "no pod of it ever ran"
    if world.group.spec.deletion_policy is not DeletionPolicy.DELETE_GROUP:
        return _end(world, why)
    if world.group.status.get("group"):
        return None
    message = f"nobody could check whether there is a group {world.group.group_id} to delete: {world.kafka.message}"
    return _leaving(world, why, Reason(world.kafka.reason), message)


def _let_go_of_a_group_of_another_type(world: World, remains: Remains) -> Decision | None:
    """A group has one type at a time, and one that ours cannot join has no static member of ours. What is asked for
    is not done to it: it is somebody else's."""
    if not isinstance(world.kafka, Unobserved) or world.kafka.reason is not Reason.GROUP_OF_ANOTHER_TYPE:
        return None
    message = f"the group stays in Kafka as it is, with whoever is in it: {world.kafka.message}"
    return _leaving(world, "its group in Kafka is of another type", Reason.GROUP_OF_ANOTHER_TYPE, message)


def _take_the_members_out(world: World, remains: Remains) -> Decision | None:
    """Those of pods that were seen to end; none where the group goes as a whole. Who outlives sessions is elsewhere."""
    if not remains.members or outlived(world, remains.kafkas_turn_since):
        return None
    if isinstance(world.kafka, Unobserved):
        return cannot_leave(world, Reason(world.kafka.reason), world.kafka.message)
    stay = {number_in(pod.rpartition("-")[2]) for pod in remains.alone}
    if not was_in_it(world):
        return None  # whoever is in it
    known, there = remains.ours, [m for m in world.kafka.members if _is_ours_alone(world, m)]
    there = [m for m in there if known.get(m.instance_id or "", m.member_id) == m.member_id]
    ours = [m for m in there if given_ordinal(world, m) not in stay]
    if not ours or world.memory.never_ran or (_is_to_go(world, remains) and not world.claims):
        return None
    if not remains.seen_to_end:
        hold = until_they_have_left(ours)
        return Decision(world.memory, hold=hold, notes=(Note(hold.reason, hold.message),))
    return Decision(world.memory, RemoveMembers(refs(ours), "their ConsumerGroup is deleted"))


def _delete_the_group(world: World, remains: Remains) -> Decision | None:
    """With its offsets, where that was asked for. A group in which we never had a member is somebody else's, and so is
    one that another ConsumerGroup claims, whether anybody is in it now or not."""
    if not remains.group or not _is_to_go(world, remains):
        return None
    if world.memory.never_ran:
        stays = f"group {world.group.group_id} and its offsets stay in Kafka: they are of others, no pod of this ran"
        return _leaving(world, "no pod of it ever ran", Reason.GROUP_ID_SHARED, stays)
    if not was_in_it(world):
        stays = f"group {world.group.group_id} and its offsets stay in Kafka: no pod of this was ever seen in it there"
        return _leaving(world, "no pod of it was ever in its group", Reason.GROUP_ID_SHARED, stays)
    if world.claims:
        return _leaving(
            world, "another one claims its group in Kafka", Reason.GROUP_ID_SHARED, whose_group_stays(world)
        )
    return somebody_is_in_it(world, remains.kafkas_turn_since) or Decision(world.memory, DeleteGroup())


def _is_to_go(world: World, remains: Remains) -> bool:
    """Who was left alone is in it."""
    return world.group.spec.deletion_policy is DeletionPolicy.DELETE_GROUP and has_begun(world) and not remains.alone


def _is_ours_alone(world: World, member: Member) -> bool:
    """We gave its id, and no other ConsumerGroup may have given the same."""
    given_by_others = any(claim.may_have_given(member.instance_id) for claim in world.claims)
    return given_ordinal(world, member) is not None and not given_by_others


_Step = Callable[[World, Remains], Decision | None]
_IN_CLUSTER: Final[tuple[_Step, ...]] = (
    _let_go_without_rights,
    _let_go_of_what_is_not_ours,
    _delete_the_stateful_sets,
    _wait_for_the_pods,
    _let_go_of_what_never_began,
)
_IN_KAFKA: Final[tuple[_Step, ...]] = (
    _let_go_without_a_connection,
    _let_go_of_a_group_of_another_type,
    _let_go_of_what_never_ran,
    _take_the_members_out,
    _delete_the_group,
)


def _of_those_that_stay(world: World, remains: Remains) -> tuple[Note, ...]:
    """Pods whose StatefulSet was deleted without them are nobody's, as Kubernetes has it: nothing tells any more
    whether they were to stay, as with `--cascade=orphan`, so that they do."""
    if not remains.alone:
        return ()
    pods, namespace = sorted(remains.alone), world.group.metadata.namespace
    message = (
        f"{listing(pods)} had lost their StatefulSet, and stay, with their members in the group:"
        f" kubectl delete pod -n {namespace} {' '.join(pods)}"
    )
    return (Note(Reason.ORPHANED_PODS, message, warning=True),)


def _noted(world: World, remains: Remains) -> RolloutMemory:
    """What nothing tells once the pods are gone: that one ran, so that it may have had a member, and was seen to."""
    memory = world.memory
    seen = None if memory.seen_in is None else seen_in(world)
    if memory.never_ran and remains.ran:
        memory, seen = replace(memory, never_ran=False), seen or ""
    return memory if memory.seen_in == seen else replace(memory, seen_in=seen)


def _end(world: World, why: str) -> Decision:
    return Decision(world.memory, LetGo(why))


def _leaving(world: World, why: str, reason: Reason, message: str) -> Decision:
    """The object goes, and people learn what stays."""
    return replace(_end(world, why), notes=(Note(reason, message, warning=True),))


def _ours(world: World, remains: Remains) -> tuple[Workload, ...]:
    return tuple(each for each in remains.sets if each.owner_uid == world.group.metadata.uid)
