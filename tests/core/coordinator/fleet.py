"""The whole world of one ConsumerGroup as a value: what is wanted, the StatefulSet, pods, the group, the operator.

Everything is frozen, so that a state can be kept, compared and gone on from. What can happen to it stands in `events`,
what the operator does in `pilot`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from slackwater.api.annotations import ABORT, TEMPLATE_HASH
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import Act
from slackwater.core.world.broker import Bounds
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupState, GroupType, TopicPartition
from slackwater.core.world.profile import Profile, profile_in
from tests.api.manifests import consumer_group
from tests.core.coordinator.model import Group, Member
from tests.core.factories import BROKER, NAME, UID

PARTITIONS: Final = 12
"""As many as there may ever be pods: a member without any could not show that it lives but by the passing of time."""
TICK_S: Final = 700
"""Passes between one event and the next: longer than every wait of the operator but the two below."""
SESSION_S: Final = 72_000
"""So long that it ends only where an event says so."""
REJOIN_TIMEOUT_S: Final = 999 * 3600
NOW: Final = 10_000_000
_SESSIONS: Final = Bounds(6_000, SESSION_S * 1_000)
BROKERS: Final = replace(BROKER, classic_session=_SESSIONS, consumer_session=_SESSIONS)

OFFERS: Final[Mapping[Profile, tuple[str, ...]]] = {
    Profile.EAGER: ("range",),
    Profile.EAGER_AND_COOPERATIVE: ("range", "cooperative-sticky"),
    Profile.COOPERATIVE: ("cooperative-sticky",),
    Profile.CONSUMER: (),
}
STREAMS_OFFERS: Final = dict.fromkeys(OFFERS, ("stream",))


@dataclass(frozen=True, slots=True)
class Client:
    """What stays the same in one exploration."""

    library: str = "Java"
    version: str = "4.3"
    static: bool = True
    allow_downtime: bool = False
    upgrade_from: str = ""
    warm: bool = False
    exits_when_fenced: bool = True
    """Else its process lives on, and does nothing."""
    at_once: int = 1
    """How many pods may be away at once because of the operator."""

    @property
    def offers(self) -> Mapping[Profile, tuple[str, ...]]:
        return STREAMS_OFFERS if self.library == "KafkaStreams" else OFFERS


@dataclass(frozen=True, slots=True)
class Spec:
    """What people ask for."""

    target: str
    version: int = 1
    replicas: int = 3
    aborts: int = 0
    """How often somebody gave the command."""


@dataclass(frozen=True, slots=True)
class StatefulSet:
    """An object; templates and revisions are named by the template's hash."""

    name: str
    uid: int
    """Of two, the one with the lower one was made first."""
    template: str
    replicas: int
    partition: int
    on_delete: bool = False
    settled: bool = False
    current: str = ""
    update: str = ""
    start: int = 0

    @property
    def ordinals(self) -> range:
        return range(self.start, self.start + self.replicas)


@dataclass(frozen=True, slots=True)
class Pod:
    workload: str
    ordinal: int
    uid: int
    revision: str
    created_at: int
    started_at: int | None = None
    ended_at: int | None = None
    last_run_started_at: int | None = None
    ready_changed_at: int | None = None
    restarts: int = 0
    terminating: bool = False
    running: bool = False
    member_id: str = ""
    """Under which its process has joined; empty: not yet."""
    refused: bool = False
    """Its process met UNRELEASED_INSTANCE_ID (F13), or was fenced and did not exit: it lives on and never joins."""

    @property
    def profile(self) -> Profile:
        return profile_in(TEMPLATES[self.revision])

    @property
    def name(self) -> str:
        return f"{self.workload}-{self.ordinal}"

    @property
    def instance_id(self) -> str:
        return f"{NAME}-{self.ordinal}"

    @property
    def address(self) -> str:
        return f"10.{self.ordinal}.{self.uid // 250}.{self.uid % 250}"


@dataclass(frozen=True, slots=True)
class Fleet:
    client: Client
    spec: Spec
    now: int = NOW
    sets: tuple[StatefulSet, ...] = ()
    """The older one first."""
    pods: tuple[Pod, ...] = ()
    group: Group = field(default_factory=Group)
    memory: RolloutMemory = field(default_factory=RolloutMemory)
    history: GroupHistory = field(default_factory=GroupHistory)
    pending: Act | None = None
    """What the operator has written down and not done yet."""
    outrun: bool = False
    """The StatefulSet has changed since: a pending write of it will be refused."""
    taken: frozenset[int] = frozenset()
    """Ordinals that the operator took down and that do not serve again yet."""
    faults: int = 0
    """How many more may happen."""
    changes: int = 0
    """How often people may change their minds yet."""
    ids: int = 1
    """The next uid, or the number in the next member id."""

    def pod(self, ordinal: int) -> Pod | None:
        """The only one, or the one that serves where there are two."""
        found = sorted((pod for pod in self.pods if pod.ordinal == ordinal), key=self.is_member, reverse=True)
        return found[0] if found else None

    def named(self, name: str) -> StatefulSet | None:
        return next((each for each in self.sets if each.name == name), None)

    def pod_of(self, workload: str, ordinal: int) -> Pod | None:
        return next((pod for pod in self.pods if (pod.workload, pod.ordinal) == (workload, ordinal)), None)

    def is_member(self, pod: Pod) -> bool:
        """Its process runs and is in the group."""
        return pod.running and self.group.member(pod.member_id) is not None

    def is_fenced(self, pod: Pod) -> bool:
        """Its process runs, and another one holds its id."""
        holder = self.group.holder(pod.instance_id)
        joined = pod.running and bool(pod.member_id) and not self.is_member(pod)
        return joined and holder is not None and holder.classic

    def process_of(self, member: Member) -> Pod | None:
        """The pod whose process this member is; None for a dead one."""
        return next((p for p in self.pods if p.running and p.member_id == member.member_id), None)

    def serves(self, ordinal: int) -> bool:
        """The truth, of which the operator sees only signs: its process runs and is a member."""
        return any(self.is_member(pod) for pod in self.pods if pod.ordinal == ordinal)

    @property
    def replicas(self) -> int:
        """How many pods there are to be now: what is asked for may have to wait until the rollout is over."""
        return self.memory.replicas_of(self.spec.replicas)

    @property
    def partitions(self) -> frozenset[TopicPartition]:
        return frozenset(TopicPartition("orders", number) for number in range(PARTITIONS))


TEMPLATES: Final[dict[str, Mapping[str, Any]]] = {}
"""Every pod template that was ever written, by its hash."""


def template_hash(template: Mapping[str, Any]) -> str:
    """Remember the template; returns its name."""
    name: str = template["metadata"]["annotations"][TEMPLATE_HASH]
    TEMPLATES.setdefault(name, template)
    return name


@cache
def group_resource(client: Client, spec: Spec) -> ConsumerGroup:
    """The ConsumerGroup as the API server would give it."""
    timeouts = {} if spec.target == "Consumer" else {"session": f"{SESSION_S}s"}
    protocol: dict[str, Any] = {"target": spec.target, "allowDowntime": client.allow_downtime}
    if client.upgrade_from:
        protocol["upgradeFrom"] = client.upgrade_from
    containers = [{"name": "consumer", "image": f"consumer:v{spec.version}"}]
    manifest = consumer_group(
        NAME,
        replicas=spec.replicas,
        membership="Static" if client.static else "Dynamic",
        client={"library": client.library, "version": client.version},
        protocol=protocol,
        timeouts={**timeouts, "maxPollInterval": f"{SESSION_S}s"},
        rollout={
            "stableFor": "1s",
            "rejoinTimeout": f"{REJOIN_TIMEOUT_S}s",
            **({"strategy": "WarmHandover", "onFailure": "Rollback"} if client.warm else {}),
            **({"maxUnavailable": client.at_once} if client.at_once > 1 else {}),
        },
        template={"spec": {"containers": containers}},
    )
    annotations = {ABORT: str(spec.aborts)} if spec.aborts else {}
    manifest["metadata"] |= {"uid": UID, "generation": 1, "annotations": annotations}
    return parse_consumer_group(manifest)


def key_of(member: Member) -> str:
    """By what the coordinator tells members apart when it assigns."""
    return member.instance_id or member.member_id


def balanced(members: tuple[Member, ...], partitions: int = PARTITIONS) -> dict[str, frozenset[int]]:
    """Partitions by member id: the same members get the same, whoever holds an instance id now."""
    order = sorted(members, key=key_of)
    if all(m.reads is None for m in order):
        return {m.member_id: frozenset(range(i, partitions, len(order))) for i, m in enumerate(order)}
    given: dict[str, set[int]] = {m.member_id: set() for m in order}
    for number in range(partitions):
        if reading := [m for m in order if m.reads is None or number in m.reads]:
            given[reading[number % len(reading)].member_id].add(number)
    return {member_id: frozenset(numbers) for member_id, numbers in given.items()}


def state_seen(group: Group, partitions: int = PARTITIONS) -> GroupState:
    """As a description tells it: a consumer group whose members are not where they should be is on its way."""
    if group.type is not GroupType.CONSUMER or not group.members:
        return group.state
    there = balanced(group.members, partitions) == {m.member_id: m.assignment for m in group.members}
    return GroupState.STABLE if there else GroupState.RECONCILING
