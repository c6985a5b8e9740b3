"""The world outside the operator, in virtual time: the ConsumerGroup object, the StatefulSet, the pods and Kafka."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from types import MappingProxyType
from typing import Any, Final

from slackwater.api.amounts import amount_of
from slackwater.api.annotations import ABORT, FORCE, PAUSE, PROMOTE, RESTART, RETRY
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import (
    Act,
    AlterGroupSettings,
    DeleteGroup,
    DeletePod,
    DeleteWorkload,
    LetGo,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.manifests.objects import stateful_set
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, read_memory
from slackwater.core.world.observation import KafkaView
from slackwater.core.world.two_sets import names_of
from slackwater.core.world.world import World
from tests.api.manifests import consumer_group
from tests.core.factories import BOOTSTRAP, BROKER, NAME, UID
from tests.core.simulation.broker import RANGE, Broker, Numbers, Process
from tests.core.simulation.stateful_set import SimulatedPod, StatefulSet

START: Final = 1_000_000.0
SESSION_S: Final = 12
QUICK: Final[Mapping[str, Any]] = {"stableFor": "3s", "rejoinTimeout": "20s"}


LIBRDKAFKA: Final[Mapping[str, str]] = {"library": "Librdkafka", "version": "2.12.1"}


class Outside:
    """Everything that is not the operator. People's doings are methods with a verb of theirs."""

    def __init__(
        self,
        *,
        replicas: int = 3,
        partitions: int = 6,
        version: str = "v1",
        static: bool = True,
        kip848: bool = False,
        counts_unavailable: bool = False,
        client: Mapping[str, str] = LIBRDKAFKA,
        protocol: Mapping[str, Any] = MappingProxyType({}),
        **rollout: Any,
    ) -> None:
        self.now = START
        self.broker = Broker(partitions=partitions, session_s=SESSION_S)
        self.facts = BROKER
        """What the brokers say of themselves."""
        uids = Numbers(1)
        self.sets = {
            name: StatefulSet(self.broker, name, uids=uids, counts_unavailable=counts_unavailable)
            for name in names_of(NAME)
        }
        self.controller_runs = True
        self.rebooting: dict[int, float] = {}
        self.bootstrap = BOOTSTRAP
        """As the KafkaConnection says."""
        self.room: int | None = None
        """For how many pods there is a place on the nodes; None: for any number."""
        self.status: dict[str, Any] = {}
        self.was_lost = False
        """The status, once: with the StatefulSet gone as well, nobody knows any more which members are the group's."""
        self._asked_of: dict[str, int] = {}
        """By version, the most members that people have asked of a pod of it."""
        self.nobody_knows: set[str] = set()
        """Uids of two pods of one ordinal whose member somebody took out: either may have fenced the other since."""
        self.annotations: dict[str, str] = {}
        self.generation = 1
        protocol = {"target": "Consumer"} if kip848 else dict(protocol)
        self.spec: dict[str, Any] = {
            "replicas": replicas,
            "membership": "Static" if static else "Dynamic",
            "client": dict(client),
            "protocol": protocol,
            "timeouts": _timeouts(protocol),
            "rollout": {**QUICK, **rollout},
            "template": _template(version),
        }
        self._parsed: ConsumerGroup | None = None
        self._remembered: tuple[Mapping[str, Any], RolloutMemory] | None = None
        self._tokens = 0
        self._kip848 = kip848
        self._foreign: Process | None = None

    @property
    def set(self) -> StatefulSet:
        """The one in use: the older one."""
        there = [each for each in self.sets.values() if each.exists]
        return min(there, key=lambda each: each.created_at) if there else self.sets[NAME]

    @property
    def pods(self) -> list[SimulatedPod]:
        return [pod for each in self.sets.values() for pod in each.pods.values()]

    @property
    def revisions(self) -> dict[str, Mapping[str, Any]]:
        return {name: template for each in self.sets.values() for name, template in each.revisions.items()}

    @property
    def readable(self) -> dict[str, Mapping[str, Any]]:
        lost = {name for each in self.sets.values() for name in each.lost}
        return {name: template for name, template in self.revisions.items() if name not in lost}

    # What people do.
    def apply(self, version: str, **spec: Any) -> None:
        """`spec`: what else is changed in the same moment."""
        self.change_spec(template=_template(version), **spec)

    def change_rollout(self, **changes: Any) -> None:
        self.change_spec(rollout={**self.spec["rollout"], **changes})

    def change_target(self, target: str) -> None:
        protocol = {**self.spec["protocol"], "target": target}
        self.change_spec(protocol=protocol, timeouts=_timeouts(protocol))

    def scale(self, replicas: int) -> None:
        self.change_spec(replicas=replicas)

    def pause(self) -> None:
        self._annotate(PAUSE, "")

    def resume(self) -> None:
        self.annotations.pop(PAUSE, None)
        self._parsed = None

    def promote(self) -> None:
        self._command(PROMOTE)

    def abort(self) -> None:
        self._command(ABORT)

    def retry(self) -> None:
        self._command(RETRY)

    def force(self) -> None:
        self._command(FORCE)

    def restart(self) -> None:
        self._command(RESTART)

    # What fate does.
    def evict(self, ordinal: int) -> None:
        """Somebody else deletes a pod, as a node drain does."""
        if pod := self.set.pods.get(ordinal):
            self.set.delete(ordinal, pod.uid, self.now)

    def orphan(self, name: str) -> None:
        """Somebody deletes a StatefulSet without its pods."""
        self.sets[name].orphan()

    def delete_pod(self, name: str) -> None:
        for each in self.sets.values():
            for pod in list(each.pods.values()):
                if pod.name == name:
                    each.delete(pod.ordinal, pod.uid, self.now)

    def crash(self, ordinal: int) -> None:
        pod = self.set.pods.get(ordinal)
        if pod is not None and pod.gone_at is None and pod.started_at is not None:
            pod.crash(self.now)

    def set_kafka(self, *, reachable: bool) -> None:
        self.broker.set_reachable(reachable, self.now)

    def foreign_member(self, *, there: bool) -> None:
        if there and self._foreign is None:
            self._foreign = Process(None, "10.9.9.9", protocols=() if self._kip848 else RANGE)
            self.broker.join(self._foreign, self.now)
        elif not there and self._foreign is not None:
            self._foreign.alive = False
            self.broker.stopped_in_order(self._foreign, self.now)
            self._foreign = None

    def lose_status(self) -> None:
        self.status, self.was_lost = {}, True

    def stop_controller(self) -> None:
        self.controller_runs = False

    def start_controller(self) -> None:
        self.controller_runs = True

    # What the operator sees and does.
    def group(self) -> ConsumerGroup:
        if self._parsed is None:
            manifest = consumer_group(NAME, **self.spec)
            manifest["metadata"] |= {"uid": UID, "generation": self.generation, "annotations": dict(self.annotations)}
            self._parsed = parse_consumer_group(manifest)
        return self._parsed

    @property
    def memory(self) -> RolloutMemory:
        """What stands in the status, read once for each that is written."""
        if self._remembered is None or self._remembered[0] is not self.status:
            self._remembered = (self.status, read_memory(self.status))
        return self._remembered[1]

    def observe(self) -> KafkaView:
        return self.broker.observe(self.now)

    def world(self, kafka: KafkaView, history: GroupHistory) -> World:
        memory = self.memory
        needed = memory.phase not in (RolloutPhase.NONE, RolloutPhase.COMPLETE)
        sets = [seen for each in self.sets.values() if (seen := each.seen()) is not None]
        names = {each.name for each in sets}
        pods = tuple(pod.seen() for pod in sorted(self.pods, key=lambda pod: pod.ordinal) if pod.workload in names)
        loose = [pod for pod in self.pods if pod.workload not in names]
        return World(
            now=self.now,
            group=self.group(),
            kafka=kafka,
            history=history,
            sets=tuple(sets),
            all_pods=pods,
            loose=frozenset(pod.ordinal for pod in loose) if sets else frozenset(),
            orphans=frozenset(pod.name for pod in loose if pod.gone_at is None),
            memory=memory,
            bootstrap_servers=self.bootstrap,
            broker=self.facts,
            last_good_template=self.readable.get(memory.last_good_revision) if needed else None,
        )

    def write_status(self, status: Mapping[str, Any]) -> None:
        self.status = json.loads(json.dumps(status))

    def carry_out(self, act: Act) -> None:
        """Raises Conflict."""
        match act:
            case DeletePod():
                for each in self.sets.values():
                    each.delete(act.ordinal, act.uid, self.now)
            case DeleteWorkload(orphans=True):
                found = self.sets[act.name].seen()
                if found is not None and found.uid == act.uid:
                    self.orphan(act.name)
            case DeleteWorkload():
                self.sets[act.name].delete_whole(act.uid, self.now, act.keeps)
            case RemoveMembers():
                self.broker.remove(act.members, self.now)
            case ReleaseMembers():
                self.broker.release(act.members, self.now)
            case WriteWorkload():
                found = self.sets[act.name].seen()
                remaking = read_memory(self.status).remaking
                before = remaking.fixed if remaking is not None else {}
                fixed = found.fixed if found is not None else before
                self.sets[act.name].write(act, self.now, stateful_set(self.group(), act, fixed)["spec"])
            case AlterGroupSettings() | DeleteGroup() | LetGo():
                raise AssertionError("no simulated group has settings of its own, and none is deleted")

    # The passing of time.
    def tick(self, passed_s: float, random: Random | None = None) -> None:
        """Let time pass; with `random`, in any order and with a controller that is late now and then."""
        self.now += passed_s
        parts = [self._broker_tick, self._pods_tick, self._controller_tick]
        if random is not None:
            random.shuffle(parts)
        for part in parts:
            if random is None or part is not self._controller_tick or random.random() < 0.7:
                part(passed_s)

    def serves(self, pod: SimulatedPod) -> bool:
        """The truth, of which the operator sees only signs. Who works in another pod's name keeps that one from it."""
        in_its_own_name = pod.version.id_of in (None, pod.ordinal) or not pod.static
        works = bool(pod.processes) and all(map(self.broker.works, pod.processes))
        return pod.ready and works and in_its_own_name

    def reads_only_what_nobody_named(self, ordinal: int) -> bool:
        """Nobody can see whether it gets on there."""
        return False

    def reads_only_what_nobody_read_before(self, ordinal: int) -> bool:
        """There is nothing to compare it with."""
        return False

    def members_asked_of(self, pod: SimulatedPod) -> int:
        """The most that people have asked of its version, or ask now."""
        return max(self._members_asked, self._asked_of.get(self.image(pod), 0))

    @property
    def _members_asked(self) -> int:
        return int(self.spec.get("membersPerPod", 1))

    def has_as_many_as_people_said(self, ordinal: int) -> bool:
        """Where its program has more members than that, and not all of them work."""
        return False

    def image(self, pod: SimulatedPod) -> str:
        return _version_name(self.revisions[pod.revision])

    @property
    def most_away(self) -> int:
        """How many pods people let be away at once."""
        rollout = self.spec.get("rollout") or {}
        pods = max(self.spec.get("replicas", 1), read_memory(self.status).replicas or 0)
        return amount_of(rollout.get("maxUnavailable", 1), pods)

    @property
    def wanted_version(self) -> str:
        return _version_name(self.spec["template"])

    def _broker_tick(self, passed_s: float) -> None:
        self.broker.tick(self.now, passed_s)

    def _pods_tick(self, passed_s: float) -> None:
        for pod in sorted(self.pods, key=lambda pod: pod.created_at):
            if not pod.scheduled and (self.room is None or sum(p.scheduled for p in self.pods) < self.room):
                pod.scheduled, pod.ready_changed_at, pod.waiting = True, self.now, ""
        for each in self.sets.values():
            each.tick_pods(self.now)

    def _controller_tick(self, passed_s: float) -> None:
        if self.controller_runs:
            for each in self.sets.values():
                each.sync(self.now)

    def change_spec(self, **changes: Any) -> None:
        if any(self.spec.get(field) != value for field, value in changes.items()):
            self.spec |= changes
            self.generation += 1
            self._parsed = None
            version = self.wanted_version
            self._asked_of[version] = max(self._members_asked, self._asked_of.get(version, 0))

    def _command(self, annotation: str) -> None:
        self._tokens += 1
        self._annotate(annotation, str(self._tokens))

    def _annotate(self, annotation: str, value: str) -> None:
        self.annotations[annotation] = value
        self._parsed = None


def _template(version: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "consumer", "image": f"consumer:{version}"}]}}


def _timeouts(protocol: Mapping[str, Any]) -> dict[str, str]:
    """Members of the new protocol are given their session by the group's settings."""
    return {} if protocol.get("target") == "Consumer" else {"session": f"{SESSION_S}s"}


def _version_name(template: Mapping[str, Any]) -> str:
    image: str = template["spec"]["containers"][0]["image"]
    return image.partition(":")[2]
