"""Is a pod's consumer really in the group? Yes, no, or not known (decision 5).

A member that died stands in the group's description until its session ends (static ones always, F10; dynamic ones when
they crashed), so being listed proves nothing. What proves life: a member id that changed since the pod's container
started (F41), a committed offset that moved since then, or a session timeout that would have ended a dead one by now.

`PROOFS` is the order in which these are asked: the first that says something decides. `missing_proofs` names, for
people, what would still prove that a member is back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from slackwater.core.decision.words import listing, seconds
from slackwater.core.members.clocks import NO_TIME_FOR_A_CRASH_S
from slackwater.core.members.ownership import may_be_unrecognized
from slackwater.core.members.sessions import session_left_s
from slackwater.core.world.departures import Stay
from slackwater.core.world.handover import Handover
from slackwater.core.world.observation import GroupObservation, Member
from slackwater.core.world.placing import stays_that_ended
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World

EMPTY_FOR_S: Final = 10.0
"""A group in which nobody has been for so long waits for nobody who is about to join."""


class Presence(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def presence(world: World, pod: Pod) -> Presence:
    """Tell whether all members of the pod have joined since its container started."""
    return world.once_of(_presence, pod)


def _presence(world: World, pod: Pod) -> Presence:
    if pod.started_at is None:
        return Presence.NO
    if not isinstance(world.kafka, GroupObservation):
        return Presence.UNKNOWN
    found = [member_presence(case) for case in cases_of(world, pod)]
    wanted = world.made_with(pod).members_per_pod
    if found.count(Presence.YES) >= wanted:
        return Presence.YES
    too_few = len(found) - found.count(Presence.NO) < wanted
    return Presence.NO if too_few and not may_be_unrecognized(world, pod) else Presence.UNKNOWN


def serves(world: World, pod: Pod) -> bool:
    """Ready, and known to be in the group."""
    return pod.ready and not pod.terminating and presence(world, pod) is Presence.YES


def is_down(world: World, pod: Pod) -> bool:
    """Known not to consume: not Ready, or Ready and out of the group for longer than a return may take.

    A proof of life outranks a probe that fails (`consumes_unready`). A pod of which one member lives consumes, though
    there should be more; and so does one whose consumer joined without the instance id that it was given.
    """
    if not pod.ready:
        return not consumes_unready(world, pod)
    if lives(world, pod):
        return False
    overdue = is_overdue(world, pod)
    overdue = overdue or (nobody_is_in(world) and world.now - absent_since(world, pod) >= EMPTY_FOR_S)
    given_up = world.memory.phase.goes_back  # nobody waits any more for a version that has failed
    return _nobody_is_there(world, pod) and (overdue or given_up)


def is_overdue(world: World, pod: Pod) -> bool:
    """If it is absent, it has been for longer than a return may take."""
    return world.now - absent_since(world, pod) > world.group.spec.rollout.rejoin_timeout_s


def nobody_is_in(world: World) -> bool:
    """The group has been without a single member for a while, and is not about to have one."""
    since = world.history.unchanged_since
    return world.seen is not None and not world.seen.members and since is not None and world.now - since >= EMPTY_FOR_S


def _nobody_is_there(world: World, pod: Pod) -> bool:
    """Not one of its members may be alive; where there are fewer than there should be, the others are."""
    if pod.started_at is None or not isinstance(world.kafka, GroupObservation):
        return pod.started_at is None
    none_lives = all(member_presence(case) is Presence.NO for case in cases_of(world, pod))
    return none_lives and not may_be_unrecognized(world, pod)


def lives(world: World, pod: Pod) -> bool:
    """One of its members is known to have joined since its container started, or is at its address without an id."""
    return world.once_of(_lives, pod)


def _lives(world: World, pod: Pod) -> bool:
    nameless = world.made_with(pod).is_static and pod.started_at is not None and world.nameless_members_of(pod)
    one_of_many = (member_presence(case) is Presence.YES for case in cases_of(world, pod))
    return presence(world, pod) is Presence.YES or bool(nameless) or any(one_of_many)


def consumes_unready(world: World, pod: Pod) -> bool:
    """Not Ready, and yet at work: a member of it is in the group, and it has committed since, lately.

    A readiness probe may ask for more than the consumer: a database, a proxy. Not under OrderedReady: there such a pod
    keeps its controller from making others.
    """
    in_order = world.workload is not None and world.workload.in_order
    if in_order or pod.ready or pod.terminating or not lives(world, pod):
        return False
    owned = {partition for member in world.members_of(pod) for partition in member.assignment}
    moved_at = max((world.history.commit_moved_after.get(partition, 0.0) for partition in owned), default=0.0)
    since = max(pod.ready_changed_at or pod.created_at, world.now - world.group.spec.rollout.rejoin_timeout_s)
    return moved_at >= since


def absent_since(world: World, pod: Pod) -> float:
    """The latest moment from which the pod's absence can be counted; what happened before we looked does not count.

    A dynamic member that leaves counts where it had stayed for `rejoinTimeout`: one that comes and goes is absent.
    """
    begun = (pod.created_at, pod.scheduled_at or 0.0, pod.started_at or 0.0, pod.up_since or 0.0)
    moments = [*begun, world.history.watched_since or world.now, *world.departures_at(pod.ordinal).values()]
    if not world.made_with(pod).is_static:
        timeout_s, stays = world.group.spec.rollout.rejoin_timeout_s, world.once(_stays_that_ended).get(pod.name, ())
        moments += [left_at for came_at, left_at in stays if left_at - came_at >= timeout_s]
    if not pod.ready and pod.ready_changed_at is not None:
        moments.append(pod.ready_changed_at)
    return max(moments)


def _stays_that_ended(world: World) -> Mapping[str, list[Stay]]:
    return stays_that_ended(world.history.left, world.all_pods)


class JudgedRun(NamedTuple):
    """The run of a pod's container that its members are judged by: what holds for each of them."""

    world: World
    pod: Pod
    started_at: float
    """When it started (`runs_since`)."""
    handover: Handover | None
    """The handover of this pod's ordinal, under way or over."""
    alone_since: float
    """What was seen before this moment may be the doing of another process."""
    members_before: Mapping[str, str]
    """The member ids that the instance ids had when the operator restarted this pod; none when it did not."""
    rival: Pod | None
    """Another pod with the same instance ids, which runs, or did so just now."""
    session_left_s: float
    """Seconds until a member of a process before this one would be gone."""


class Case(NamedTuple):
    """A member that the group lists for a pod whose container runs: does that very process stand behind it?"""

    run: JudgedRun
    member: Member
    key: str
    """What the member is known by: its instance id, or its member id where it is dynamic."""
    sighting: MemberSighting | None


Proof = Callable[[Case], Presence | None]


def runs_as_when_it_held_the_id(case: Case) -> Presence | None:
    """YES: since the handover, neither the pod's process nor the member behind the id has changed."""
    held = case.run.handover.held if case.run.handover is not None else None
    if held is None or held.down or not held.runs_on(case.run.pod):
        return None
    return Presence.YES if held.ids.get(case.key) == case.member.member_id else None


def another_pod_has_the_id(case: Case) -> Presence | None:
    """UNKNOWN: whatever is seen of the id may be the doing of the other pod's process."""
    return Presence.UNKNOWN if case.run.rival is not None else None


def is_the_member_before_the_step(case: Case) -> Presence | None:
    """NO: the operator wrote this member id down before it restarted the pod."""
    return Presence.NO if case.run.members_before.get(case.key) == case.member.member_id else None


def joined_between_two_close_looks(case: Case) -> Presence | None:
    """YES: another member id than before the restart (F41), and no earlier process had the time to bring it.

    One that crashed and joined again before its pod was deleted could have. Between two close looks there is no time
    for all that: to crash, start, join and end, and for the new pod to be made and to start.
    """
    sighting = case.sighting
    if case.key not in case.run.members_before or case.run.pod.restarts > 0:
        return None
    if sighting is None or sighting.absent_at is None:
        return None
    came_since = sighting.since >= case.run.alone_since
    return Presence.YES if came_since and sighting.came_by - sighting.absent_at <= NO_TIME_FOR_A_CRASH_S else None


def was_seen_absent_since_the_start(case: Case) -> Presence | None:
    """YES: a look after the container's start found the id without this member."""
    sighting = case.sighting
    seen_absent = sighting is not None and sighting.absent_at is not None and sighting.absent_at >= case.run.alone_since
    return Presence.YES if seen_absent else None


def was_there_before_the_start(case: Case) -> Presence | None:
    """NO: a look before the container's start found this member already, and its session may not have ended yet."""
    sighting = case.sighting
    was_there = sighting is not None and sighting.came_by < case.run.started_at
    return Presence.NO if was_there and case.run.session_left_s > 0 else None


def has_committed_since(case: Case) -> Presence | None:
    """YES: a committed offset of its partitions grew between two looks, both after the container's start."""
    moved_after = case.run.world.history.commit_moved_after
    committed = any(moved_after.get(partition, 0.0) >= case.run.alone_since for partition in case.member.assignment)
    return Presence.YES if committed else None


def a_session_has_passed(case: Case) -> Presence | None:
    """YES: a member that died before the container's start would have been removed by now."""
    return Presence.YES if case.run.session_left_s <= 0 else None


PROOFS: Final[tuple[Proof, ...]] = (
    runs_as_when_it_held_the_id,
    another_pod_has_the_id,
    is_the_member_before_the_step,
    joined_between_two_close_looks,
    was_seen_absent_since_the_start,
    was_there_before_the_start,
    has_committed_since,
    a_session_has_passed,
)


def member_presence(case: Case) -> Presence:
    """The first proof that says something decides; when none does, nothing is known."""
    for proof in PROOFS:
        if (said := proof(case)) is not None:
            return said
    return Presence.UNKNOWN


def cases_of(world: World, pod: Pod) -> tuple[Case, ...]:
    """One for each member that the group lists for the pod; none while its container does not run."""
    kafka, started_at = world.kafka, pod.runs_since
    if not isinstance(kafka, GroupObservation) or started_at is None:
        return ()
    run, sightings = _run_of(world, kafka, pod, started_at), world.history.members
    keys = ((member.instance_id or member.member_id, member) for member in world.members_of(pod))
    return tuple(Case(run, member, key, sightings.get(key)) for key, member in keys)


def _run_of(world: World, kafka: GroupObservation, pod: Pod, started_at: float) -> JudgedRun:
    handover, step, beside = world.memory.handover, world.memory.step, world.beside
    if handover is not None and handover.ordinal != pod.ordinal:
        handover = None
    alone_since = max(started_at, handover.alone_since or 0.0) if handover is not None else started_at
    restarted = step is not None and pod.ordinal in step.ordinals and step.is_followed_by(pod)
    before = step.members_before if step is not None and restarted else {}
    others = (*beside.arriving, *beside.leaving) if beside is not None else ()
    rival = next((each for each in others if each.ordinal == pod.ordinal and each.uid != pod.uid), None)
    left_s = session_left_s(world, kafka.observed_at, alone_since)
    return JudgedRun(world, pod, started_at, handover, alone_since, before, rival, left_s)


def missing_proofs(world: World, pod: Pod) -> tuple[str, ...]:
    """What would still prove that the pod's listed member is back, in words; any one of them is enough.

    Empty for a pod that is back, and for one of which the group lists no member.
    """
    if presence(world, pod) is Presence.YES:
        return ()
    case = next((case for case in cases_of(world, pod) if member_presence(case) is not Presence.YES), None)
    return () if case is None else tuple(_still_possible(case))


def _still_possible(case: Case) -> Iterable[str]:
    if case.run.rival is not None:
        yield f"the end of pod {case.run.rival.name}, which has the same instance id"
        return
    yield f"a member id other than {case.member.member_id}"
    if is_the_member_before_the_step(case) is not None:
        return  # it is the old member, alive or not: nothing that is seen of it speaks for the new process
    if was_there_before_the_start(case) is None and case.member.assignment:
        yield f"a commit on {listing(map(str, sorted(case.member.assignment)))}"
    yield f"{seconds(case.run.session_left_s)} more in the group: a dead member's session ends before that"
