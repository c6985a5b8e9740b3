"""Random histories of a group in real life: versions that join wrongly, and a spec that changes with its image.

Whatever happens, one pod at a time is away because of us; and the group comes to Complete, RolledBack or a hold that
`abort` ends.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation import chance
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Doing, Run
from tests.core.simulation.versions import NOT_DRAWN, VERSIONS

MEMBERS: Final = {"two-threads": 2, "two-b": 2, "three-threads": 3}
WRONG: Final = ("nameless", "never-joins", "never-consumes", "crashes", "no-image")
STAND: Final = ("stands-in-a-thread", "stands-from-the-start", "stands-in-one-of-two", "reads-poison")
READ: Final = ("orders-only", "orders-and-refunds", "refunds-only")
LEFT_OUT: Final = ("comes-and-goes", "loses-a-thread", "loses-one-of-two", *STAND, *READ)
DRAWN_HERE: Final = tuple(version for version in NOT_DRAWN if version not in LEFT_OUT)
"""Not the one that rebalances without end: a group is calm for `stableFor` now and then, so that it goes through; and
then people have to `force` what takes it away. Nor those that lose a thread: where `membersPerPod` asks for fewer,
what is left of one is whole; nor those that are about single partitions or topics. All have tests of their own."""
ENDED: Final = (RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK, RolloutPhase.FAILED)


def apply(random: Random) -> tuple[str, Doing]:
    """A version, and what else of the spec fits it: often all of it, sometimes one thing wrongly."""
    version = random.choice([*VERSIONS, *DRAWN_HERE, *WRONG, "v2", "v3", "two-threads", "three-threads"])
    spec: dict[str, Any] = {"membersPerPod": MEMBERS.get(version, 1)}
    if random.random() < 0.3:
        spec["membership"] = random.choice(("Static", "Dynamic"))
    if random.random() < 0.1:
        spec["membersPerPod"] = random.choice((1, 2, 3))
    return f"apply {version} with {spec}", lambda o: o.apply(version, **spec)


def correct(random: Random) -> tuple[str, Doing]:
    """The spec alone, as when people correct it."""
    number = random.choice((1, 2, 3))
    return f"membersPerPod {number}", lambda o: o.change_spec(membersPerPod=number)


def move_brokers(random: Random) -> tuple[str, Doing]:
    address = f"broker-{random.randrange(3)}:9092"

    def move(outside: Outside) -> None:
        outside.bootstrap = address

    return f"brokers at {address}", move


def drawn(seed: int, *, kip848: bool = False) -> Run:
    random = Random(seed * 31 + 5)
    run = chance.draw_run(seed, kip848=kip848)
    run.until(RolloutPhase.COMPLETE, within_s=200)
    for _ in range(random.randint(2, 8)):
        run.for_seconds(random.uniform(0, 40))
        what, doing = random.choice((apply, apply, correct, move_brokers, chance.anything))(random)
        run.do(what, doing)
    run.for_seconds(20)
    run.do("nothing happens any more", chance.calm_down)
    return run


@pytest.mark.parametrize("kip848", [False, True], ids=["classic", "KIP-848"])
@pytest.mark.parametrize("seed", chance.seeds(range(150)))
def test_it_ends_or_abort_ends_it(seed: int, kip848: bool) -> None:
    run = drawn(seed, kip848=kip848)
    if not comes_to_an_end(run):
        run.do("abort", Outside.abort)
        assert comes_to_an_end(run), "\n".join(run.operator.log[-30:])
    run.do("a version that works", lambda o: o.apply("v1", membersPerPod=1, membership="Static", replicas=3))
    run.do("retry, were it what was given up", Outside.retry)
    comes_to_an_end(run)
    run.until_it_is("at work", lambda o: run.phase is RolloutPhase.COMPLETE and at_work(run), within_s=100)


def comes_to_an_end(run: Run) -> bool:
    """Within the time that every deadline has passed in; canaries are promoted."""
    until, quiet_since = run.now + chance.SETTLE_S, run.now
    while run.now < until and run.now - quiet_since < chance.QUIET_S:
        run.step()
        if run.phase.under_way or run.acting:
            quiet_since = run.now
        hold = run.operator.last.hold if run.operator.last is not None else None
        if hold is not None and hold.reason == "CanaryHold":
            run.outside.promote()
    return run.phase in ENDED


def at_work(run: Run) -> bool:
    pods = run.outside.pods
    return len(pods) == run.outside.spec["replicas"] and all(map(run.outside.serves, pods))
