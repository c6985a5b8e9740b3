"""When may a pod be restarted? The gates, in order: the first refusal wins and is what people see.

In a rollout these are `GATES`; on the way back to the last good version, the fewer of `WAY_BACK`.

A gate is a pure function of the world and of the pods that are known to be down already: those cannot be disturbed, so
they are not waited for; everything else is judged as strictly as if they were not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing, records, rounded, seconds, shown
from slackwater.core.members.crashing import find_crashed
from slackwater.core.members.death import find_outlived, has_ended
from slackwater.core.members.duplicates import an_id_is_used_twice
from slackwater.core.members.ownership import find_left_behind, find_strangers, strangers_in_words
from slackwater.core.members.presence import Presence, consumes_unready, presence
from slackwater.core.members.shortfall import lacks_members_for_good, members_in_words
from slackwater.core.members.standing import find_standing, find_stood_before
from slackwater.core.members.subscriptions import forgotten_topics
from slackwater.core.members.surplus import consumers_more, pods_beside, shares_its_address, what_to_correct
from slackwater.core.members.work import find_stall, find_unowned, lag_of_what_is_read, partitions_in_words
from slackwater.core.rollout.way_back import has_had_its_time, is_on_the_way_back, the_pod_before_is_back
from slackwater.core.world.in_hand import step_of
from slackwater.core.world.observation import OLDEST_OBSERVATION_S, GroupObservation, GroupState, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

Down = frozenset[int]
"""Ordinals of pods that are known not to consume."""
Gate = Callable[[World, GroupObservation, Down], Hold | None]

SOON_S: Final = 1.0
LATER_S: Final = 5.0


def first_refusal(world: World, down: Down, *, who_is_out: bool = False) -> Hold | None:
    """Ask every gate in order; None means that one pod may be restarted now.

    `who_is_out`: the next one is a pod whose consumer is known to be out of the group.
    """
    if isinstance(world.kafka, Unobserved):
        return Hold(world.kafka.reason, world.kafka.message, SOON_S)
    gates = gates_of_who_is_out(world) if who_is_out else gates_asked(world)
    if gates is GATES and (blind := world.kafka.blind_to) is not None:
        return Hold(blind.reason, blind.message, SOON_S)
    for gate in gates:
        if hold := gate(world, world.kafka, down):
            return hold
    return None


def gates_asked(world: World) -> tuple[Gate, ...]:
    """On the way back to the last good version, and where people force a rollout, they are fewer."""
    return WAY_BACK if is_on_the_way_back(world) else GATES


def gates_of_who_is_out(world: World) -> tuple[Gate, ...]:
    """Before a pod whose consumer is out of the group: nothing that goes on there is a reason to keep it out.

    With a version that has yet to prove itself, one at a time; with the last good one no other pod is waited for.
    """
    return OUT_OF_THE_GROUP[:-1] if world.memory.phase.goes_back else OUT_OF_THE_GROUP


def observation_is_fresh(world: World, kafka: GroupObservation, down: Down) -> Hold | None:
    """Gate 1: newer than the last act, complete, and of today's StatefulSet."""
    age = world.now - kafka.observed_at
    if age > OLDEST_OBSERVATION_S:
        message = f"the last look at the group is more than {seconds(OLDEST_OBSERVATION_S)} old"
        return Hold(Reason.OBSERVATION_STALE, message, SOON_S)
    if world.memory.step is not None and kafka.observed_at <= world.memory.step.started_at:
        return Hold(Reason.OBSERVATION_STALE, "the group has not been looked at since the last restart", SOON_S)
    if not world.settled:
        message = "the StatefulSet controller has not taken up the last change yet"
        return Hold(Reason.STATEFUL_SET_NOT_OBSERVED, message, SOON_S)
    return None


def rollout_is_allowed(world: World, kafka: GroupObservation, down: Down) -> Hold | None:
    """Gate 2: nobody has paused it."""
    if PAUSE not in world.group.metadata.annotations:
        return None
    reason = world.group.metadata.annotations[PAUSE]
    because = f" ({shown(reason, 400)})" if reason not in ("", "true") else ""
    return Hold(Reason.PAUSED, f"paused{because}: remove the annotation {PAUSE} to go on", 60.0)


def pods_are_ready(world: World, kafka: GroupObservation, down: Down) -> Hold | None:
    """Gate 3: every pod that should be up is."""
    outdated = {pod.ordinal for pod in world.outdated}
    for ordinal in range(world.replicas - 1, -1, -1):
        pod = world.pod(ordinal)
        had_its_time = has_had_its_time(world, ordinal) and not _keeps_others_from_being_made(world, ordinal)
        if (pod is None and cannot_be_made(world, ordinal, down)) or had_its_time:
            continue
        if pod is None:
            why = f": {said}" if (said := world.why_not_made(ordinal)) else ""
            return Hold(Reason.POD_MISSING, f"pod {world.pod_name(ordinal)} does not exist{why}", LATER_S)
        if pod.terminating:
            return Hold(Reason.POD_NOT_READY, f"pod {pod.name} is being deleted", SOON_S)
        at_work = ordinal in outdated and consumes_unready(world, pod)
        if not pod.ready and ordinal not in down and not at_work:
            return Hold(Reason.POD_NOT_READY, f"pod {pod.name} is not Ready{_why_waiting(pod)}", LATER_S)
    return None


def _keeps_others_from_being_made(world: World, ordinal: int) -> bool:
    """Under OrderedReady, those above it: one that goes comes back when this one is Ready, and no sooner."""
    is_ordered = world.workload is not None and world.workload.in_order
    return is_ordered and bool(world.outdated) and world.outdated[-1].ordinal > ordinal


def group_is_settled(world: World, kafka: GroupObservation, down: Down) -> Hold | None:
    """Gate 4: the group is calm, and has been for `stableFor`."""
    if len(down) == world.replicas and kafka.state in (GroupState.EMPTY, GroupState.DEAD):
        return None  # nobody consumes, so nobody can be disturbed
    if not kafka.calm:
        apart = "the group has members that are not where the coordinator wants them"
        message = apart if kafka.state is GroupState.STABLE else kafka.state_in_words
        return Hold(Reason.GROUP_REBALANCING, message, SOON_S)
    stable_for_s = world.group.spec.rollout.stable_for_s
    calm_for = world.history.calm_for(kafka)
    if calm_for < stable_for_s:
        message = f"the group is calm; it has to stay so for {seconds(stable_for_s)} (stableFor)"
        return Hold(Reason.GROUP_STABILIZING, message, min(SOON_S, stable_for_s - calm_for))
    return None


def members_are_ours(world: World, kafka: GroupObservation, down: Down) -> Hold | None:
    """Gate 5: exactly the expected members; no duplicate, zombie or foreign one."""
    if strangers := find_strangers(world, kafka):
        who = strangers_in_words(world, strangers)
        message = f"members that we do not run are in the group: {who}. Stop them, or give them another group.id"
        return Hold(Reason.FOREIGN_MEMBERS, message, LATER_S)
    if zombies := [m.instance_id or "" for m in (*find_left_behind(world), *find_outlived(world, kafka))]:
        message = f"members whose pods are gone are still in the group: {listing(zombies)}"
        return Hold(Reason.ZOMBIE_MEMBER, message, LATER_S)
    return an_id_is_used_twice(world) or _members_are_present(world, down)


def partitions_are_owned(world: World, kafka: GroupObservation, down: Down) -> Hold | None:
    """Gate 6: every partition is owned once, no pod of the version ends again and again, the pod restarted last works
    on its own again, and nobody who was idle before the last rebalance may be so still."""
    if len(down) == world.replicas:
        return None
    owners = Counter(partition for member in kafka.members for partition in member.assignment)
    if shared := [p for p, count in owners.items() if count > 1]:
        return Hold(
            Reason.PARTITIONS_NOT_OWNED, f"partitions owned more than once: {partitions_in_words(shared)}", SOON_S
        )
    if unowned := find_unowned(world, kafka):
        return Hold(Reason.PARTITIONS_NOT_OWNED, f"partitions without an owner: {partitions_in_words(unowned)}", SOON_S)
    if forgotten := forgotten_topics(world, kafka):
        message = f"no pod reads {listing(forgotten)} any more, which spec.topics names"
        return Hold(Reason.PARTITIONS_NOT_OWNED, message, SOON_S)
    return _none_crashes(world, down) or _last_restarted_works(world, down) or find_stood_before(world, down)


def lag_is_bounded(world: World, kafka: GroupObservation, down: Down) -> Hold | None:
    """Gate 7: lag within `maxLag`, by log-end offsets (F21).

    Not while a pod is down: there the restart is the remedy, and the lag would never go by itself.
    """
    bound = world.group.spec.rollout.max_lag
    if bound is None or down or world.replicas == 0:
        return None
    lag = lag_of_what_is_read(world, kafka)
    if lag is None:
        return Hold(Reason.LAG_UNKNOWN, "the lag is not known: the end of some partition could not be read", LATER_S)
    if bound.absolute is not None and lag > bound.absolute:
        message = f"lag is about {records(lag)}, more than maxLag.absolute {bound.absolute}"
        return Hold(Reason.LAG_ABOVE_GATE, message, LATER_S)
    before = world.memory.lag_before or 0
    if bound.growth is not None and lag - before > bound.growth:
        message = f"lag grew from {before} to about {rounded(lag)}, by more than maxLag.growth {bound.growth}"
        return Hold(Reason.LAG_ABOVE_GATE, message, LATER_S)
    return None


GATES: Final[tuple[Gate, ...]] = (
    observation_is_fresh,
    rollout_is_allowed,
    pods_are_ready,
    group_is_settled,
    members_are_ours,
    partitions_are_owned,
    lag_is_bounded,
)
WAY_BACK: Final[tuple[Gate, ...]] = (
    observation_is_fresh,
    rollout_is_allowed,
    pods_are_ready,
    the_pod_before_is_back,
)
"""A rollback is the remedy for what the version broke: it asks only for what protects the good version's pods."""

OUT_OF_THE_GROUP: Final[tuple[Gate, ...]] = (observation_is_fresh, rollout_is_allowed, pods_are_ready)
"""Before a pod whose consumer is out of the group anyway: nothing that goes on there is a reason to keep it out."""


def cannot_be_made(world: World, ordinal: int, down: Down) -> bool:
    """Under OrderedReady, a pod above one that is down: not before that one has been replaced."""
    in_order = world.workload is not None and world.workload.in_order
    return in_order and any(lower < ordinal for lower in down)


def _members_are_present(world: World, down: Down) -> Hold | None:
    outdated = {pod.ordinal for pod in world.outdated}
    for pod in reversed(world.wanted_pods):
        if pod.ordinal in down:
            continue
        members, wanted = world.members_of(pod), world.made_with(pod).members_per_pod
        living = [each for each in (*members, *consumers_more(world, pod)) if not has_ended(world, each)]
        found, alive = len(members), len(living)
        if alive > wanted and pod.ordinal not in outdated:
            message = f"pod {pod.name} has {alive} members, not membersPerPod {wanted}: {_why_too_many(world, pod)}"
            return Hold(Reason.FOREIGN_MEMBERS, message, LATER_S)
        if pod.ordinal in outdated and lacks_members_for_good(world, pod):
            continue  # its replacement is the remedy
        if found < wanted:
            message = f"pod {pod.name} {members_in_words(world, pod, found)}"
            return Hold(Reason.MEMBER_MISSING, message, SOON_S)
        if presence(world, pod) is not Presence.YES:
            message = f"the group lists pod {pod.name}'s member, but not yet one that joined since the pod started"
            return Hold(Reason.MEMBER_NOT_REJOINED, message, SOON_S)
    return None


def _why_too_many(world: World, pod: Pod) -> str:
    if not shares_its_address(world, pod):
        return what_to_correct(world, pod)
    beside = listing(pods_beside(world, pod))
    return (
        f"it has one address with {beside}, and client ids do not tell whose they are. Give each consumer its"
        " pod's name as client.id; where this rollout does that, force it"
    )


def _none_crashes(world: World, down: Down) -> Hold | None:
    """Of the pods that have the version. Where others end as well, it is not the version's doing."""
    if not any(pod.restarts or pod.sidecars for pod in world.wanted_pods):
        return None
    outdated = {pod.ordinal for pod in world.outdated}
    to_stay = (pod for pod in reversed(world.wanted_pods) if pod.ordinal not in outdated | down)
    hold = next((hold for pod in to_stay if (hold := find_crashed(world, pod)) is not None), None)
    return None if hold is None or any(find_crashed(world, pod) for pod in world.outdated) else hold


def _last_restarted_works(world: World, down: Down) -> Hold | None:
    step, outdated = step_of(world.memory), {pod.ordinal for pod in world.outdated}
    for pod in reversed(world.wanted_pods):
        overtaken = pod.ordinal in outdated and _was_overtaken(world, pod)
        restarted = step is None or pod.ordinal in step.ordinals or overtaken or not world.history.has_seen(step)
        if pod.ordinal in outdated and lacks_members_for_good(world, pod):
            continue
        if not restarted or pod.ordinal in down:
            continue
        stall = find_stall(world, pod)
        if hold := stall.hold if stall is not None else find_standing(world, pod):
            return hold
    return None


def _was_overtaken(world: World, pod: Pod) -> bool:
    """An outdated pod that came lately with a version that another one has taken the place of, and is not the next to
    go."""
    next_to_go = world.way.following if world.way is not None else world.outdated[-1].ordinal
    came_lately = world.now - _came_at(world, pod) <= 2 * world.group.spec.rollout.rejoin_timeout_s
    return came_lately and pod.ordinal != next_to_go


def _came_at(world: World, pod: Pod) -> float:
    """Into the group, however long it had waited for a node and took to start; one that has ended since, when it was
    made."""
    if pod.restarts:
        return pod.created_at
    sightings = (world.history.members.get(each.instance_id or each.member_id) for each in world.members_of(pod))
    joins = [each.since for each in sightings if each is not None and each.absent_at is not None]
    return max(pod.created_at, pod.started_at or 0.0, *joins)


def _why_waiting(pod: Pod) -> str:
    if pod.starting:
        return " (its startup probe has not succeeded yet)"
    detail = f": {pod.waiting_message}" if pod.waiting_message else ""
    if pod.waits_for_its_volumes_node:
        return f" (no room on the node that has its volume{detail})"
    return f" ({pod.waiting}{detail})" if pod.waiting else ""
