"""Conditions: what is so, why, and since when. A pure merge; the transition time moves only when the status does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from slackwater.api.annotations import PAUSE
from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.api.consumer_group import Membership
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import MOST_IN_A_LIST, count, listing, records, shown
from slackwater.core.members.duplicates import an_id_is_used_twice
from slackwater.core.members.ownership import find_strangers, strangers_in_words
from slackwater.core.members.presence import serves
from slackwater.core.members.sharing import sharers_in_words
from slackwater.core.members.shortfall import absence_in_words
from slackwater.core.members.work import idle_in_words, left_unread, nobody_consumes
from slackwater.core.rollout.scaling import is_held, who_scales
from slackwater.core.status.unseen import what_waits
from slackwater.core.status.upgrade import upgrade_in_words
from slackwater.core.timeouts.group_settings import timeouts_in_force
from slackwater.core.world.identity import number_in
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation, Member, Unobserved
from slackwater.core.world.world import World

_NOT_OURS: Final = "StatefulSet {} is not the group's own, and nothing is known of its pods"
TRUE, FALSE, UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN

LONGEST_MESSAGE: Final = 4_096
"""Characters: a status that the API server refuses for its length would stop its group."""


@dataclass(frozen=True, slots=True)
class Verdict:
    type: ConditionType
    status: ConditionStatus
    reason: Reason
    message: str = ""


def verdicts(world: World, hold: Hold | None, refusal: Hold | None = None) -> tuple[Verdict, ...]:
    """Every condition of the group, always all of them, so that an absent one never has to be interpreted."""
    return (
        _ready(world),
        _progressing(world),
        _group_stable(world),
        _rollout_gated(world, hold),
        _protocol_upgrade(world, hold, refusal),
        _static_membership(world),
        _oversized(world),
        _timeouts_clamped(world),
        _lagging(world),
        _paused(world),
        _scaling_held(world),
        degraded(world, hold),
    )


def merge(
    before: Iterable[Mapping[str, Any]], now: Iterable[Verdict], at: float, generation: int
) -> list[dict[str, Any]]:
    """Conditions as they stand in a status. `at`: seconds since the epoch."""
    known = {condition["type"]: condition for condition in before}
    merged = []
    for verdict in now:
        old = known.get(verdict.type)
        same = old is not None and old["status"] == verdict.status
        since = old["lastTransitionTime"] if old is not None and same else timestamp(int(at))
        merged.append(
            {
                "type": verdict.type.value,
                "status": verdict.status.value,
                "reason": verdict.reason.value,
                "message": shown(verdict.message, LONGEST_MESSAGE),
                "lastTransitionTime": since,
                "observedGeneration": generation,
            }
        )
    return merged


def _ready(world: World) -> Verdict:
    kind = ConditionType.READY
    if world.replicas == 0:
        return Verdict(kind, TRUE, Reason.AS_WANTED, "no pod is asked for")
    if (theirs := world.foreign) is not None:
        return Verdict(kind, FALSE, Reason.FOREIGN_STATEFUL_SET, _NOT_OURS.format(theirs.name))
    if down := _down(world):
        return Verdict(kind, FALSE, Reason.NOT_ALL_READY, f"not Ready: {down}")
    unseen = world.kafka if isinstance(world.kafka, Unobserved) else world.kafka.blind_to
    if unseen is not None:
        return Verdict(kind, UNKNOWN, unseen.reason, unseen.message)
    if out := [pod for pod in world.wanted_pods if not serves(world, pod)]:
        return Verdict(kind, FALSE, Reason.MEMBER_MISSING, absence_in_words(out))
    if world.seen is not None and nobody_consumes(world):
        return Verdict(kind, FALSE, *_standstill(world.seen))
    if idle := idle_in_words(world):
        return Verdict(kind, FALSE, Reason.PARTITIONS_WITHOUT_LIVE_OWNER, idle)
    return Verdict(kind, TRUE, Reason.AS_WANTED, "every pod is Ready and in the group")


def _standstill(kafka: GroupObservation) -> tuple[Reason, str]:
    """Where nobody consumes."""
    message = f"nobody consumes: {kafka.state_in_words}, and nothing has been committed in it for a while"
    return Reason.OFFSETS_NOT_MOVING if kafka.calm else Reason.GROUP_REBALANCING, message


def _down(world: World) -> str:
    """The first pods that are not Ready, and what Kubernetes says of the first of them of which it says something.

    Takes as long as there are pods, whatever number of them is asked for.
    """
    there = {pod.ordinal: world.pod(pod.ordinal) or pod for pod in world.wanted_pods}
    up = {ordinal for ordinal, pod in there.items() if pod.ready and not pod.terminating}
    number = world.replicas - len(up)
    if not number:
        return ""
    names = islice((world.pod_name(each) for each in range(world.replicas) if each not in up), MOST_IN_A_LIST)
    refused = (number_in(name.rpartition("-")[2]) for name in world.not_made)
    told = {*there, *(each for each in refused if each is not None and each < world.replicas)} - up
    return listing(names, of=number) + next(filter(None, (_why_not(world, each, number) for each in sorted(told))), "")


def _why_not(world: World, ordinal: int, number: int) -> str:
    """What Kubernetes says of the pod, which is one of so many; empty where it says nothing."""
    pod = world.pod(ordinal)
    words = (pod.waiting, pod.waiting_message) if pod is not None else (world.why_not_made(ordinal),)
    said = ": ".join(filter(None, words))
    if not said:
        return ""
    return f" ({world.pod_name(ordinal)}: {said})" if number > 1 else f" ({said})"


def _progressing(world: World) -> Verdict:
    kind, memory = ConditionType.PROGRESSING, world.memory
    if memory.phase is RolloutPhase.PROGRESSING:
        return Verdict(kind, TRUE, Reason.PROGRESSING, f"rolling out version {memory.target_hash}")
    if memory.phase is RolloutPhase.ROLLING_BACK:
        return Verdict(kind, TRUE, Reason.ROLLING_BACK, f"going back to {memory.last_good_hash}: {memory.message}")
    if memory.phase is RolloutPhase.FAILED:
        return Verdict(kind, FALSE, Reason.ROLLOUT_FAILED, memory.message)
    if memory.phase is RolloutPhase.ROLLED_BACK:
        return Verdict(kind, FALSE, Reason.ROLLED_BACK, _given_up(memory))
    if memory.phase is RolloutPhase.COMPLETE:
        return Verdict(kind, FALSE, Reason.ROLLOUT_COMPLETE, f"every pod runs version {memory.target_hash}")
    return Verdict(kind, FALSE, Reason.NOT_ROLLING, "nothing was rolled out yet")


def _given_up(memory: RolloutMemory) -> str:
    return f"version {memory.target_hash} was taken back. The reason then: {memory.message}"


def _group_stable(world: World) -> Verdict:
    kind, kafka = ConditionType.GROUP_STABLE, world.kafka
    if isinstance(kafka, Unobserved):
        return Verdict(kind, UNKNOWN, kafka.reason, kafka.message)
    if kafka.calm:
        return Verdict(kind, TRUE, Reason.STABLE, "the group is Stable")
    return Verdict(kind, FALSE, Reason.GROUP_REBALANCING, kafka.state_in_words)


def _rollout_gated(world: World, hold: Hold | None) -> Verdict:
    kind = ConditionType.ROLLOUT_GATED
    if hold is not None:
        return Verdict(kind, TRUE, hold.reason, hold.message)
    if world.memory.phase.under_way:
        return Verdict(kind, FALSE, Reason.GATES_HOLD, "all gates hold")
    return Verdict(kind, FALSE, Reason.NOT_ROLLING, "there is nothing to roll out")


def _protocol_upgrade(world: World, hold: Hold | None, refusal: Hold | None) -> Verdict:
    return Verdict(ConditionType.PROTOCOL_UPGRADE, *upgrade_in_words(world, hold, refusal))


def _timeouts_clamped(world: World) -> Verdict:
    kind, timeouts = ConditionType.TIMEOUTS_CLAMPED, timeouts_in_force(world)
    clamped = [
        f"{t.name} {t.asked_ms / 1000:g}s is outside of what the brokers allow"
        f" ({t.bounds.min_ms / 1000:g}s to {t.bounds.max_ms / 1000:g}s), so it is {t.set_ms / 1000:g}s"
        for t in timeouts
        if t.clamped and t.bounds is not None
    ]
    if clamped:
        return Verdict(kind, TRUE, Reason.CLAMPED, "; ".join(clamped))
    if world.broker is None or world.broker.problem:
        why = world.broker.problem if world.broker is not None else "the brokers have not told yet what they allow"
        return Verdict(kind, UNKNOWN, Reason.BOUNDS_UNKNOWN, why)
    return Verdict(kind, FALSE, Reason.WITHIN_BOUNDS, "")


def _static_membership(world: World) -> Verdict:
    kind = ConditionType.STATIC_MEMBERSHIP
    if world.group.spec.membership is Membership.STATIC:
        return Verdict(kind, TRUE, Reason.STATIC_MEMBERS, "members keep their partitions over a restart")
    return Verdict(kind, FALSE, Reason.DYNAMIC_MEMBERS, "members leave and join: each restart costs two rebalances")


def _oversized(world: World) -> Verdict:
    kind = ConditionType.OVERSIZED
    members = world.replicas * world.group.spec.members_per_pod
    if isinstance(world.kafka, Unobserved):
        return Verdict(kind, UNKNOWN, world.kafka.reason, world.kafka.message)
    partitions = len(world.kafka.partitions)
    figures = f"{count(members, 'member')} for {count(partitions, 'partition')}"
    if members <= partitions:
        return Verdict(kind, FALSE, Reason.EVERY_MEMBER_HAS_WORK, figures)
    idle = members - partitions
    message = f"{figures}: {idle} of them {'owns' if idle == 1 else 'own'} nothing"
    return Verdict(kind, TRUE, Reason.MORE_MEMBERS_THAN_PARTITIONS, message)


def _lagging(world: World) -> Verdict:
    kind, kafka, bound = ConditionType.LAGGING, world.kafka, world.group.spec.rollout.max_lag
    if not isinstance(kafka, GroupObservation) or kafka.lag is None:
        return Verdict(kind, UNKNOWN, Reason.LAG_UNKNOWN, "the lag could not be read")
    if bound is None or bound.absolute is None or kafka.lag <= bound.absolute:
        return Verdict(kind, FALSE, Reason.WITHIN_BOUND, "")
    message = f"about {records(kafka.lag)} behind, more than maxLag.absolute {bound.absolute}"
    return Verdict(kind, TRUE, Reason.LAG_ABOVE_GATE, message)


def _paused(world: World) -> Verdict:
    if PAUSE in world.group.metadata.annotations:
        return Verdict(ConditionType.PAUSED, TRUE, Reason.PAUSED, f"to go on, remove the annotation {PAUSE}")
    return Verdict(ConditionType.PAUSED, FALSE, Reason.NOT_PAUSED, "")


def _scaling_held(world: World) -> Verdict:
    kind = ConditionType.SCALING_HELD
    if not is_held(world):
        return Verdict(kind, FALSE, Reason.AS_WANTED, "")
    message = (
        f"spec.replicas is {world.group.spec.replicas} by now; the rollout goes on with {world.replicas},"
        " and the number changes when that is over or stands still: pausing it makes it do so"
    )
    return Verdict(kind, TRUE, Reason.ROLLOUT_UNDER_WAY, message)


def _shared(world: World) -> str:
    """Whose pods consume in the same group; empty: nobody's. One that has no pods takes nothing from this one."""
    if shared := sharers_in_words(world, running=True):
        return f"{shared}: they consume as one group. Delete all but one, and make those again with another groupId"
    return ""


def degraded(world: World, hold: Hold | None) -> Verdict:
    """Something is wrong that does not mend itself."""
    kind, memory = ConditionType.DEGRADED, world.memory
    hides = memory.phase.gave_up and hold is not None and hold.reason is Reason.SCALED_BY_OTHERS
    if hold is not None and hold.reason.degrades and not hides:
        return Verdict(kind, TRUE, hold.reason, hold.message)
    if memory.phase.gave_up:
        said = _given_up(memory) if memory.phase is RolloutPhase.ROLLED_BACK else memory.message
        return Verdict(kind, TRUE, Reason.ROLLOUT_FAILED, "; ".join(filter(None, (said, who_scales(world)))))
    if message := left_unread(world):
        return Verdict(kind, TRUE, Reason.PARTITIONS_WITHOUT_LIVE_OWNER, message)
    if (twice := an_id_is_used_twice(world)) is not None:
        return Verdict(kind, TRUE, twice.reason, twice.message)
    if world.seen is not None and world.seen.members and nobody_consumes(world):
        return Verdict(kind, TRUE, *_standstill(world.seen))
    if message := _shared(world):
        return Verdict(kind, TRUE, Reason.GROUP_ID_SHARED, message)
    if strangers := _uninvited(world):
        who = strangers_in_words(world, strangers)
        message = f"members that we do not run are in the group: {who}. Stop them, or give them another group.id"
        return Verdict(kind, TRUE, Reason.FOREIGN_MEMBERS, message)
    waits = what_waits(world)
    return Verdict(kind, TRUE, *waits) if waits else Verdict(kind, FALSE, Reason.AS_WANTED)


def _uninvited(world: World) -> tuple[Member, ...]:
    """Of a group with dynamic members it is not known: those of pods that have just died look the same."""
    if not isinstance(world.kafka, GroupObservation) or world.group.spec.membership is not Membership.STATIC:
        return ()
    return find_strangers(world, world.kafka)
