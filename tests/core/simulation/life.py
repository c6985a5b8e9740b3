"""The world of a simulation for the whole life of a ConsumerGroup: made, edited field by field, deleted, made again.

What people want is a document of theirs, as in a repository: they go on editing it while there is no object.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final

from slackwater.api.annotations import FINALIZER
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import Act, AlterGroupSettings, DeleteGroup, LetGo, WriteWorkload
from slackwater.core.decision.reasons import Hold
from slackwater.core.decision.remains import Remains
from slackwater.core.deletion import plan_deletion
from slackwater.core.world.memory import write_memory
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    KafkaView,
    Member,
    TopicPartition,
)
from tests.api.manifests import consumer_group
from tests.core.factories import NAME, UID
from tests.core.simulation.operator import Crashes, SimulatedOperator
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import Conflict, SimulatedPod

Spec = dict[str, Any]
Changes = tuple[tuple[str, Any], ...]
"""Paths such as `rollout.canary`, and what stands there then; None: nothing."""
TOPICS: Final = {"orders": 6, "refunds": 2}
"""The topics that every version consumes, by their partitions."""


class Life(Outside):
    def __init__(self, *, shows_subscriptions: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.shows_subscriptions = shows_subscriptions
        """Not of consumers that subscribe by a pattern which brokers match."""
        self.exists = True
        self.deleting = False
        self.comes_again = False
        """Somebody waits until it is gone, and makes it again."""
        self.spec["topics"] = ["orders"]
        self.wanted: Spec = deepcopy(self.spec)
        self.uid = UID
        self.lives = 1
        self.said: dict[str, int] = {}
        """By version, the most members that people said a pod of it has."""
        self.conflicts = 0
        """So many writes of a StatefulSet come too late: somebody labels it meanwhile."""
        self.settings: dict[str, str] = {}
        """The group's own, in Kafka."""
        self.groups_deleted = 0
        self.layout = [TopicPartition("orders", number) for number in range(len(self.broker.partitions))]
        self.grow(TOPICS["refunds"], "refunds")

    # What people do.
    def edit(self, changes: Changes) -> bool:
        """`kubectl apply`; False where the API server refuses it, and nothing is changed."""
        wanted = deepcopy(self.wanted)
        for path, value in changes:
            put(wanted, path, value)
        try:
            parse_consumer_group(consumer_group(NAME, **deepcopy(wanted)))
        except InvalidSpec:
            return False
        self.wanted = wanted
        if self.exists and not self.deleting and self.spec != wanted:
            self.spec = deepcopy(wanted)
            version, members = self.wanted_version, self.spec.get("membersPerPod", 1)
            self.said[version] = max(members, self.said.get(version, 0))
            self.generation += 1
            self._parsed = None
        return True

    def delete_object(self) -> None:
        self.deleting, self.comes_again = self.exists, False

    def make_object(self) -> None:
        """Applied while it is still there, it comes once that is gone."""
        self.comes_again = self.deleting or not self.exists

    def gone(self) -> None:
        """Its last finalizer is: by then none of the members that it knows may be in the books (F10). Through a
        connection by which none of its pods was ever seen there, it knows nobody: they leave with their sessions."""
        seen_in, here = self.memory.seen_in, f"{self.group().spec.connection_ref} in "
        knows = not self.was_lost and (seen_in is None or seen_in.startswith(here))
        left = [] if not knows else [each.instance_id for each in self.broker.group.members if each.instance_id]
        assert not left, f"the object goes, and leaves {left} in the group"
        self.exists = self.deleting = False
        self.status, self.annotations, self._parsed = {}, {}, None

    def remove_command(self, annotation: str) -> None:
        self.annotations.pop(annotation, None)
        self._parsed = None

    # What fate does.
    def lose_node(self, ordinal: int, *, power: bool, evicted: bool) -> None:
        """`power`: its processes end, too; `evicted`: for so long that its pod is deleted, as far as one can see."""
        pod = self.set.pods.get(ordinal)
        if pod is None or pod.lost:
            return
        pod.lost = True
        pod.set_ready(False, self.now)
        if power:
            pod.end_process()
        if evicted:
            self.set.delete(ordinal, pod.uid, self.now)

    def nodes_are_back(self) -> None:
        for pod in self.pods:
            if pod.lost:
                pod.lost = False
                self._hear_of(pod)

    def _hear_of(self, pod: SimulatedPod) -> None:
        if pod.gone_at is not None:
            pod.stop(self.now, self.broker)
        elif not any(process.alive for process in pod.processes) and pod.started_at is not None:
            pod.crash(self.now)

    def kick(self, ordinal: int) -> None:
        """Somebody takes a living member out of the group."""
        pod = self.set.pods.get(ordinal)
        there = [each.pods[ordinal] for each in self.sets.values() if ordinal in each.pods]
        if len(there) > 1:
            self.nobody_knows |= {each.uid for each in there}
        for process in pod.processes if pod is not None else ():
            self.broker.leave(process, self.now)

    def grow(self, by: int, topic: str = "orders") -> None:
        size = sum(each.topic == topic for each in self.layout)
        self.layout += [TopicPartition(topic, size + number) for number in range(by)]
        self.broker.grow(by, self.now, topic)

    def delete_set(self) -> None:
        found = self.set.seen()
        if found is not None:
            self.set.delete_whole(found.uid, self.now)

    def reads_only_what_nobody_named(self, ordinal: int) -> bool:
        """`spec.topics` names none of what its members were given; of those that stand, where others work."""
        processes = [process for pod in self.pods if pod.ordinal == ordinal for process in pod.processes]
        stand = [process for process in processes if process.alive and not self.broker.works(process)]
        owned = {partition for each in stand or processes for partition in self.broker.owned_by(each)}
        names = dict(zip(sorted(self.broker.partitions), self.layout, strict=True))
        return bool(owned) and all(names[each].topic not in self.spec["topics"] for each in owned)

    def reads_only_what_nobody_read_before(self, ordinal: int) -> bool:
        """Of the topics that are asked for; nobody has ever committed in those that it was given."""
        names = dict(zip(sorted(self.broker.partitions), self.layout, strict=True))
        processes = [process for pod in self.pods if pod.ordinal == ordinal for process in pod.processes]
        owned = {names[each].topic for process in processes for each in self.broker.owned_by(process)}
        read = {names[each].topic for each in self.broker.committed}
        named = owned & set(self.spec["topics"])
        return bool(named) and not named & read

    def members_asked_of(self, pod: SimulatedPod) -> int:
        return max(super().members_asked_of(pod), self.said.get(self.image(pod), 0))

    def has_as_many_as_people_said(self, ordinal: int) -> bool:
        """Its program has more: of those one may end, once the others have its partitions. Of a version that was given
        up for them, what they own is nobody's who would be missed: its replacement is on its way."""
        pods = [pod for pod in self.pods if pod.ordinal == ordinal]
        return bool(pods) and all(self._has_as_many(pod) for pod in pods)

    def _has_as_many(self, pod: SimulatedPod) -> bool:
        working = [process for process in pod.processes if self.broker.works(process)]
        said = self.said.get(self.image(pod), len(pod.processes))
        idle = [process for process in pod.processes if process not in working and self.broker.owned_by(process)]
        is_given_up = self.image(pod) != self.wanted_version
        return pod.ready and (is_given_up or not idle) and said <= len(working) < len(pod.processes)

    # What the operator sees and does.
    def group(self) -> ConsumerGroup:
        if self._parsed is None:
            manifest = consumer_group(NAME, **deepcopy(self.spec))
            own = {"uid": self.uid, "generation": self.generation, "annotations": dict(self.annotations)}
            manifest["metadata"] |= own | {"finalizers": [FINALIZER]}
            self._parsed = parse_consumer_group(manifest)
        return self._parsed

    def observe(self) -> KafkaView:
        """Of the topics in the spec."""
        view = super().observe()
        if not isinstance(view, GroupObservation):
            return view
        names = dict(zip(sorted(self.broker.partitions), self.layout, strict=True))
        asked = {names[each] for each in view.partitions if names[each].topic in self.spec["topics"]}

        def renamed(owned: frozenset[TopicPartition] | None) -> Any:
            return None if owned is None else frozenset(names[each] for each in owned)

        settled = view.type is GroupType.CONSUMER or view.state is GroupState.STABLE
        known = self.shows_subscriptions and settled
        members = (
            replace(
                m,
                assignment=renamed(m.assignment),
                target=renamed(m.target),
                subscribed=self._asked_for_by(m) if known else None,
            )
            for m in view.members
        )
        offsets = {names[each]: known for each, known in view.offsets.items() if names[each] in asked}
        return replace(
            view, members=tuple(members), partitions=frozenset(asked), offsets=offsets, settings=dict(self.settings)
        )

    def _asked_for_by(self, member: Member) -> frozenset[str]:
        topics = self.broker.process_of(member.member_id).topics
        return frozenset(each.topic for each in self.layout) if topics is None else frozenset(topics)

    def carry_out(self, act: Act) -> None:
        match act:
            case WriteWorkload():
                if self.conflicts:
                    self.conflicts -= 1
                    self.sets[act.name].version += 1
                super().carry_out(act)
                self.sets[act.name].owner_uid = self.uid
            case AlterGroupSettings():
                for name, value in act.values.items():
                    self.settings.pop(name, None) if value is None else self.settings.update({name: value})
            case DeleteGroup():
                if self.broker.group.members:
                    raise Conflict
                self.broker.forget_group()
                self.settings, self.groups_deleted = {}, self.groups_deleted + 1
            case LetGo():
                self.gone()
            case _:
                super().carry_out(act)

    def tick(self, passed_s: float, random: Any = None) -> None:
        if self.comes_again and not self.exists:
            self.lives += 1
            self.exists, self.comes_again, self.uid, self.generation = True, False, f"{UID}-{self.lives}", 1
            self.spec, self._parsed = deepcopy(self.wanted), None
        super().tick(passed_s, random)


class LifesOperator(SimulatedOperator):
    """Also carries a deletion out, as `shell.deletion` does; nothing is done for an object that is not there."""

    outside: Life

    def run_pass(self, crashes: Crashes) -> None:
        if not self.outside.exists:
            self.last = None
        elif self.outside.deleting:
            self._delete()
        else:
            super().run_pass(crashes)

    def _delete(self) -> None:
        world, remains = self.look(), self._remains()
        while True:
            decided = plan_deletion(world, remains)
            self.last = decided
            if decided.act is None:
                return
            self.outside.write_status({**self.outside.status, "rollout": write_memory(decided.memory)})
            self.say(f"{decided.act}")
            try:
                self.outside.carry_out(decided.act)
            except Conflict:
                return
            if isinstance(decided.act, LetGo):
                return
            world, remains = world.remembering(decided.memory), remains.after(decided.act)

    def _remains(self) -> Remains:
        sets = tuple(found for each in self.outside.sets.values() if (found := each.seen()) is not None)
        return Remains(sets, frozenset(each.name for each in sets), bool(self.outside.pods))

    def restart(self) -> None:
        self.die("for an upgrade")


@dataclass
class LifesRun(Run):
    """`operator_runs`: while it does not, nobody looks. `held`: the last hold while the run settled."""

    outside: Life
    operator_runs: bool = True
    held: Hold | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.operator = LifesOperator(self.outside, self.invariants)

    @property
    def lifes_operator(self) -> LifesOperator:
        assert isinstance(self.operator, LifesOperator)
        return self.operator

    def step(self) -> None:
        if self.operator_runs:
            super().step()
            return
        self.outside.tick(self.tick_s, self.random)
        self.invariants.watch()


def put(spec: Spec, path: str, value: Any) -> None:
    *way, last = path.split(".")
    for name in way:
        spec = spec.setdefault(name, {})
    if value is None:
        spec.pop(last, None)
    else:
        spec[last] = deepcopy(value)


def at(spec: Mapping[str, Any], path: str) -> Any:
    """What stands there; None: nothing."""
    found: Any = spec
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
