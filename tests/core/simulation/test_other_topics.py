"""Versions that read other topics than those before: a member that returns brings no rebalance, whatever it reads."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase, read_memory
from tests.core.simulation.edits import image
from tests.core.simulation.everywhere import case, disturbed, states
from tests.core.simulation.life import Changes, Life, LifesRun
from tests.core.simulation.operator import Crash, Crashes
from tests.core.simulation.outside import Outside

IN_PLACE: Final[dict[str, Any]] = {"onFailure": "Rollback"}
WARM: Final[dict[str, Any]] = {"onFailure": "Rollback", "strategy": "WarmHandover"}
KIP_848: Final[dict[str, Any]] = {"onFailure": "Rollback", "kip848": True}
SHOWN: Final[dict[str, Any]] = {"shows_subscriptions": True}
BOTH, ORDERS, REFUNDS = ["orders", "refunds"], ["orders"], ["refunds"]
VERSIONS: Final = {"orders-only": ORDERS, "orders-and-refunds": BOTH, "refunds-only": REFUNDS}
WAYS: Final = [(old, new) for old in VERSIONS for new in VERSIONS if old != new]


def asks_for(version: str, topics: list[str]) -> Changes:
    return (*image(version), ("topics", topics))


def at_rest(version: str, options: dict[str, Any]) -> LifesRun:
    run = LifesRun(Life(replicas=3, **options))
    run.outside.grow(1, "refunds")  # one for each pod
    assert run.outside.edit(asks_for(version, VERSIONS[version]))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(8)
    return run


def read(run: LifesRun) -> list[str]:
    """The topics that are owned by somebody who subscribes to them."""
    broker, processes = run.outside.broker, [each for pod in run.outside.pods for each in pod.processes]
    number = {partition: i for i, partition in enumerate(sorted(broker.partitions))}
    owned = {(broker.topics[number[p]], process) for process in processes for p in broker.owned_by(process)}
    return sorted({topic for topic, process in owned if process.topics is None or topic in process.topics})


@pytest.mark.parametrize("shown", [False, True], ids=["by a pattern", "by name"])
@pytest.mark.parametrize("options", [IN_PLACE, WARM, KIP_848], ids=["in place", "warm", "KIP-848"])
@pytest.mark.parametrize(("old", "new"), WAYS, ids=[" to ".join(way) for way in WAYS])
def test_what_is_asked_for_is_read_in_the_end(old: str, new: str, options: dict[str, Any], shown: bool) -> None:
    run = at_rest(old, options | {"shows_subscriptions": shown})
    assert read(run) == VERSIONS[old]
    assert run.outside.edit(asks_for(new, VERSIONS[new]))
    run.for_seconds(2)
    run.until(RolloutPhase.COMPLETE)
    assert read(run) == VERSIONS[new]
    assert len([each for each in run.outside.sets.values() if each.exists]) == 1


@pytest.mark.parametrize("third", ["orders-and-refunds", "two-threads"])
@pytest.mark.parametrize("begun", range(1, 40, 2))
def test_a_version_after_that_of_other_topics_meets_nobody_who_is_left(begun: int, third: str) -> None:
    """Whoever has the first version asks for less than those who have the second one, and both are to go."""
    run = at_rest("orders-only", {**WARM, **SHOWN})
    assert run.outside.edit(asks_for("orders-and-refunds", BOTH))
    run.for_seconds(begun)
    assert run.outside.edit((*image(third), ("template.metadata", {"labels": {"team": "b"}})))
    run.for_seconds(2)
    run.until(RolloutPhase.COMPLETE, within_s=900)
    assert read(run) == BOTH


def test_what_nobody_read_is_read_though_stablefor_is_longer_than_rejointimeout() -> None:
    """Somebody is taken out for it after `stableFor`; the version was given up a moment before."""
    run = at_rest("orders-only", {**WARM, "stableFor": "22s"})
    assert run.outside.edit(asks_for("orders-and-refunds", BOTH))
    run.for_seconds(2)
    run.until(RolloutPhase.COMPLETE)
    assert read(run) == BOTH


@pytest.mark.parametrize("new", ["orders-and-refunds", "refunds-only"])
def test_what_pods_that_were_all_made_again_at_once_ask_for_is_read(new: str) -> None:
    """Somebody deletes the StatefulSet: all come back within their sessions, and are given what they had."""
    run = at_rest("orders-only", {"onFailure": "Pause"})
    assert run.outside.edit(asks_for(new, VERSIONS[new]))
    run.do("the StatefulSet is deleted", lambda _: run.outside.delete_set())
    run.for_seconds(2)
    run.until(RolloutPhase.COMPLETE)
    assert read(run) == VERSIONS[new]


class AtARemoval(Crashes):
    """The operator dies once, when it has written down that members are to be taken out for other topics."""

    def __init__(self, run: LifesRun) -> None:
        super().__init__()
        self.run, self.done = run, False

    def at(self, act_number: int) -> Crash | None:
        step = read_memory(self.run.outside.status).step
        if self.done or step is None or not step.taken_out:
            return None
        self.done = True
        return Crash.BEFORE_ACT


def test_it_is_read_though_the_operator_dies_before_the_member_is_taken_out() -> None:
    run = at_rest("orders-only", WARM)
    run.crashes = AtARemoval(run)
    assert run.outside.edit(asks_for("refunds-only", BOTH))
    run.until(RolloutPhase.ROLLED_BACK)
    run.for_seconds(60)
    assert run.crashes.done
    assert read(run) == ORDERS


@pytest.mark.parametrize("at_once", [True, False])
def test_it_is_read_where_the_version_began_in_an_empty_group(at_once: bool) -> None:
    run = at_rest("orders-only", IN_PLACE)
    assert run.outside.edit((("replicas", 0),))
    run.for_seconds(60)
    three: Changes = (("replicas", 3),)
    assert run.outside.edit((*asks_for("refunds-only", BOTH), *(three if at_once else ())))
    run.for_seconds(5)
    run.outside.edit(three)
    run.until(RolloutPhase.ROLLED_BACK, within_s=600)
    run.for_seconds(60)
    assert read(run) == ORDERS


def take_out(outside: Outside, topics: list[str]) -> None:
    """The member of a pod that reads these."""
    pod = next(pod for pod in outside.pods if pod.version.topics == tuple(topics) and outside.serves(pod))
    assert pod.process is not None
    outside.broker.leave(pod.process, outside.now)


@pytest.mark.parametrize(
    "options", [IN_PLACE, WARM, pytest.param(KIP_848, marks=pytest.mark.slow)], ids=["in place", "warm", "KIP-848"]
)
@pytest.mark.parametrize("rebalances", [False, True], ids=["calm", "a rebalance on the way"])
@pytest.mark.parametrize(("old", "new"), WAYS, ids=[" to ".join(way) for way in WAYS])
def test_what_was_read_is_read_again_after_an_abort(
    old: str, new: str, rebalances: bool, options: dict[str, Any]
) -> None:
    run = at_rest(old, options)
    assert run.outside.edit(asks_for(new, VERSIONS[new]))
    run.until_it_is("halfway", lambda o: [p.version.topics for p in o.pods].count(tuple(VERSIONS[new])) == 2)
    if rebalances:
        before = run.outside.broker.rebalances
        run.do("a member is taken out", lambda o: take_out(o, VERSIONS[new]))
        run.until_it_is("calm again", lambda o: o.broker.rebalances > before and o.broker.is_calm)
    run.do("abort", lambda o: o.abort())
    run.until(RolloutPhase.ROLLED_BACK)
    run.for_seconds(60)
    assert read(run) == VERSIONS[old]


@pytest.mark.parametrize("options", [IN_PLACE, WARM, KIP_848], ids=["in place", "warm", "KIP-848"])
def test_a_version_that_reads_only_one_of_two_goes_back(options: dict[str, Any]) -> None:
    run = at_rest("orders-only", options)
    assert run.outside.edit(asks_for("refunds-only", BOTH))
    run.until(RolloutPhase.ROLLED_BACK)
    run.for_seconds(60)
    assert "orders" in read(run)


@pytest.mark.parametrize("options", [IN_PLACE, WARM, KIP_848], ids=["in place", "warm", "KIP-848"])
def test_a_version_that_forgets_one_of_two_goes_back_from_its_first_pod(options: dict[str, Any]) -> None:
    """The spec names both, as before; in a classic group each pod is given what it had, and commits there."""
    run = at_rest("orders-and-refunds", options | SHOWN)
    assert run.outside.edit(asks_for("orders-only", BOTH))
    got_it = set[str]()
    until = run.now + 300
    while run.phase is not RolloutPhase.ROLLED_BACK:
        run.step()
        assert run.now < until, run.operator.log
        got_it |= {pod.name for pod in run.outside.pods if pod.version.topics == tuple(ORDERS)}
    run.for_seconds(60)
    assert read(run) == BOTH
    assert len(got_it) == 1, got_it


def test_nor_does_it_pass_where_no_pod_of_the_version_before_is_left() -> None:
    run = at_rest("orders-and-refunds", IN_PLACE | SHOWN)
    assert run.outside.edit((("replicas", 1),))
    run.for_seconds(40)
    assert run.outside.edit(asks_for("orders-only", BOTH))
    run.for_seconds(2)
    run.until(RolloutPhase.ROLLED_BACK)
    run.for_seconds(60)
    assert read(run) == BOTH


@pytest.mark.parametrize("old_pod_is_late", ["the controller stops", "pod 2's node is lost"])
def test_who_was_taken_out_for_another_topic_is_not_taken_for_fenced(old_pod_is_late: str) -> None:
    """The last old pod has just ended, so another process may have had the id until then."""
    run = at_rest("orders-only", WARM)
    assert run.outside.edit(asks_for("orders-and-refunds", BOTH))
    run.until_it_is("at the last one", lambda o: o.sets["payments-alt"].pods.get(2) is not None)
    disturbed(run, old_pod_is_late)
    assert read(run) == BOTH
    assert not any("fenced" in line for line in run.operator.log)


@pytest.mark.parametrize("change", ["topics more", "dynamic to static", "three members to one"])
def test_who_follows_one_that_read_another_topic_gets_a_share(change: str) -> None:
    """A static member is given what the one before it had: nothing. So did each that was tried again."""
    run = next(iter(states(case(change, "refunds-only", IN_PLACE | {"onFailure": "Pause"}))))
    disturbed(run, "abort")
    assert all(run.outside.broker.owned_by(process) for pod in run.outside.pods for process in pod.processes)
    assert any("gets its share" in line for line in run.operator.log)


@pytest.mark.parametrize(
    ("change", "version"), [("other topics", ""), ("topics more", ""), ("dynamic to static", "refunds-only")]
)
def test_so_it_is_where_the_status_is_lost_on_the_way(change: str, version: str) -> None:
    """And with it the step: the last pod to come was the last one restarted."""
    for state in states(case(change, version, IN_PLACE)):
        disturbed(state, "the status is lost")
