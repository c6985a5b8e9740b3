"""Pod 0 got a version out of order and lost a member for good: whenever the fix comes, it goes there before it goes to
a pod that works. And between two StatefulSets, none that works goes while another comes up."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase, read_memory
from tests.core.simulation.edits import image
from tests.core.simulation.everywhere import at_rest, case, states
from tests.core.simulation.life import Changes, LifesRun
from tests.core.simulation.outside import Outside

FIX: Final = image("two-threads")


def lost(*, fails_within_s: float = 300.0, **options: Any) -> LifesRun:
    """The version has failed; or with 0, pod 0 has just been made with it."""
    given = case("three members to two", "loses-a-thread", {"onFailure": "Pause", **options})
    run = next(islice(states(given), 1))
    run.do("pod 0's container ends", lambda o: o.crash(0))
    if fails_within_s:
        run.until(RolloutPhase.FAILED, within_s=fails_within_s)
        run.for_seconds(5)
    return run


def edit(run: LifesRun, what: str, changes: Changes) -> None:
    run.operator.say(f"-- {what}")
    assert run.outside.edit(changes)


def fix(run: LifesRun) -> None:
    edit(run, "the fix", FIX)


def before_it_is_called_failed(run: LifesRun) -> None:
    fix(run)


def after_a_restart_of_the_operator(run: LifesRun) -> None:
    run.lifes_operator.restart()
    run.for_seconds(3)
    fix(run)


def while_kafka_is_away(run: LifesRun) -> None:
    run.do("Kafka is away", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(3)
    fix(run)
    run.for_seconds(3)
    run.do("Kafka is back", lambda o: o.set_kafka(reachable=True))


def twice(run: LifesRun) -> None:
    fix(run)
    run.for_seconds(2)
    edit(run, "another fix", image("two-b"))


def after_an_abort(run: LifesRun) -> None:
    run.do("abort", Outside.abort)
    run.for_seconds(1)
    fix(run)


def after_a_retry(run: LifesRun) -> None:
    run.do("retry", Outside.retry)
    run.for_seconds(30)
    fix(run)


def ends_with_the_fix(run: LifesRun, version: str = "two-threads") -> None:
    """The invariants hold on the way: no pod that works is away beside one that lacks a member."""
    run.until_it_is("fixed", lambda o: run.phase is RolloutPhase.COMPLETE and len(o.pods) == 3)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {version}


@pytest.mark.parametrize(
    "how", [after_a_restart_of_the_operator, while_kafka_is_away, twice, after_an_abort, after_a_retry]
)
def test_the_fix_goes_there_first(how: Callable[[LifesRun], None]) -> None:
    run = lost()
    how(run)
    ends_with_the_fix(run, "two-b" if how is twice else "two-threads")


def test_the_fix_goes_there_first_before_the_version_is_called_failed() -> None:
    run = lost(fails_within_s=0)
    run.for_seconds(22)
    assert run.phase is RolloutPhase.PROGRESSING
    fix(run)
    ends_with_the_fix(run)


def test_of_two_that_lost_a_member_both_go_before_who_works() -> None:
    run = lost(fails_within_s=0)
    run.until_it_is("open", lambda o: o.set.strategy == "OnDelete" and o.set.pods[0].gone_at is not None, within_s=20)
    run.do("pod 1 is evicted", lambda o: o.evict(1))
    run.until(RolloutPhase.FAILED, within_s=300)
    run.for_seconds(25)
    fix(run)
    ends_with_the_fix(run)


def test_the_fix_goes_there_first_on_a_way_back_that_was_paused() -> None:
    run = lost(fails_within_s=0, onFailure="Rollback")
    run.until_it_is("back", lambda _: run.phase is RolloutPhase.ROLLING_BACK, within_s=300)
    run.do("pause", Outside.pause)
    run.for_seconds(5)
    fix(run)
    run.for_seconds(5)
    run.do("resume", Outside.resume)
    ends_with_the_fix(run)


@pytest.mark.parametrize("ended_before", [False, True])
def test_without_room_who_comes_back_with_its_node_is_waited_for(ended_before: bool) -> None:
    options = {"onFailure": "Rollback", "strategy": "WarmHandover", "surgeTimeout": "15s"}
    run = at_rest(case("nothing else", "", options))
    if ended_before:
        run.do("pod 2's container ends, long before", lambda o: o.crash(2))
        run.for_seconds(60)
    run.outside.room = 3
    edit(run, "v2", image("v2"))
    begun = run.now

    def about_to_go_on_without(outside: Outside) -> bool:
        handover = read_memory(outside.status).handover
        return handover is not None and not handover.over and run.now - begun > 15

    run.until_it_is("about to go on without", about_to_go_on_without, within_s=60)
    run.do("pod 2's node is lost", lambda _: run.outside.lose_node(2, power=True, evicted=False))
    run.for_seconds(10)
    run.do("nodes are back", lambda _: run.outside.nodes_are_back())
    run.until(RolloutPhase.COMPLETE)
