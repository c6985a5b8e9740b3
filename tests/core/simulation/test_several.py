"""Several pods at a time, in place (decision 24): whatever happens, and whenever, no more are away because of us than
people allow, and none but the first of a version before that one has proven itself (`invariants`)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import pytest

from slackwater.core.decision.acts import Cause, DeletePod, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.world import World
from tests.core.simulation import chance
from tests.core.simulation.deeds import calm_down
from tests.core.simulation.ends import end
from tests.core.simulation.histories import draw, play
from tests.core.simulation.operator import ChanceCrashes, Crash, Crashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.versions import VERSIONS

COMPLETE, FAILED, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK
A_ROLLOUT_S: Final = 40
"""Longer than one of six pods takes, three at a time."""


MOST_A_TICK: Final = 5
"""So many are away at most: the operator acts once a second, and by then the first is back."""


class Quick(Run):
    """Whose operator goes on at once after each act, as the real one does."""

    def step(self) -> None:
        super().step()
        for _ in range(100):
            if not self.acting:
                return
            self.outside.set.sync(self.outside.now)
            self.operator.run_pass(self.crashes)


@dataclass
class Once(Crashes):
    """The operator is killed at one act, counted from here, and at no other one."""

    number: int = 0
    first: int | None = None

    def at(self, act_number: int) -> Crash | None:
        self.first = act_number if self.first is None else self.first
        is_it = self.where is not None and act_number == self.first + self.number
        where, self.where = (self.where, None) if is_it else (None, self.where)
        return where


@dataclass
class Told:
    """What was decided, and the most pods that were away at once."""

    run: Run
    steps: list[tuple[int, ...]] = field(default_factory=list)
    """The ordinals that each write let go."""
    hastened: list[int] = field(default_factory=list)
    away: int = 0

    def __post_init__(self) -> None:
        self.run.operator.witness = self.witness

    def witness(self, world: World, decided: Decision) -> None:
        act, outside = decided.act, self.run.outside
        if isinstance(act, WriteWorkload) and act.purpose is Purpose.RESTART:
            self.steps.append((act.ordinal or 0, *act.also))
        if isinstance(act, DeletePod) and act.cause is Cause.TOGETHER:
            self.hastened.append(act.ordinal)
        self.away = max(self.away, len(outside.set.ordinals) - sum(map(outside.serves, outside.pods)))


def at_rest(
    replicas: int, at_once: int | str, crashes: Crashes | None = None, kind: type[Run] = Run, **rollout: Any
) -> Run:
    """A group that runs v1, and in which each pod has something to read."""
    run = kind(Outside(replicas=replicas, maxUnavailable=at_once, partitions=max(6, replicas), **rollout))
    run.until(COMPLETE)
    run.for_seconds(5)
    run.crashes = crashes or run.crashes
    return run


def apply(run: Run, version: str = "v2") -> None:
    run.do(f"version {version} is applied", lambda o: o.apply(version))
    run.step()


def images(run: Run) -> list[str]:
    return [run.outside.image(pod) for _, pod in sorted(run.outside.set.pods.items())]


def break_there(run: Run, ordinals: Collection[int], version: str = "v2") -> None:
    """Pods of the version do not get Ready on these ordinals' nodes."""
    tick = run.outside.tick

    def ticked(passed_s: float, random: Random | None = None) -> None:
        for pod in run.outside.pods:
            if pod.ordinal in ordinals and run.outside.image(pod) == version:
                pod.version = VERSIONS["never-ready"]
        tick(passed_s, random)

    run.outside.tick = ticked  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("at_once", "steps"),
    [
        (1, [(6,), (5,), (4,), (3,), (2,), (1,), (0,)]),
        (3, [(6,), (5, 4, 3), (2, 1, 0)]),
        ("50%", [(6,), (5, 4, 3), (2, 1, 0)]),
        ("10%", [(6,), (5,), (4,), (3,), (2,), (1,), (0,)]),
        (4, [(6,), (5, 4, 3, 2), (1, 0)]),
        ("100%", [(6,), (5, 4, 3, 2, 1, 0)]),
    ],
)
def test_the_first_goes_alone_and_then_as_many_as_may_be_away(at_once: int | str, steps: list[tuple[int, ...]]) -> None:
    run = at_rest(7, at_once)
    told, before = Told(run), run.outside.broker.rebalances
    apply(run)
    run.until(COMPLETE)
    assert told.steps == steps
    assert told.away == min(max(map(len, steps)), MOST_A_TICK)
    assert images(run) == ["v2"] * 7
    assert (run.outside.broker.rebalances - before, run.invariants.restarts) == (0, 7)
    assert len(told.hastened) == sum(len(step) - 1 for step in steps)


@pytest.mark.parametrize("at_once", [10, 25])
def test_a_rollout_of_a_hundred_pods_takes_as_many_turns_as_there_are_batches(at_once: int) -> None:
    short, long = at_rest(3, 2, kind=Quick), at_rest(100, at_once, kind=Quick)
    took = []
    for run in (short, long):
        begun = run.now
        told = Told(run)
        apply(run)
        run.until(COMPLETE)
        took.append((run.now - begun) / len(told.steps))
    assert len(told.steps) == 1 + -(-99 // at_once)
    assert took[1] <= took[0] + 2
    assert told.away == at_once


@pytest.mark.parametrize("where", Crash)
@pytest.mark.parametrize(("replicas", "at_once"), [(3, 2), (4, 3), (5, 2)])
def test_the_operator_is_killed_at_each_act_in_turn(where: Crash, replicas: int, at_once: int) -> None:
    """And once at all of them."""
    acts = replicas + 3
    for crashes in [*(Once(where, number=number) for number in range(acts)), Crashes(where)]:
        run = at_rest(replicas, at_once, crashes)
        before = run.outside.broker.rebalances
        apply(run)
        run.until(COMPLETE)
        assert images(run) == ["v2"] * replicas
        assert (run.outside.broker.rebalances - before, run.invariants.restarts) == (0, replicas)


@pytest.mark.parametrize("where", Crash)
def test_the_operator_stays_away_after_it_has_let_a_batch_go(where: Crash) -> None:
    """The controller restarts those of the batch one at a time, and nobody else."""
    run = at_rest(6, 3)
    told = Told(run)
    apply(run)
    run.until_it_is("let go", lambda _: len(told.steps) == 2)
    if where is Crash.BEFORE_ACT:
        run.operator.die("")
    for _ in range(60):
        run.outside.tick(run.tick_s)
        run.invariants.watch()
    assert images(run) == ["v1", "v1", "v2", "v2", "v2", "v2"]
    run.until(COMPLETE)
    assert images(run) == ["v2"] * 6


DISTURBANCES: Final[dict[str, Callable[[Outside, int], None]]] = {"evict": Outside.evict, "crash": Outside.crash}


@pytest.mark.parametrize("what", DISTURBANCES)
@pytest.mark.parametrize("ordinal", range(4))
def test_a_pod_ends_at_any_moment(what: str, ordinal: int) -> None:
    for moment in range(0, A_ROLLOUT_S, 1):
        run = at_rest(4, 2)
        apply(run)
        run.for_seconds(moment)
        run.do(f"{what} {ordinal}", lambda o: DISTURBANCES[what](o, ordinal))
        run.until(COMPLETE)
        assert images(run) == ["v2"] * 4


@pytest.mark.parametrize("command", ["abort", "pause", "v3", "scale up", "scale down", "retry", "force", "no bound"])
def test_people_change_their_minds_at_any_moment(command: str) -> None:
    doings: dict[str, Callable[[Outside], None]] = {
        "abort": Outside.abort,
        "pause": Outside.pause,
        "v3": lambda o: o.apply("v3"),
        "scale up": lambda o: o.scale(7),
        "scale down": lambda o: o.scale(3),
        "retry": Outside.retry,
        "force": Outside.force,
        "no bound": lambda o: o.change_rollout(maxUnavailable=1),
    }
    for moment in range(A_ROLLOUT_S):
        run = at_rest(5, 3)
        apply(run)
        run.for_seconds(moment)
        begun = run.phase
        run.do(command, doings[command])
        run.for_seconds(20)
        run.do("resume", Outside.resume)
        goes_back = command == "abort" and begun.under_way
        run.until(ROLLED_BACK if goes_back else COMPLETE)
        run.for_seconds(20)
        version = {"v3": "v3"}.get(command, "v1" if goes_back else "v2")
        assert images(run) == [version] * run.outside.spec["replicas"]


@pytest.mark.parametrize("on_failure", ["Pause", "Rollback"])
@pytest.mark.parametrize("bad", range(6))
def test_a_version_that_is_bad_at_one_place_stops_with_its_batch(bad: int, on_failure: str) -> None:
    """And disturbs no pod of the good version that was not in it."""
    run = at_rest(6, 3, onFailure=on_failure)
    told = Told(run)
    break_there(run, {bad})
    uids = {ordinal: pod.uid for ordinal, pod in run.outside.set.pods.items()}
    apply(run)
    run.until(FAILED if on_failure == "Pause" else ROLLED_BACK)
    let_go = {ordinal for step in told.steps for ordinal in step}
    batches = {5: {5}, 4: {5, 4, 3, 2}, 3: {5, 4, 3, 2}, 2: {5, 4, 3, 2}}
    assert batches.get(bad, set(range(6))) == (let_go if on_failure == "Pause" else let_go & batches.get(bad, let_go))
    untouched = set(range(6)) - batches.get(bad, set(range(6)))
    assert {ordinal: run.outside.set.pods[ordinal].uid for ordinal in untouched} == {o: uids[o] for o in untouched}
    works = [run.outside.serves(pod) for ordinal, pod in run.outside.set.pods.items() if ordinal != bad]
    assert all(works)
    if on_failure == "Rollback":
        assert images(run) == ["v1"] * 6


@pytest.mark.parametrize("version", [name for name, version in VERSIONS.items() if not version.works])
def test_a_version_that_does_not_work_stops_at_its_first_pod(version: str) -> None:
    run = at_rest(5, 4, onFailure="Rollback")
    apply(run, version)
    run.until(ROLLED_BACK)
    assert run.invariants.restarts == 1
    assert images(run) == ["v1"] * 5


def test_a_whole_batch_that_fails_goes_back() -> None:
    run = at_rest(7, 3, onFailure="Rollback")
    break_there(run, {5, 4, 3})
    apply(run)
    run.until(ROLLED_BACK)
    assert images(run) == ["v1"] * 7
    assert all(map(run.outside.serves, run.outside.pods))


def test_a_rollout_that_has_stopped_lets_nobody_go_any_more() -> None:
    """The operator was killed when it had let a batch go; the first of it fails, and gets Ready when nobody asks."""
    run = at_rest(6, 3)
    told = Told(run)
    break_there(run, {4})
    apply(run)
    run.until_it_is("let go", lambda _: len(told.steps) == 2)
    for _ in range(40):
        run.outside.tick(run.tick_s)
        run.invariants.watch()
    assert images(run) == ["v1", "v1", "v1", "v1", "v2", "v2"]
    run.until(FAILED)
    run.outside.tick = Outside.tick.__get__(run.outside)  # type: ignore[method-assign]
    run.outside.set.pods[4].version = VERSIONS["v2"]
    run.for_seconds(60)
    assert images(run) == ["v1", "v1", "v1", "v1", "v2", "v2"]


def test_a_canary_stops_a_batch_at_its_number() -> None:
    run = at_rest(8, 5, canary=[{"replicas": 1, "hold": "5s"}, {"replicas": 4}])
    told = Told(run)
    apply(run)
    run.for_seconds(60)
    assert told.steps == [(7,), (6, 5, 4)]
    run.do("promote", Outside.promote)
    run.until(COMPLETE)
    assert told.steps[2:] == [(3, 2, 1, 0)]


def test_a_way_back_is_as_quick() -> None:
    run = at_rest(7, 3)
    told = Told(run)
    apply(run)
    run.until_it_is("nearly done", lambda o: images(run).count("v2") == 7)
    run.for_seconds(2)
    run.do("abort", Outside.abort)
    told.steps.clear()
    run.until(ROLLED_BACK)
    assert told.steps == [(6,), (5, 4, 3), (2, 1, 0)]


def test_a_step_to_another_protocol_goes_one_by_one() -> None:
    run = Run(
        Outside(
            replicas=4, maxUnavailable=3, client={"library": "Java", "version": "4.3"}, protocol={"target": "Eager"}
        )
    )
    run.until(COMPLETE)
    told = Told(run)
    run.do("target Cooperative", lambda o: o.change_target("Cooperative"))
    run.step()
    run.until(COMPLETE, within_s=800)
    assert {len(step) for step in told.steps} == {1}


def test_an_adopted_set_in_order_goes_one_by_one() -> None:
    run = at_rest(4, 3)
    run.outside.set.in_order = True
    told = Told(run)
    apply(run)
    run.until(COMPLETE)
    assert told.steps == [(3,), (2,), (1,), (0,)]


@pytest.mark.parametrize("seed", chance.seeds(range(40)))
def test_anything_happens_at_any_moment(seed: int) -> None:
    run = chance.draw_run(seed, replicas=3 + seed % 4, maxUnavailable=2 + seed % 3)
    chance.trouble(run, seed)
    chance.end(run)


@pytest.mark.parametrize("seed", range(6))
def test_static_members_that_return_in_time_cost_no_rebalance(seed: int) -> None:
    crashes = ChanceCrashes(probability=0.2)
    run = at_rest(6, 3, crashes)
    run.random = crashes.random
    crashes.random.seed(seed)
    before = run.outside.broker.rebalances
    apply(run)
    run.until(RolloutPhase.PROGRESSING)
    run.until(COMPLETE)
    assert (run.outside.broker.rebalances - before, run.invariants.restarts) == (0, 6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_histories_end_well(seed: int) -> None:
    """Random ones, as in `test_histories`, of more pods and two to four at a time."""
    history = draw(seed)
    history.options.update(replicas=3 + seed % 3, maxUnavailable=2 + seed % 3)  # type: ignore[attr-defined]
    for timing in (2 * seed, 2 * seed + 1):
        run = play(history, timing)
        calm_down(run)
        end(run)


@pytest.mark.parametrize(
    ("pods", "steps"),
    [
        (4, [{"percent": 10}, {"percent": 30, "hold": "10s"}]),
        (4, [{"percent": 10, "hold": "600s"}, {"percent": 30, "hold": "10s"}]),
        (3, [{"replicas": 1}, {"replicas": 1, "hold": "10s"}]),
    ],
)
def test_of_canary_steps_that_come_to_one_number_the_longest_hold_counts(pods: int, steps: list[Any]) -> None:
    """Found by a fresh reader: the first one was passed over, and a version went everywhere."""
    run = Run(Outside(replicas=pods, canary=steps))
    run.until(COMPLETE)
    apply(run)
    run.for_seconds(120)
    assert images(run).count("v2") == 1


def test_pods_that_are_added_at_a_canary_s_hold_do_not_end_it() -> None:
    run = Run(Outside(replicas=6, canary=[{"percent": 20}]))
    run.until(COMPLETE)
    apply(run)
    run.for_seconds(40)
    assert images(run).count("v2") == 1
    run.do("scaled up", lambda o: o.scale(20))
    run.for_seconds(120)
    assert (len(images(run)), images(run).count("v2")) == (20, 1)
    run.do("promote", Outside.promote)
    run.for_seconds(60)
    assert images(run).count("v2") == 4, "of twenty pods that is the share"
