"""Named rollouts, told whole. Each is a function of a run; its log is kept under golden/."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.operator import Crash, Crashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.versions import VERSIONS

COMPLETE, ROLLED_BACK, FAILED = RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK, RolloutPhase.FAILED
ROLLBACK: Final = {"onFailure": "Rollback"}


@dataclass(frozen=True)
class Scenario:
    """`happens` begins once version v1 runs everywhere. `rebalances` that it may cost; None: not looked at."""

    happens: Callable[[Run], None]
    options: Mapping[str, Any] = field(default_factory=dict)
    crashes: Callable[[], Crashes] = Crashes
    rebalances: int | None = None


def _apply(run: Run, version: str, *phases: RolloutPhase) -> None:
    run.do(f"version {version} is applied", lambda o: o.apply(version))
    run.until(*phases)


def healthy(run: Run) -> None:
    _apply(run, "v2", COMPLETE)
    run.for_seconds(30)


def never_joins_rollback(run: Run) -> None:
    _apply(run, "never-joins", ROLLED_BACK)
    run.for_seconds(30)


def never_joins_pause_then_retry_then_abort(run: Run) -> None:
    _apply(run, "never-joins", FAILED)
    run.for_seconds(20)
    run.do("retry", Outside.retry)
    run.until(FAILED)
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK)


def never_consumes_rollback(run: Run) -> None:
    _apply(run, "never-consumes", ROLLED_BACK)


def image_that_cannot_be_pulled(run: Run) -> None:
    _apply(run, "no-image", ROLLED_BACK)


def only_member_breaks(run: Run) -> None:
    """The one pod gets Ready without joining: by then the bad revision is the StatefulSet's current one."""
    _apply(run, "never-joins", ROLLED_BACK)
    run.for_seconds(20)


def stuck_pod_in_the_middle(run: Run) -> None:
    """The version works on the first pod; on the second it does not, for a reason of that pod's node."""
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(14)

    def break_pod(outside: Outside) -> None:
        outside.set.pods[1].version = VERSIONS["never-ready"]

    run.do("pod 1 will not get Ready on its node", break_pod)
    run.until(ROLLED_BACK)


def overtaken_by_a_broken_version(run: Run) -> None:
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(14)
    run.do("version crashes is applied", lambda o: o.apply("crashes"))
    run.until(ROLLED_BACK)


def old_version_is_down(run: Run) -> None:
    """A pod of the old version crashes again and again: it is the first to get the new one, out of order."""

    def break_pod(outside: Outside) -> None:
        outside.set.pods[1].version = VERSIONS["crashes"]
        outside.crash(1)

    run.do("pod 1 begins to crash", break_pod)
    run.for_seconds(10)
    _apply(run, "v2", COMPLETE)


def overtaken(run: Run) -> None:
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(14)
    _apply(run, "v3", COMPLETE)


def taken_back_by_the_spec(run: Run) -> None:
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(14)
    _apply(run, "v1", COMPLETE)
    run.for_seconds(20)


def canaries(run: Run) -> None:
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(30)
    run.do("the group is scaled from 4 to 6", lambda o: o.scale(6))
    run.for_seconds(20)
    run.do("promote", Outside.promote)
    run.until(COMPLETE)


def kafka_away(run: Run) -> None:
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(6)
    run.do("Kafka is out of reach", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(60)
    run.do("Kafka is back", lambda o: o.set_kafka(reachable=True))
    run.until(COMPLETE)


def operator_killed_at_every_act(run: Run) -> None:
    _apply(run, "v2", COMPLETE)
    run.for_seconds(20)


def paused_with_a_stranger(run: Run) -> None:
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(8)
    run.do("pause", Outside.pause)
    run.for_seconds(15)
    run.do("somebody's console joins the group", lambda o: o.foreign_member(there=True))
    run.do("resume", Outside.resume)
    run.for_seconds(15)
    run.do("the console leaves", lambda o: o.foreign_member(there=False))
    run.until(COMPLETE)


def scaled_on_the_way(run: Run) -> None:
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(14)
    run.do("the group is scaled from 3 to 5", lambda o: o.scale(5))
    run.until(COMPLETE)
    run.for_seconds(20)


def scaled_while_it_stands_still(run: Run) -> None:
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(14)
    run.do("the group is scaled from 3 to 5", lambda o: o.scale(5))
    run.for_seconds(3)
    run.do("pause", Outside.pause)
    run.for_seconds(20)
    run.do("the group is scaled from 5 to 2", lambda o: o.scale(2))
    run.for_seconds(20)
    run.do("resume", Outside.resume)
    run.until(COMPLETE)


def dynamic_members(run: Run) -> None:
    _apply(run, "v2", COMPLETE)


def _before_every_act() -> Crashes:
    return Crashes(Crash.BEFORE_ACT)


def _after_every_act() -> Crashes:
    return Crashes(Crash.AFTER_ACT)


SCENARIOS: Final[Mapping[str, Scenario]] = {
    "healthy": Scenario(healthy, rebalances=0),
    "healthy-kip848": Scenario(healthy, {"kip848": True}, rebalances=0),
    "never-joins-rollback": Scenario(never_joins_rollback, ROLLBACK),
    "never-joins-pause-retry-abort": Scenario(never_joins_pause_then_retry_then_abort),
    "never-consumes-rollback": Scenario(never_consumes_rollback, ROLLBACK),
    "image-cannot-be-pulled": Scenario(image_that_cannot_be_pulled, ROLLBACK),
    "only-member-breaks": Scenario(only_member_breaks, {"replicas": 1, **ROLLBACK}),
    "stuck-in-the-middle": Scenario(stuck_pod_in_the_middle, ROLLBACK),
    "overtaken-by-a-broken-version": Scenario(overtaken_by_a_broken_version, ROLLBACK),
    "old-version-is-down": Scenario(old_version_is_down),
    "overtaken": Scenario(overtaken, rebalances=0),
    "taken-back-by-the-spec": Scenario(taken_back_by_the_spec, rebalances=0),
    "canaries": Scenario(canaries, {"replicas": 4, "canary": [{"replicas": 1, "hold": "5s"}, {"replicas": 2}]}),
    "kafka-away": Scenario(kafka_away, rebalances=0),
    "operator-killed-before-every-act": Scenario(operator_killed_at_every_act, crashes=_before_every_act),
    "operator-killed-after-every-act": Scenario(operator_killed_at_every_act, crashes=_after_every_act),
    "paused-with-a-stranger": Scenario(paused_with_a_stranger),
    "scaled-on-the-way": Scenario(scaled_on_the_way),
    "scaled-while-it-stands-still": Scenario(scaled_while_it_stands_still),
    "dynamic-members": Scenario(dynamic_members, {"static": False}),
}
