"""How an instance id passes from a dead member to its successor, as one state machine for each id.

In a KIP-848 group the successor of a member that was killed is refused until the id is free (F13). A process that was
refused never asks again, though it may live on, Ready and idle; or the kubelet makes it wait ever longer.

    Held ──its process ends──► Dead ──the operator releases it──► Released ─┬─its successor joins──► Held
     │                          └──its session ends──► Left ────────────────┤
     └──it leaves (F12)────────────────────────────────►┘                   └─its successor had asked before──► Refused
                                                                                                                  │
    Held ◄──its successor joins── Restarted ◄──the operator restarts its pod──────────────────────────────────────┘

The operator acts in two states: it releases the id of the Dead (`release`), and restarts the pod of the Refused
(`refused`). The others need nothing. `state_of` reads a state from what is seen and remembered; it is stored nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from slackwater.core.members.clocks import LOOKS_CLOSE_S, NEW_POD_TAKES_S, backoff_left_s, latest_join, release_again_s
from slackwater.core.members.death import has_ended, time_to_join, was_there_before
from slackwater.core.members.ownership import given_ordinal
from slackwater.core.world.memory import Release
from slackwater.core.world.observation import GroupObservation, GroupType, Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World

_CLASSIC: Final = (Profile.EAGER, Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE)


@dataclass(frozen=True, slots=True)
class Free:
    """Nobody has the id, and nobody is remembered who had it."""


@dataclass(frozen=True, slots=True)
class Held:
    """A member has the id; as far as is known, its process lives."""

    member: Member


@dataclass(frozen=True, slots=True)
class Dead:
    """A member has the id whose process is known to have ended: whoever asks for it is refused."""

    member: Member
    tries: int = 0
    """How often the operator has released it already."""
    tried_at: float | None = None

    def is_due(self, now: float) -> bool:
        """Whether to release it now; a release that did not take is repeated ever more seldom."""
        return self.tried_at is None or now - self.tried_at >= release_again_s(self.tries)


@dataclass(frozen=True, slots=True)
class Left:
    """The id is free by itself: its member left, or its session ended."""

    member_id: str
    free_at: float


@dataclass(frozen=True, slots=True)
class Released:
    """The operator released the id, and nobody has taken it yet."""

    member_id: str
    free_at: float
    """By then; it may have been a moment earlier."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The id is free, but the pod's process asked for it earlier, and never asks again."""

    member_id: str
    """Of the dead member that had the id."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """The pod of a refused process was restarted, and its new process has not taken the released id yet."""

    member_id: str


State = Free | Held | Dead | Left | Released | Refused | Restarted

LEADS_TO: Final[Mapping[type[State], tuple[type[State], ...]]] = {
    Free: (Held,),
    Held: (Dead, Left, Free),
    Dead: (Released, Left),
    Left: (Held, Refused),
    Released: (Held, Refused, Dead),
    Refused: (Restarted, Free, Held),
    Restarted: (Held,),
}
"""Which state follows which, by one thing that happens; between two passes several may.

Held → Free: the member left, and was seen too briefly to be remembered. Released → Dead: the release did not take.
Released → Held: its successor joined; or it lived after all, and is back.
Refused → Free: the pod was restarted, and no release is on record that could say so. Refused → Held: it joined after
all, since somebody else restarted it. A restart that is remembered and was not done leaves it Refused.
"""


def state_of(world: World, instance_id: str) -> State:
    """Who has an instance id of ours, or what has become of it. `world`: of a group that Kafka described."""
    holder = next((m for m in world.members if m.instance_id == instance_id and not m.has_left), None)
    return state_of_held(world, holder) if holder is not None else _state_of_free(world, instance_id)


def state_of_held(world: World, member: Member) -> Held | Dead:
    """The state of the id that this member has."""
    if not _keeps_its_successor_out(world, member):
        return Held(member)
    release = world.memory.released.get(member.instance_id or "")
    if release is None or release.member_id != member.member_id:
        return Dead(member)
    return Dead(member, release.tries, release.released_at)


def free_ids(world: World, kafka: GroupObservation) -> Iterator[tuple[str, State]]:
    """The ids that no member has and whose last holder is remembered, each with its state."""
    memory = world.memory
    refused = (instance_id for refusal in memory.refused.values() for instance_id in refusal.ids)
    for instance_id in dict.fromkeys((*memory.released, *memory.holders, *refused)):
        if instance_id not in kafka.held_ids:
            yield instance_id, _state_of_free(world, instance_id)


def was_refused(world: World, pod: Pod, instance_id: str, freed: Left | Released) -> bool:
    """It asked while the dead member had the id, and would be in the group by now if it had been let in."""
    asked_after = pod.last_run_started_at if pod.started_at is None else pod.runs_since
    if asked_after is None or asked_after >= freed.free_at:
        return False  # it asked when the id was free: if it ended, that was not because of the id
    if not was_there_before(world, instance_id, freed.member_id, asked_after):
        return False
    if pod.started_at is None:  # the kubelet would make it wait longer and longer, though nothing is wrong any more
        return _is_held_back(world, pod)
    return world.now > latest_join(
        pod.started_at,
        freed.free_at,
        time_to_join(world, pod, instance_id, freed.member_id),
        (pod.ready_changed_at or pod.started_at) if pod.ready else None,
        world.group.spec.rollout.rejoin_timeout_ms / 1000,
    )


def _state_of_free(world: World, instance_id: str) -> State:
    release, holder = world.memory.released.get(instance_id), world.memory.holders.get(instance_id)
    ordinal = world.ordinal_of(instance_id)
    pod = world.pod(ordinal) if ordinal is not None else None
    if pod is not None and (kept_out_by := _is_yet_to_be_restarted(world, pod, instance_id)) is not None:
        return Refused(kept_out_by)
    if release is not None and release.restarted:
        return Restarted(release.member_id)
    freed: Left | Released
    if release is not None:
        freed = Released(release.member_id, _released_by(world, instance_id, release))
    elif holder is not None:
        freed = Left(holder.member_id, _free_since(world, instance_id))
    else:
        return Free()
    return Refused(freed.member_id) if pod is not None and was_refused(world, pod, instance_id, freed) else freed


def _is_yet_to_be_restarted(world: World, pod: Pod, instance_id: str) -> str | None:
    """A restart of this process is remembered, and was not done: the dead member that had the id."""
    refusal = world.memory.refused.get(pod.name)
    return refusal.ids.get(instance_id) if refusal is not None and refusal.still_refused(pod) else None


def _keeps_its_successor_out(world: World, member: Member) -> bool:
    """Its process is known to have ended, though its pod is wanted, and a classic newcomer would not be refused."""
    if not isinstance(world.kafka, GroupObservation) or world.kafka.type is not GroupType.CONSUMER:
        return False
    ordinal = given_ordinal(world, member)
    pod = world.pod(ordinal) if ordinal is not None else None
    if pod is None or pod.ordinal >= world.replicas or pod.protocol in _CLASSIC:
        return False
    return has_ended(world, member)


def _is_held_back(world: World, pod: Pod) -> bool:
    """The kubelet makes its container wait for so long that a new pod is quicker.

    The wait shows late in the pod's status, if at all, and its end too: a pod that is about to start is left alone.
    """
    if pod.ended_at is None or pod.waiting not in ("", "CrashLoopBackOff"):
        return False
    return backoff_left_s(world.now - pod.ended_at) >= NEW_POD_TAKES_S


def _released_by(world: World, instance_id: str, release: Release) -> float:
    """The request follows what is remembered of it, and who asks meanwhile is refused: until a look shows it free.

    Where nobody looked for a while before that, it may have been free for as long.
    """
    sighting = world.history.members.get(instance_id)
    if sighting is None or sighting.member_id != release.member_id or sighting.away_since is None:
        return release.released_at
    looked = sighting.left_after is not None and sighting.away_since - sighting.left_after <= LOOKS_CLOSE_S
    return max(release.released_at, sighting.away_since) if looked else release.released_at


def _free_since(world: World, instance_id: str) -> float:
    """Too early in doubt, so that no process is taken for refused. Who is away has left by itself, before its successor
    started; who is not listed any more may have died."""
    sighting, history = world.history.members.get(instance_id), world.history
    if sighting is not None and sighting.away:
        holder = world.memory.holders.get(instance_id)
        early = holder.there_by if holder is not None else sighting.since
        return sighting.left_after if sighting.left_after is not None else early
    seen_free = history.departures.get(instance_id, history.watched_since)
    return seen_free if seen_free is not None else world.now
