"""Stops for another protocol that something interrupts: a lost node, a StatefulSet or a status that is gone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.plan import plan
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.profile import Profile, profile_in
from tests.core.factories import NAME
from tests.core.parameters import first_of
from tests.core.protocol.test_upgrade import DRAIN, EAGER, RDKAFKA, upgrading
from tests.core.simulation.operator import Crash, Crashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import StatefulSet

pytestmark = pytest.mark.slow


def at_rest(on_failure: str = "Pause") -> Run:
    run = Run(Outside(protocol={"target": "Eager", "allowDowntime": True}, onFailure=on_failure))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    return run


def stopped(run: Run) -> Run:
    """All pods were told to stop for the other protocol, and none has ended."""
    run.do("Cooperative", lambda o: o.change_target("Cooperative"))
    while run.outside.set.replicas:
        run.step()
    return run


def lose_node_of_1(run: Run, *, deleted: bool = True) -> None:
    pod = run.outside.set.pods[1]
    pod.lost, pod.gone_at = True, run.now if deleted else None
    pod.set_ready(False, run.now)
    pod.end_process()


def delete_set(outside: Outside) -> None:
    seen = outside.set.seen()
    assert seen is not None
    outside.set.delete_whole(seen.uid, outside.now)


def serving(run: Run) -> int:
    return sum(map(run.outside.serves, run.outside.pods))


@pytest.mark.parametrize("on_failure", first_of("Pause", "Rollback"))
def test_with_a_pod_on_a_lost_node_the_others_start_once(on_failure: str) -> None:
    """They were started and stopped without an end: the lost pod's old protocol was one that they must not meet."""
    run = stopped(at_rest(on_failure))
    lose_node_of_1(run)
    run.for_seconds(600)
    assert sum("write: start all pods again" in line for line in run.operator.log) == 1
    assert serving(run) == 2


@pytest.mark.parametrize("on_failure", first_of("Pause", "Rollback"))
def test_pods_that_were_stopped_before_are_waited_for_no_longer(on_failure: str) -> None:
    """By `replicas: 0`: no moment of a stop was written down, so that its deadline never came."""
    run = at_rest(on_failure)
    lose_node_of_1(run, deleted=False)
    run.do("to nothing", lambda o: o.scale(0))
    run.for_seconds(60)
    assert [(pod.ordinal, pod.lost) for pod in run.outside.pods] == [(1, True)]
    run.do("Cooperative", lambda o: o.change_target("Cooperative"))
    run.do("and three pods", lambda o: o.scale(3))
    run.for_seconds(600)
    assert serving(run) == 2


class AtTheStart(Crashes):
    """The operator dies once, right after it has started all pods again."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run, self.done = run, False

    def at(self, act_number: int) -> Crash | None:
        act = self.run.operator.last.act if self.run.operator.last is not None else None
        if self.done or not isinstance(act, WriteWorkload) or act.purpose is not Purpose.START:
            return None
        self.done = True
        return Crash.AFTER_ACT


@pytest.fixture
def _quantities_are_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the API server: what it keeps is not what was written."""
    write = StatefulSet.write

    def rewritten(self: StatefulSet, act: WriteWorkload, *others: Any) -> None:
        write(self, act, *others)
        self.template = json.loads(json.dumps(self.template).replace("1024Mi", "1Gi"))

    monkeypatch.setattr(StatefulSet, "write", rewritten)


@pytest.mark.usefixtures("_quantities_are_rewritten")
@pytest.mark.parametrize("dies", [False, True], ids=["it lives", "it dies once they are started"])
def test_whoever_ends_while_all_start_comes_back_with_the_other_protocol(dies: bool) -> None:
    """A pod was made as before among those of the other protocol, and everybody was stopped once more."""
    run = Run(Outside(protocol={"target": "Eager", "allowDowntime": True}))
    run.outside.spec["template"]["spec"]["containers"][0]["resources"] = {"limits": {"memory": "1024Mi"}}
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    if dies:
        run.crashes = AtTheStart(run)
    run = stopped(run)
    run.until_it_is("started", lambda o: 2 in o.set.pods and o.set.pods[2].gone_at is None)
    run.do("pod 2 is evicted", lambda o: o.evict(2))
    made = set[Profile]()

    def note(outside: Outside) -> bool:
        made.update(pod.profile for pod in outside.pods if pod.gone_at is None)
        return run.phase is RolloutPhase.COMPLETE and not run.acting

    run.until_it_is("rolled out", note)
    assert made == {Profile.COOPERATIVE}
    assert sum("write: start all pods again" in line for line in run.operator.log) == 1
    assert serving(run) == 3


def test_a_stop_whose_status_is_lost_has_a_deadline_all_the_same() -> None:
    run = stopped(at_rest())
    lose_node_of_1(run)
    run.do("the status is lost", Outside.lose_status)
    run.for_seconds(600)
    assert serving(run) == 2


def test_a_stateful_set_that_is_made_again_starts_nobody_before_the_others_have_left() -> None:
    """As a moment after `kubectl delete statefulset`: the pods still end, and their members are in the group."""
    loose = frozenset({0, 1, 2})
    given = upgrading(DRAIN, EAGER, client=RDKAFKA, allow_downtime=True, workload=None, pods=(), loose=loose)
    assert {member.instance_id for member in given.members} == {f"{NAME}-{ordinal}" for ordinal in range(3)}
    act = plan(given).act
    assert isinstance(act, WriteWorkload)
    assert profile_in(act.template) is Profile.COOPERATIVE
    assert act.replicas == 0


@pytest.mark.parametrize("on_failure", first_of("Pause", "Rollback"))
def test_who_deletes_the_stateful_set_before_the_stop_stops_the_group_for_a_while(on_failure: str) -> None:
    """Its pods were started among the dead members of the protocol before, and refused for good."""
    run = at_rest(on_failure)
    run.do("pause", Outside.pause)
    run.do("Cooperative", lambda o: o.change_target("Cooperative"))
    run.for_seconds(10)
    run.do("the StatefulSet is deleted", delete_set)
    run.for_seconds(5)
    run.do("resume", Outside.resume)
    run.for_seconds(600)
    assert serving(run) == 3
    assert {pod.profile for pod in run.outside.pods} == {Profile.COOPERATIVE}


@pytest.mark.parametrize("strategy", first_of("InPlace", "WarmHandover"))
def test_two_bounces_go_on_though_the_status_is_lost_in_the_first(strategy: str) -> None:
    """What the pods have says where the group is. It stood still for good: Eager and Cooperative may not mix."""
    run = Run(Outside(protocol={"target": "Eager"}, client={"library": "Java", "version": "4.3"}, strategy=strategy))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    run.do("Cooperative", lambda o: o.change_target("Cooperative"))
    one_of_three = ["Eager", "Eager", "EagerAndCooperative"]
    run.until_it_is("one has it", lambda o: sorted(p.profile for p in o.pods) == one_of_three and serving(run) == 3)
    run.for_seconds(3)
    run.do("the status is lost", Outside.lose_status)
    run.for_seconds(600)
    assert {pod.profile for pod in run.outside.pods} == {Profile.COOPERATIVE}
    assert serving(run) == 3


def test_a_template_that_no_pod_has_says_not_where_the_group_is() -> None:
    """The status is lost between the write of the template for KIP-848 and the first pod; then another target is asked
    for. Taken for a KIP-848 group, its pods would have met ones that they must not."""
    run = Run(Outside())
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    run.do("Consumer", lambda o: o.change_target("Consumer"))
    while profile_in(run.operator.look().sets[0].template) is not Profile.CONSUMER:
        run.step()
    run.do("the status is lost", Outside.lose_status)
    run.do("Cooperative", lambda o: o.change_target("Cooperative"))
    run.for_seconds(60)
    assert serving(run) == 3
    assert not any("from Consumer" in line for line in run.operator.log)
