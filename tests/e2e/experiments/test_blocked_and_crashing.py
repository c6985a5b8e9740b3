"""One consumer is blocked by a record, another one crashes on one: what the third still gets, and how the fix gets out.

The record `wait` blocks its reader for minutes; the record `crash` ends whoever is given it, again and again. Then a
version is rolled out that steps over `crash`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Barrier
from typing import Final

import pytest

from slackwater.core.world.history import LONG_BEFORE_S
from tests.e2e.experiments.figures import Figures, keep, measure
from tests.e2e.experiments.seen import first_made, most_down, reasons
from tests.e2e.experiments.worlds import DEADLINE_S, KINDS, World, played
from tests.e2e.members.members import restarts
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.quiet, pytest.mark.long, pytest.mark.minutes(8), pytest.mark.timeout(1200)]

SESSION_S: Final = 45
WAIT_S: Final = 120
MAX_POLL_S: Final = 600
CRASHES: Final = 3
"""The kubelet starts a container again at once, then after 10 and 20 s: all that is within a session."""

CONTROLLER: Final = {"StatefulSetNotObserved", "RestartInHand"}
"""What the operator says while it waits for the StatefulSet controller."""
JUST_JOINED: Final = {"GroupStabilizing"}
"""For `stableFor`, where the last run of a static member joined and crashed between two looks: it may live, by them."""


@dataclass(frozen=True)
class Experiment:
    """Partitions of the two records, and moments in seconds since the epoch."""

    world: World
    blocked: int
    crashing: int
    crasher: str
    """The pod that had the partition with the record `crash`."""
    began: float
    crashed: float
    """When the static members' consumer had crashed so often, in both worlds."""
    served: frozenset[int]
    """Partitions that were served between their last two crashes."""
    said: list[str]
    fix_at: float
    fixed: float
    """When the record after `crash` was delivered."""
    ended: float
    goes_on: float
    """When the record after `wait` was delivered."""
    before: Figures
    after: Figures


def play(world: World, together: Barrier) -> Experiment:
    """Static members crash again and again; dynamic ones once, after which nobody is let into the group any more.

    All have been there for some while: of a dynamic member that came just before its process ended, the operator cannot
    say whose it is, by two clocks, before its session has passed.
    """
    owners, known_at = world.owners(), time.time()
    wait_for("all to have been there for long", lambda: time.time() - known_at > LONG_BEFORE_S + 1)
    blocked = min(owners)
    crashing = min(partition for partition, pod in owners.items() if pod != owners[blocked])
    began = time.time()
    wait_at = world.send("wait", blocked)
    wait_for("the record to block", lambda: _is_blocked(world, owners[blocked]), 60.0)
    crash_at = world.send("crash", crashing)
    for count in range(1, CRASHES) if world.kind.static else (1,):
        wait_for(f"{count} crashes", partial(_has_crashed, world, count), 120.0, world.pod_names)
    together.wait(DEADLINE_S)
    last_but_one = time.time()
    if world.kind.static:
        wait_for(f"{CRASHES} crashes", partial(_has_crashed, world, CRASHES), 120.0, world.pod_names)
    together.wait(DEADLINE_S)
    crashed = time.time()
    served = frozenset(row.partition for row in world.rows(last_but_one))
    said = _said(world, began)
    fix_at = time.time()
    world.apply(CRASH_ON_RECORD=None)
    fixed = wait_for("the fix", lambda: _got_past(world, crashing, crash_at, fix_at), 400.0, world.now)
    goes_on = wait_for("the blocked one", lambda: _got_past(world, blocked, wait_at, began), 400.0, world.now)
    world.wait_rolled_out()
    world.wait_served()
    ended = time.time()
    return Experiment(
        world=world,
        blocked=blocked,
        crashing=crashing,
        crasher=owners[crashing],
        began=began,
        crashed=crashed,
        served=served,
        said=said,
        fix_at=fix_at,
        fixed=fixed,
        ended=ended,
        goes_on=goes_on,
        before=measure(world, began, crashed),
        after=measure(world, fix_at, ended),
    )


@pytest.fixture(scope="module")
def experiments(stage: Stage) -> Iterator[dict[str, Experiment]]:
    env: dict[str, str | None] = {"WAIT_SECONDS": str(WAIT_S), "CRASH_ON_RECORD": "1"}
    made = (World(stage, kind, SESSION_S, MAX_POLL_S, env=dict(env)) for kind in KINDS)
    with played(*made) as worlds:
        with ThreadPoolExecutor(len(worlds)) as pool:
            together = Barrier(len(worlds))
            found = {each.world.name: each for each in pool.map(lambda world: play(world, together), worlds)}
        for each in found.values():
            more = {"served": len(each.served), "said": each.said, "fixed": round(each.fixed - each.fix_at, 1)}
            keep("blocked-and-crashing", "Blocked and crashing", each.world.kind.label, each.before, **more)
            keep("blocked-and-crashing", "The fix", each.world.kind.label, each.after, **more)
        yield found


@pytest.mark.parametrize("name", ["plain-dynamic", "slackwater-dynamic"])
def test_dynamic_members_wait_for_the_blocked_one(experiments: dict[str, Experiment], name: str) -> None:
    """Each crash is a rebalance, and none ends while one member does not take part."""
    assert experiments[name].served == frozenset()


@pytest.mark.parametrize("name", ["plain-static", "slackwater-static"])
def test_static_members_work_on(experiments: dict[str, Experiment], name: str) -> None:
    each = experiments[name]
    assert each.before.rebalances == 0
    assert each.served
    assert each.blocked not in each.served


@pytest.mark.parametrize("name", [kind.name for kind in KINDS])
def test_nothing_is_lost(experiments: dict[str, Experiment], name: str) -> None:
    assert experiments[name].before.missing == experiments[name].after.missing == 0


@pytest.mark.parametrize("name", ["slackwater-static", "slackwater-dynamic"])
def test_the_fix_reaches_the_crashing_pod_at_once(experiments: dict[str, Experiment], name: str) -> None:
    """As the first, while the other one is blocked; the operator waits for the StatefulSet controller, and for no more
    calm than a static group shows in seconds."""
    each = experiments[name]
    first = first_made(each.world.stage, name, each.fix_at)
    held = reasons(each.world.stage, name, each.fix_at, until=first.seen_at)
    allowed = CONTROLLER | (JUST_JOINED if each.world.kind.static else set())
    assert (first.name, set(held) - allowed) == (each.crasher, set())
    assert first.seen_at < min(each.fixed, each.goes_on)


def test_static_members_read_on_while_the_other_one_is_blocked(experiments: dict[str, Experiment]) -> None:
    """Dynamic ones are given nothing before the rebalance ends, whatever version they are of."""
    each = experiments["slackwater-static"]
    assert each.fixed < each.goes_on


@pytest.mark.parametrize("name", ["slackwater-dynamic", "slackwater-static"])
def test_the_operator_takes_no_second_pod_away(experiments: dict[str, Experiment], name: str) -> None:
    """One crashes by itself; of the others, one at a time."""
    each = experiments[name]
    assert each.said, "no condition said that a pod was down"
    assert most_down(each.world.stage, name, REPLICAS, each.fix_at) <= 2
    assert reasons(each.world.stage, name, each.fix_at)
    each.world.stage.cluster.wait_condition(name, "Ready", "True")


def _is_blocked(world: World, pod: str) -> bool:
    return "blocked for" in world.stage.cluster.kubectl("logs", pod, check=False)


def _has_crashed(world: World, count: int) -> bool:
    return sum(restarts(pod) for pod in world.pods()) >= count


def _got_past(world: World, partition: int, offset: int, since: float) -> float | None:
    """When somebody was given the next record of the partition: one that blocks or crashes is given again and again."""
    rows = [row.at_ms for row in world.rows(since) if row.partition == partition and row.offset > offset]
    return min(rows) / 1000 if rows else None


def _said(world: World, since: float) -> list[str]:
    """What the conditions of a ConsumerGroup said; nothing of other workloads."""
    if not world.kind.is_ours:
        return []
    kinds = ("Ready", "GroupStable")
    return list(dict.fromkeys(r for kind in kinds for r in reasons(world.stage, world.name, since, kind, "False")))
