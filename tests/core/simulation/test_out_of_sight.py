"""Pods that work where the operator does not look: it sees none of them in the group, and takes one of them at the most
until a pod of the new version works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, Unobserved
from tests.core.simulation.broker import Broker
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod, StatefulSet

ANOTHER: Final = "another:9092"
NO_TOPIC: Final = Unobserved(Reason.TOPIC_MISSING, "topic orders does not exist", 0.0)


class TwoKafkas(Outside):
    """Where its connection names another Kafka, the operator looks there, and nobody is there: the pods that run work
    on in the old one."""

    blind_to: Unobserved | None = None

    def observe(self) -> GroupObservation | Unobserved:
        seen = super().observe()
        if self.bootstrap != ANOTHER or not isinstance(seen, GroupObservation):
            return seen
        nobody = replace(seen, members=(), state=GroupState.DEAD, offsets={})
        return nobody if self.blind_to is None else replace(nobody, partitions=frozenset(), blind_to=self.blind_to)

    def serves(self, pod: SimulatedPod) -> bool:
        """In the Kafka that the connection names: what invariants hold the operator to."""
        there = asked_for(self.sets[pod.workload].revisions[pod.revision]) == self.bootstrap
        return self.serves_somewhere(pod) and there

    def serves_somewhere(self, pod: SimulatedPod) -> bool:
        return super().serves(pod)


def asked_for(template: Mapping[str, Any]) -> str:
    (found,) = (
        each["value"] for each in template["spec"]["containers"][0]["env"] if each["name"] == "KAFKA_BOOTSTRAP_SERVERS"
    )
    return str(found)


@pytest.fixture
def _nobody_joins_the_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no topic, or no ACL, for the consumers."""
    make = StatefulSet._make

    def made(self: StatefulSet, *args: Any) -> Any:
        pod = make(self, *args)
        if asked_for(self.revisions[pod.revision]) == ANOTHER:
            pod.version = replace(pod.version, joins=False)
        return pod

    monkeypatch.setattr(StatefulSet, "_make", made)


def rolled_out(outside: Outside) -> Run:
    run = Run(outside)
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    run.do("a good version", lambda there: there.apply("v2"))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    return run


@pytest.mark.parametrize("blind_to", [None, NO_TOPIC], ids=["the topic is there", "the topic is missing"])
@pytest.mark.parametrize("on_failure", ["Pause", "Rollback"])
@pytest.mark.usefixtures("_nobody_joins_the_other_one")
def test_a_connection_that_names_another_kafka_costs_one_pod(on_failure: str, blind_to: Unobserved | None) -> None:
    outside = TwoKafkas(replicas=4, onFailure=on_failure, rejoinTimeout="60s")
    outside.blind_to = blind_to
    run = rolled_out(outside)

    def named(outside: Outside) -> None:
        outside.bootstrap = ANOTHER
        run.operator.history = GroupHistory()  # what was seen is of the Kafka before

    run.do("the connection names another Kafka", named)
    served = []
    for _ in range(200):
        run.for_seconds(1)
        served.append(sum(map(outside.serves_somewhere, outside.pods)))
    assert min(served) == 3
    assert served[-1] == (4 if on_failure == "Rollback" else 3)


@pytest.mark.parametrize("at", ["before", "after"])
def test_where_all_are_cut_off_a_version_that_does_not_join_gets_one_pod(
    monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """No consumer reaches Kafka for a while; the version is applied meanwhile, or just before."""
    run = rolled_out(Outside(replicas=4, onFailure="Rollback", rejoinTimeout="60s"))
    join, cut_off = Broker.join, [False]
    monkeypatch.setattr(Broker, "join", lambda self, *args: None if cut_off[0] else join(self, *args))

    def cut(outside: Outside) -> None:
        cut_off[0] = True
        for pod in outside.pods:
            for process in pod.processes:
                outside.broker.leave(process, outside.now)

    deeds = [("nobody reaches Kafka", cut), ("a bad version", lambda there: there.apply("never-joins"))]
    for what, deed in deeds if at == "before" else reversed(deeds):
        run.do(what, deed)
        run.for_seconds(12)
    most = 0
    for second in range(300):
        cut_off[0] = second < 40
        run.for_seconds(1)
        most = max(most, sum(run.outside.image(pod) == "never-joins" for pod in run.outside.pods))
    assert most == 1
    assert run.phase is RolloutPhase.ROLLED_BACK
    assert all(map(run.outside.serves, run.outside.pods))
