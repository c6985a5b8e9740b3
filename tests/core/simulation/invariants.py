"""What must never happen, checked against the truth of the simulation and not against what the operator believes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from slackwater.api.rollout import RolloutStrategy
from slackwater.core.decision.acts import Cause, DeletePod, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.rollout.candidates import known_down, out_of_the_group
from slackwater.core.rollout.gates import first_refusal
from slackwater.core.world.world import World
from tests.core.coordinator.model import Awaits
from tests.core.simulation.outside import Outside
from tests.core.simulation.stateful_set import SimulatedPod, hash_of

COMMITS_SEEN_S = 10.0
"""Whoever looks for so long has seen each partition get on."""


class Broken(AssertionError):
    """An invariant does not hold."""


@dataclass
class Invariants:
    outside: Outside
    taken: dict[int, SimulatedPod] = field(default_factory=dict)
    """Pods that served until we took them down, by ordinal, until their ordinal serves again."""
    served_at: dict[int, float] = field(default_factory=dict)
    were_down: set[int] = field(default_factory=set)
    """Ordinals of the pods that were down when they were replaced, until they serve."""
    restarts: int = 0
    forced: bool = False
    """People said that it may go on, whether or not those consume that have joined."""
    retries: bool = False
    """People said that what has failed is to be tried again."""
    without_room_since: float | None = None
    """A handover began then, for whose pod there has been no room for `surgeTimeout`, or which is to go on in place."""
    watched_since: float = 0.0
    """Since when the operator has looked at the group, without a gap."""
    most_away: int = 1
    """How many pods may be away because of us: the most that people have allowed since none was."""
    served: set[str] = field(default_factory=set)
    """Templates with which a pod has served."""
    goes_back: bool = False
    """From a version that has failed, or was given up: that its pods consume nothing is no reason to keep them."""

    def watch(self) -> None:
        """To be called whenever time has passed."""
        for pod in self.outside.pods:
            nobody_can_tell = pod.ready and self.outside.reads_only_what_nobody_named(pod.ordinal)
            if self.outside.serves(pod) or nobody_can_tell:
                self.served_at[pod.ordinal] = self.outside.now
                self.taken.pop(pod.ordinal, None)
                self.were_down.discard(pod.ordinal)
            if self.outside.serves(pod):
                self.served.add(pod.template_hash)
        wanted = self._wanted()
        for ordinal in [o for o in self.taken if o not in wanted]:
            del self.taken[ordinal]
        self.most_away = max(self.outside.most_away, self.most_away if self.taken else 1)

    def before_act(self, world: World, decided: Decision) -> None:
        """Every gate holds before an act that asks them; a pod that serves goes only while all others serve.

        What is exempt from the gates is named in `Purpose` and `Cause`, and nothing is exempt from the second: a pod is
        deleted, whatever the cause, only when it does not serve.
        """
        act, handover = decided.act, decided.memory.handover
        in_place = world.group.spec.rollout.strategy is RolloutStrategy.IN_PLACE
        goes_on_without = handover is not None and (handover.cold or in_place)
        self.without_room_since = handover.started_at if handover is not None and goes_on_without else None
        self.forced = world.memory.is_forced or decided.memory.is_forced  # obeyed in this very pass
        self.retries = decided.memory.retried_at is not None
        self.goes_back = world.memory.phase.goes_back
        self.watched_since = world.history.watched_since or world.now
        if not isinstance(act, WriteWorkload | DeletePod) or world.workload is None:
            return
        if act.asks_the_gates:
            before = replace(decided.memory, step=world.memory.step, handover=world.memory.handover)
            decided_upon = replace(world, memory=before)
            assert decided_upon.workload is not None
            out = self._goes_for_who_is_out(decided_upon, act)
            if refusal := first_refusal(decided_upon, known_down(decided_upon, decided_upon.workload), who_is_out=out):
                raise Broken(f"{act} although {refusal}")
        if isinstance(act, DeletePod) and act.cause is Cause.DOWN:
            self.were_down.add(act.ordinal)
        pod = self._pod_of(act)
        if not act.disruptive or pod is None or not self.outside.serves(pod):
            return
        if isinstance(act, DeletePod):
            self._before_a_deletion(world, act, pod)
        elif not self.forced:
            self._all_others_serve(pod)

    def _before_a_deletion(self, world: World, act: DeletePod, pod: SimulatedPod) -> None:
        """Of a pod that serves."""
        if act.cause is Cause.TOGETHER and self._is_let_go(world, pod):
            return  # how many are away, `taken_down` counts
        has_its_id = (each.version.id_of == pod.ordinal for each in self.outside.pods if each.ordinal != pod.ordinal)
        may_be_fenced = act.cause is Cause.FENCED and (pod.uid in self.outside.nobody_knows or any(has_its_id))
        lacks = act.cause in (Cause.RETRIED, Cause.INCOMPLETE) and self._lacks_what_is_asked_for(pod)
        stands = act.cause is Cause.STANDS and self._stands_at_a_record(pod)
        if lacks or stands or (act.cause is Cause.KEPT and self._is_kept(pod)):
            self._all_others_serve(pod)
        elif not (pod.version.stays_s is not None or may_be_fenced or self._has_nothing(pod)):
            raise Broken(f"deletes {pod}, which serves: {act.why}")

    def _is_let_go(self, world: World, pod: SimulatedPod) -> bool:
        """By a write that named it, and that its controller has read."""
        of, step = self.outside.sets[pod.workload], world.memory.step
        named = step is not None and pod.ordinal in step.also
        return named and of.partition <= pod.ordinal and of.observed_generation == of.generation

    def _has_nothing(self, pod: SimulatedPod) -> bool:
        """It owns no partition of the topics that are asked for, and the group is not about to give it one, or its
        version is to go."""
        if self._is_kept_out(pod):
            return True
        broker = self.outside.broker
        owns = any(broker.owned_by(process) for process in pod.processes)
        return (broker.is_calm or self.goes_back) and (
            not owns or self.outside.reads_only_what_nobody_named(pod.ordinal)
        )

    def _lacks_what_is_asked_for(self, pod: SimulatedPod) -> bool:
        """It serves as its program can; more members are asked of it than that has, or instance ids."""
        nameless = self.outside.spec.get("membership") != "Dynamic" and not pod.version.takes_its_id
        return nameless or pod.version.members < self.outside.members_asked_of(pod)

    def _stands_at_a_record(self, pod: SimulatedPod) -> bool:
        """It would serve, and commits nothing, since no version gets past that."""
        broker = self.outside.broker
        return any(broker.owned_by(process) & broker.poisoned for process in pod.processes)

    def _is_kept(self, pod: SimulatedPod) -> bool:
        """Its StatefulSet's controller restarts nobody while another pod is not Ready."""
        wanted = dict.fromkeys(self._wanted() - {pod.ordinal}, False)
        ready = wanted | {each.ordinal: each.ready for each in self.outside.pods if each.ordinal != pod.ordinal}
        return self.goes_back and not all(ready.values())

    def _goes_for_who_is_out(self, world: World, act: WriteWorkload | DeletePod) -> bool:
        """It is the replacement of a pod that does not serve, and the operator knows that."""
        by_hand = isinstance(act, DeletePod) or act.purpose is Purpose.OPEN_OUT_OF_ORDER
        pod = self._pod_of(act)
        if world.workload is None or not by_hand or act.ordinal not in out_of_the_group(world, world.workload):
            return False
        return pod is None or not self.outside.serves(pod) or self._is_kept_out(pod)

    def _is_kept_out(self, pod: SimulatedPod) -> bool:
        """All that it has waits to be let in, and was given nothing yet."""
        broker = self.outside.broker
        members = [broker.group.member(process.member_id) for process in pod.processes]
        waits = all(each is not None and each.awaits is Awaits.JOIN and not each.assignment for each in members)
        return bool(members) and waits

    def _pod_of(self, act: WriteWorkload | DeletePod) -> SimulatedPod | None:
        if isinstance(act, DeletePod):
            return next((pod for pod in self.outside.pods if pod.uid == act.uid), None)
        return self.outside.sets[act.name].pods.get(act.ordinal if act.ordinal is not None else -1)

    def taken_down(self, pod: SimulatedPod) -> None:
        """We, or the StatefulSet controller as we told it, are about to delete this pod."""
        if pod.gone_at is not None or not self.outside.serves(pod):
            return
        self.restarts += 1
        others = [o for o in self.taken if o != pod.ordinal and not self._may_be_down(o)]
        if len(others) >= self.most_away and not self.forced:
            raise Broken(f"takes {pod.ordinal} down while {others} are down because of us")
        self.taken[pod.ordinal] = pod
        of = self.outside.sets[pod.workload]
        if others and not self.forced and hash_of(of.revisions[of.update_revision]) not in self.served:
            raise Broken(f"takes {pod.ordinal} down for a version of which no pod has served yet")
        the_same = of.revisions[pod.revision] == of.revisions[of.update_revision]
        tried_again = self.retries and self._lacks_what_is_asked_for(pod)
        if the_same and pod.uid not in self.outside.nobody_knows and not tried_again:
            raise Broken(f"restarts {pod.ordinal} twice for one template")

    def _wanted(self) -> set[int]:
        return {ordinal for each in self.outside.sets.values() for ordinal in each.ordinals}

    def _may_be_down(self, ordinal: int) -> bool:
        nobody_can_tell = self.outside.reads_only_what_nobody_named(ordinal)
        whole = self.outside.has_as_many_as_people_said(ordinal)
        known_idle = self._is_idle_for_good(ordinal) or self._works_unready(ordinal)
        nobody_can_tell = nobody_can_tell or self.outside.reads_only_what_nobody_read_before(ordinal)
        had_its_time = self._stands_since_nobody_looked(ordinal) or self._has_kept_those_without_room_waiting(ordinal)
        return nobody_can_tell or whole or known_idle or had_its_time

    def _stands_since_nobody_looked(self, ordinal: int) -> bool:
        """A thread of it stands, and so may have the one before it for all that the operator has seen, or remembers; or
        nobody was there before it."""
        pods = [pod for pod in self.outside.pods if pod.ordinal == ordinal]
        stand = [pod.version.one_stands_after_s is not None and pod.ready for pod in pods]
        not_seen = self.watched_since > min((pod.created_at for pod in pods), default=0.0) - COMMITS_SEEN_S
        return all(stand) and (not_seen or self.outside.was_lost or ordinal in self.were_down)

    def _has_kept_those_without_room_waiting(self, ordinal: int) -> bool:
        """It has been down for `rejoinTimeout` in a handover that goes on without room, or in place."""
        if self.without_room_since is None:
            return False
        since = max(self.without_room_since, self.served_at.get(ordinal, 0.0))
        return self.outside.now - since > self.outside.group().spec.rollout.rejoin_timeout_s

    def _works_unready(self, ordinal: int) -> bool:
        """On a way back: it is of a version that never gets Ready, and consumes."""
        pods = [pod for pod in self.outside.pods if pod.ordinal == ordinal and not pod.version.gets_ready]
        works = (bool(pod.processes) and all(map(self.outside.broker.works, pod.processes)) for pod in pods)
        return self.goes_back and any(works)

    def _is_idle_for_good(self, ordinal: int) -> bool:
        """On a way back: the ordinal's pods are of a version that consumes nothing, or ends again and again."""
        versions = [pod.version for pod in self.outside.pods if pod.ordinal == ordinal]
        consumes = any(version.consumes and version.crashes_after_s is None for version in versions)
        return self.goes_back and bool(versions) and not consumes

    def _all_others_serve(self, pod: SimulatedPod) -> None:
        """The operator looks once a second, so a pod that fell out just now may be overlooked."""
        for ordinal in sorted(self._wanted()):
            known_to_serve = self.outside.now - self.served_at.get(ordinal, 0.0) <= 2.0
            if ordinal != pod.ordinal and not known_to_serve and not self._may_be_down(ordinal):
                raise Broken(f"takes {pod.ordinal} down while {ordinal} does not serve")
