"""One row for each pod of a group: its version, whether it is up and in the group, and what it owns. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from slackwater.cli.words.acts import ordinals_of
from slackwater.cli.words.explanation import Explanation
from slackwater.cli.words.protocol import cutover_ahead
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.words import seconds
from slackwater.core.members.presence import Presence, presence
from slackwater.core.world.behind import behind
from slackwater.core.world.memory import Release
from slackwater.core.world.observation import GroupObservation, Member, TopicPartition
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

MISSING: Final = "missing"


@dataclass(frozen=True, slots=True)
class PodRow:
    name: str
    ordinal: int
    version: str
    """`new`, `old`, or nothing while there is only one."""
    ready: bool
    joined: Presence | None
    """Whether its members are in the group; None when Kafka cannot be asked."""
    restarts: int
    members: tuple[Member, ...]
    partitions: tuple[TopicPartition, ...]
    lag: int | None
    note: str
    """Why it does not run, or what is being done to it; empty for a pod that simply works."""

    @property
    def notable(self) -> bool:
        """Worth a row of its own where there is no room for all."""
        return bool(self.note) or not self.ready or self.joined is Presence.NO


def pod_rows(world: World, plan: Decision, explanation: Explanation) -> tuple[PodRow, ...]:
    """Every pod that there is or should be, by ordinal. Whether those of another's StatefulSet run is not known."""
    wanted = range(0 if world.foreign is not None else world.replicas)
    ordinals = {*wanted, *(pod.ordinal for pod in world.pods)}
    rows = [_row(world, plan, explanation, ordinal) for ordinal in sorted(ordinals)]
    return tuple(sorted((*rows, *_beside(world)), key=lambda row: row.ordinal))


def _beside(world: World) -> list[PodRow]:
    """In a handover: pods that have not taken over yet, and such as have been replaced. What is in the group is told of
    those that hold the ordinals."""
    if world.beside is None:
        return []
    told = [(pod, _arrives(pod)) for pod in world.beside.arriving]
    told += [(pod, "replaced, ending" if pod.terminating else "replaced") for pod in world.beside.leaving]
    newcomer = world.beside.newcomer.name
    return [
        PodRow(
            name=pod.name,
            ordinal=pod.ordinal,
            version="new" if pod.workload == newcomer else "old",
            ready=pod.ready,
            joined=None,
            restarts=pod.restarts,
            members=(),
            partitions=(),
            lag=None,
            note=note,
        )
        for pod, note in told
    ]


def _arrives(pod: Pod) -> str:
    if pod.terminating:
        return "ending"
    if pod.waiting:
        return f"{pod.waiting}: {pod.waiting_message}" if pod.waiting_message else pod.waiting
    return "is to take over" if pod.started_at is not None else "starting"


def other_members(world: World) -> tuple[Member, ...]:
    """Members of the group that run in no pod of ours."""
    if not isinstance(world.kafka, GroupObservation):
        return ()
    ours = {member.member_id for pod in world.pods for member in world.members_of(pod)}
    ours |= {m.member_id for ordinal in range(world.replicas) for m in _left_by(world, ordinal)}
    return tuple(member for member in world.kafka.members if member.member_id not in ours)


def compact(partitions: Iterable[TopicPartition], only_topic: str = "") -> str:
    """`orders 0-3,7 refunds 1`; just the numbers where the topic is the only one that the group reads."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        by_topic.setdefault(topic, []).append(number)
    if list(by_topic) == [only_topic]:
        return _ranges(by_topic[only_topic])
    return " ".join(f"{topic} {_ranges(numbers)}" for topic, numbers in by_topic.items())


def _row(world: World, plan: Decision, explanation: Explanation, ordinal: int) -> PodRow:
    pod = world.pod(ordinal)
    members = _left_by(world, ordinal) if pod is None else world.members_of(pod)
    owned = tuple(sorted(partition for member in members for partition in member.assignment))
    if pod is None:
        return PodRow(world.pod_name(ordinal), ordinal, "", False, None, 0, members, owned, _lag(world, owned), MISSING)
    return PodRow(
        name=pod.name,
        ordinal=ordinal,
        version=_version(world, plan, pod),
        ready=pod.ready,
        joined=presence(world, pod) if isinstance(world.kafka, GroupObservation) else None,
        restarts=pod.restarts,
        members=members,
        partitions=owned,
        lag=_lag(world, owned),
        note=_note(world, plan, explanation, pod),
    )


def _left_by(world: World, ordinal: int) -> tuple[Member, ...]:
    """Static members of a pod that is not there: they keep their partitions until their sessions end (F10)."""
    return world.members_at(ordinal) if world.pod(ordinal) is None else ()


def _version(world: World, plan: Decision, pod: Pod) -> str:
    workload = world.workload
    if world.beside is not None:
        return "new" if pod.workload == world.beside.newcomer.name else "old"
    differ = plan.memory.phase.under_way or len({p.revision for p in world.pods}) > 1
    if workload is None or not world.settled or not differ:
        return ""
    if cutover_ahead(world, plan) is not None:
        return "old"
    if pod.ordinal < world.replicas:
        return "old" if pod in behind(world.remembering(plan.memory)) else "new"
    return "new" if pod.revision == workload.update_revision else "old"


def _lag(world: World, owned: tuple[TopicPartition, ...]) -> int | None:
    if not isinstance(world.kafka, GroupObservation) or not owned:
        return None
    return world.kafka.lag_in(owned)


def _note(world: World, plan: Decision, explanation: Explanation, pod: Pod) -> str:
    if pod.terminating:
        return "ending"
    if pod.waiting:
        return f"{pod.waiting}: {pod.waiting_message}" if pod.waiting_message else pod.waiting
    if pod.ordinal >= world.replicas:
        return "to be scaled away"
    if pod.ordinal in ordinals_of(world, plan.act):
        return "now"
    if release := _release_of(world, pod):
        return f"id released {seconds(max(0.0, world.now - release.released_at))} ago"
    step = world.memory.step
    arriving = world.beside.arriving if world.beside is not None else ()
    if any(other.ordinal == pod.ordinal for other in arriving):
        return "is to be replaced"
    if plan.memory.phase.under_way and step is not None and pod.ordinal in step.ordinals:
        return f"restarted {seconds(max(0.0, world.now - step.started_at))} ago"
    waits_its_turn = plan.act is None and explanation.follow[:1] == (pod.name,)
    return "next" if waits_its_turn else ""


def _release_of(world: World, pod: Pod) -> Release | None:
    """While its successor has not joined (F13); the last one, where the pod has several members."""
    return max(world.released_at(pod.ordinal).values(), key=lambda release: release.released_at, default=None)


def _ranges(numbers: list[int]) -> str:
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
