"""A StatefulSet is deleted without its pods, in the middle of a handover: who does as he is advised has his group."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

pytestmark = pytest.mark.slow

COMPLETE, FAILED = RolloutPhase.COMPLETE, RolloutPhase.FAILED
ABORT = "slackwater abort payments"
DELETE = "kubectl delete pod -n default "
SETS = {"the older": "payments", "the younger": "payments-alt"}


def in_the_middle(which: str, after_s: int, onwards: str = "") -> Run:
    run = Run(Outside(strategy="WarmHandover"))
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(after_s)
    run.do(f"{which} StatefulSet is deleted without its pods", lambda o: o.orphan(SETS[which]))
    run.for_seconds(2)
    if onwards == "abort":
        run.do("abort", Outside.abort)
    elif onwards:
        run.do(f"version {onwards} is applied", lambda o: o.apply(onwards))
    return run


def advised(run: Run) -> list[str]:
    """The pods that are to be deleted now."""
    hold = run.operator.last.hold if run.operator.last is not None else None
    if hold is None or hold.reason is not Reason.ORPHANED_PODS:
        return []
    command = hold.message.partition(DELETE)[2]
    return command.partition(".")[0].split()


def is_advised_to_abort(run: Run) -> bool:
    hold = run.operator.last.hold if run.operator.last is not None else None
    return hold is not None and bool(hold.message.partition(ABORT)[1])


def do_as_advised(run: Run, *, within_s: int = 600, watch: Callable[[], None] = lambda: None) -> None:
    """A person who looks every ten seconds. `watch`: called each second."""
    until = run.now + within_s
    while run.now < until:
        if is_advised_to_abort(run):
            run.do("abort", Outside.abort)
        for name in advised(run):
            run.do(f"delete {name}", lambda o, name=name: o.delete_pod(name))  # type: ignore[misc]
        for _ in range(10):
            run.for_seconds(1)
            watch()
        if not run.phase.under_way and not run.outside.world(run.outside.observe(), run.operator.history).orphans:
            return
    raise AssertionError("\n".join(run.operator.log[-60:]))


def at_work(run: Run) -> bool:
    pods = [pod for pod in run.outside.pods if pod.gone_at is None]
    return len(pods) == 3 and all(map(run.outside.serves, pods))


def versions(run: Run) -> set[str]:
    return {run.outside.image(pod) for pod in run.outside.pods}


EVERY = [
    pytest.param(which, after_s, waits_s, id=f"{which}-{after_s}-{waits_s}")
    for which in SETS
    for after_s in range(1, 30, 2)
    for waits_s in (0, 120)
]


@pytest.mark.parametrize(("which", "after_s", "waits_s"), EVERY)
def test_the_rollout_ends(which: str, after_s: int, waits_s: int) -> None:
    """Nobody comes for two minutes: the two pods of one ordinal fenced each other, and a version was failed for it."""
    run = in_the_middle(which, after_s)
    run.for_seconds(waits_s)
    do_as_advised(run)
    run.until(COMPLETE, within_s=200)
    run.until_it_is("at work", lambda _: at_work(run), within_s=60)
    assert versions(run) == {"v2"}


@pytest.mark.parametrize(("which", "after_s", "waits_s"), EVERY)
def test_so_does_one_to_a_third_version(which: str, after_s: int, waits_s: int) -> None:
    """It was given up for what a pod of another version did."""
    run = in_the_middle(which, after_s, "v3")
    run.for_seconds(waits_s)
    do_as_advised(run)
    run.until(COMPLETE, within_s=200)
    run.until_it_is("at work", lambda _: at_work(run), within_s=60)
    assert versions(run) == {"v3"}


def watch_what_is_made(run: Run, version: str) -> tuple[list[str], Callable[[], None]]:
    """The names of pods that are made with this version from now on, and what is to be called each second."""
    known, made = {pod.uid for pod in run.outside.pods}, list[str]()

    def watch() -> None:
        made.extend(pod.name for pod in run.outside.pods if pod.uid not in known and run.outside.image(pod) == version)
        known.update(pod.uid for pod in run.outside.pods)

    return made, watch


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("after_s", range(1, 30, 2))
@pytest.mark.parametrize("then", ["v3", "v1"])
def test_nothing_that_was_aborted_is_made_where_another_version_comes(which: str, after_s: int, then: str) -> None:
    """Or the good one again, as when a commit is reverted."""
    run = in_the_middle(which, after_s, "abort")
    run.for_seconds(1)
    run.do(f"version {then} is applied", lambda o: o.apply(then))
    run.for_seconds(3)
    made, watch = watch_what_is_made(run, "v2")
    do_as_advised(run, watch=watch)
    assert made == []


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("bad", ["never-joins", "never-consumes"])
@pytest.mark.parametrize(("on_failure", "aborted"), [("Pause", False), ("Pause", True), ("Rollback", False)])
def test_nor_what_has_failed(which: str, bad: str, on_failure: str, aborted: bool) -> None:
    """Good pods were deleted, as advised, for some that never worked: nobody consumed."""
    run = Run(Outside(strategy="WarmHandover", onFailure=on_failure))
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do(f"{bad} is applied", lambda o: o.apply(bad))
    run.for_seconds(8)
    if not aborted:
        run.until_it_is("given up", lambda _: run.phase.gave_up)
    run.do(f"{which} StatefulSet is deleted without its pods", lambda o: o.orphan(SETS[which]))
    run.for_seconds(1)
    if aborted:
        run.do("abort", Outside.abort)
        run.for_seconds(1)
    run.do("version v3 is applied", lambda o: o.apply("v3"))
    run.for_seconds(3)
    made, watch = watch_what_is_made(run, bad)
    do_as_advised(run, watch=watch)
    assert made == []
    assert versions(run) == {"v3"}


def test_abort_ends_it_where_kubernetes_makes_no_pod_of_the_version() -> None:
    """A webhook refuses them: the one that was never made was waited for without an end."""
    run = in_the_middle("the older", 9)
    newcomer = run.outside.sets["payments-alt"]
    makes = newcomer.sync

    def sync(now: float) -> None:
        before = set(newcomer.pods)
        makes(now)
        for ordinal in set(newcomer.pods) - before:
            if run.outside.image(newcomer.pods[ordinal]) == "v2":
                del newcomer.pods[ordinal]

    newcomer.sync = sync  # type: ignore[method-assign]
    run.for_seconds(1)
    for name in advised(run):
        run.do(f"delete {name}", lambda o, name=name: o.delete_pod(name))  # type: ignore[misc]
    run.for_seconds(60)
    run.do("abort", Outside.abort)
    do_as_advised(run)
    run.until_it_is("at work", lambda _: at_work(run), within_s=100)
    assert versions(run) == {"v1"}


@pytest.mark.parametrize(("which", "after_s", "waits_s"), EVERY)
def test_the_way_back_ends(which: str, after_s: int, waits_s: int) -> None:
    run = in_the_middle(which, after_s, "abort")
    run.for_seconds(max(1, waits_s))
    made, watch = watch_what_is_made(run, "v2")
    do_as_advised(run, watch=watch)
    run.until_it_is("at work", lambda _: at_work(run), within_s=200)
    if run.phase is not COMPLETE:  # all pods had the version before it was aborted
        assert versions(run) == {"v1"}
        assert made == []


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("on_failure", ["Pause", "Rollback"])
@pytest.mark.parametrize("failed", [True, False])
def test_a_version_that_fails_beside_them_gets_no_further_pod(which: str, on_failure: str, failed: bool) -> None:
    """`failed`: by the time that the StatefulSet goes."""
    run = Run(Outside(strategy="WarmHandover", onFailure=on_failure))
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do("a version that never joins is applied", lambda o: o.apply("never-joins"))
    run.for_seconds(4)
    if failed:
        run.until_it_is("given up", lambda _: run.phase.gave_up)
    run.do(f"{which} StatefulSet is deleted without its pods", lambda o: o.orphan(SETS[which]))
    run.for_seconds(2)
    do_as_advised(run)
    run.for_seconds(100)
    run.do("version v3 is applied", lambda o: o.apply("v3"))
    do_as_advised(run)
    run.until(COMPLETE, within_s=200)
    run.until_it_is("at work", lambda _: at_work(run), within_s=60)
