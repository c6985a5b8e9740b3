"""KIP-848 pods that came while Kafka was away are refused their ids once it is back, and never ask again."""

from __future__ import annotations

import pytest

from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.broker import Broker, Process
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run


@pytest.mark.parametrize("killed", [True, False], ids=["the operator is killed", "it lives"])
@pytest.mark.parametrize("fewest", [0, 1, 2])
def test_pods_that_went_and_came_while_kafka_was_away_get_their_ids(fewest: int, killed: bool) -> None:
    """Who ends while Kafka is away cannot leave, and has the id for a session; its successor's only try is refused."""
    run = Run(Outside(kip848=True))
    run.outside.broker.session_s = 45
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do("Kafka is away", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(5)
    run.do(f"{fewest} pods", lambda o: o.scale(fewest))
    run.for_seconds(10)
    if killed:
        run.operator.die("meanwhile")
    run.do("3 pods", lambda o: o.scale(3))
    run.for_seconds(10)
    run.do("Kafka is back", lambda o: o.set_kafka(reachable=True))
    run.for_seconds(600)
    idle = [pod.name for pod in run.outside.pods if not run.outside.serves(pod)]
    assert idle == [], run.outside.status["conditions"]


def test_one_that_was_replaced_while_kafka_was_away_soon_after_it_had_joined_gets_its_id() -> None:
    """Nobody is killed and nothing is scaled: its member was seen once, and at rest the next look is 15 s later."""
    run = Run(Outside(kip848=True))
    run.outside.broker.session_s = 45
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do("pod 1 is evicted", lambda o: o.evict(1))
    run.until_it_is("made again", lambda o: o.set.pods[1].gone_at is None and o.serves(o.set.pods[1]))
    run.do("Kafka is away", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(5)
    run.do("pod 1 is evicted again", lambda o: o.evict(1))
    run.for_seconds(20)
    run.do("Kafka is back", lambda o: o.set_kafka(reachable=True))
    run.for_seconds(600)
    assert [pod.name for pod in run.outside.pods if not run.outside.serves(pod)] == [], run.outside.status["conditions"]


class Stopped:
    """All consumers end, and none is let in any more, but those of pods that are made meanwhile where that `helps`."""

    def __init__(self, *, older: bool = False, crashed: bool = False) -> None:
        self.run = Run(Outside(kip848=True))
        self.run.until(RolloutPhase.COMPLETE)
        self.run.for_seconds(60)
        if older:
            self._forget_who_was_seen()
        for ordinal in range(3 if crashed else 0):
            self.run.outside.crash(ordinal)
            self.run.for_seconds(30)
        self.run.for_seconds(100)

    def _forget_who_was_seen(self) -> None:
        outside = self.run.outside
        kept = {key: value for key, value in outside.status["rollout"].items() if key not in ("seenIn", "holders")}
        outside.status = {**outside.status, "rollout": kept}

    def stop(self, *, helps: bool) -> None:
        outside = self.run.outside
        join, there = outside.broker.join, [process for pod in outside.pods for process in pod.processes]
        keeps_out = not helps

        def let_in(process: Process, now: float) -> None:
            if not keeps_out and process not in there:
                join(process, now)

        outside.broker.join = let_in  # type: ignore[method-assign]
        for process in there:
            outside.broker.leave(process, outside.now)

    def restarts_within(self, seconds: float) -> int:
        before = len(self.run.operator.log)
        self.run.for_seconds(seconds)
        return sum("delete pod" in line for line in self.run.operator.log[before:])


@pytest.mark.parametrize("helps", [False, True], ids=["credentials ran out", "stopped for maintenance"])
@pytest.mark.parametrize("crashed", [False, True], ids=["never crashed", "crashed once, long ago"])
@pytest.mark.parametrize("older", [False, True], ids=["seen", "of an older operator"])
def test_pods_whose_processes_were_let_in_are_not_restarted_at_rest(older: bool, crashed: bool, helps: bool) -> None:
    """They are Ready, and in no group: not refused, but stopped on purpose, or without rights."""
    group = Stopped(older=older, crashed=crashed)
    group.stop(helps=helps)
    assert group.restarts_within(600) == 0


def test_living_pods_of_another_kafka_are_left_alone_by_one_that_was_upgraded() -> None:
    """A name leads the operator elsewhere, and their own connections stand; what was seen was not noted yet."""
    group = Stopped(older=True, crashed=True)
    run, other = group.run, Broker(partitions=6, session_s=12)
    run.outside.observe = lambda: other.observe(run.outside.now)  # type: ignore[method-assign]
    run.operator.history = GroupHistory()
    assert group.restarts_within(600) == 0
