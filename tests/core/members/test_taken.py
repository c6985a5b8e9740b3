"""Ids of pods that are to go: who of us had each last?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.members.taken import last_of_ours, noted
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.two_sets import names_of
from tests.core.factories import (
    NAME,
    NOW,
    changed,
    folded,
    fresh_pod,
    group,
    member,
    members,
    observation,
    pod,
    workload,
    world,
)

OTHERS = members(0, 1)


def looks(*seen: tuple[float, str | None], away: bool = False) -> GroupHistory:
    """Of each: so many seconds ago, and who had pod 2's id then; `away`: who had it first has left for a while."""
    rows = []
    for ago_s, who in seen:
        left = {"epoch": -2 if away and who == seen[0][1] else None}
        holder = () if who is None else (member(2, who, **left),)
        rows.append(observation((*OTHERS, *holder), at=NOW - ago_s))
    return folded(*rows)


def run(started_ago_s: float, **changes: Any) -> Any:
    return pod(2, started_at=NOW - started_ago_s, **changes)


def down(began_ago_s: float, ended_ago_s: float) -> Any:
    """It ended, and has not been started again."""
    return pod(2, ready=False, started_at=None, ended_at=NOW - ended_ago_s, last_run_started_at=NOW - began_ago_s)


def again(began_ago_s: float, ended_ago_s: float, started_ago_s: float) -> Any:
    return replace(down(began_ago_s, ended_ago_s), started_at=NOW - started_ago_s, restarts=1)


CAME = (300.0, "a")
TABLE: list[tuple[str, Any, GroupHistory, bool]] = [
    ("it came first, and another after it, in one run", run(310), looks((305, None), CAME, (32, "a"), (30, "x")), True),
    ("nobody took it", run(310), looks((305, None), CAME, (30, "a")), False),
    (
        "the pod's process took it from the one before",
        run(40, restarts=1),
        looks((305, None), CAME, (32, "a"), (30, "b")),
        False,
    ),
    ("and another from that", run(40), looks(CAME, (37, "a"), (35, "b"), (32, "b"), (30, "x")), True),
    ("we began to look lately, at a run that is young", run(60, restarts=1), looks((35, "a"), (30, "x")), False),
    ("which is the pod's only one, and the first was at its address", run(60), looks((35, "a"), (30, "x")), True),
    ("and at one that is older than a session", run(310), looks((35, "a"), (32, "a"), (30, "x")), True),
    ("it was taken at our first look", run(9_000), looks((30, "x")), False),
    ("its session had ended", run(310), looks((305, None), CAME, (32, None), (30, "b")), False),
    ("it had left", run(310), looks((300, "a"), (32, "a"), (30, "b"), away=True), False),
    ("and the process ended of it", down(310, 25), looks((305, None), CAME, (32, "a"), (30, "x")), True),
    ("and runs again", again(310, 25, 20), looks((305, None), CAME, (32, "a"), (30, "x")), True),
    ("and has taken it back", again(310, 25, 20), looks((305, None), CAME, (30, "x"), (18, "x"), (16, "b")), False),
    ("a node's clock is ahead: it is not known", run(-50), looks((305, None), CAME, (32, "a"), (30, "x")), False),
]


@pytest.mark.parametrize(("there", "history", "taken"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_who_of_us_had_it_last(there: Any, history: GroupHistory, taken: bool) -> None:
    holder = history.members["payments-2"].member_id
    there_now = member(2, holder.rpartition("-")[2])
    given = world(pods=(pod(0), pod(1), there), kafka=observation((*OTHERS, there_now)), history=history)
    found = noted(given, given.members, {})
    assert {key: found[key] for key in ("payments-0", "payments-1")} == {
        "payments-0": "payments-0-a",
        "payments-1": "payments-1-a",
    }
    assert (found["payments-2"] != holder) is taken
    gone = changed(given, pods=(pod(0), pod(1)))
    assert "payments-2" not in noted(gone, gone.members, {})


def test_who_was_taken_out_and_joined_again_has_other_partitions() -> None:
    """Nobody knows what they are before the rebalance is over."""
    before, after = (observation((*OTHERS, member(2, "a")), at=NOW - ago_s) for ago_s in (300, 32))
    again = observation((*OTHERS, member(2, "x", assignment=frozenset())), at=NOW - 30)
    history = folded(observation(OTHERS, at=NOW - 305), before, after, again)
    given = world(pods=(pod(0), pod(1), run(310)), kafka=observation((*OTHERS, member(2, "x"))), history=history)
    assert noted(given, given.members, {})["payments-2"] == "payments-2-x"


ENDS = run(310, terminating=True)
NEVER_RAN = pod(2, ready=False, started_at=None)
KNOWN: list[tuple[str, Any, str | None, str | None]] = [
    ("its pod is gone, and nobody has the id", None, None, "a"),
    ("its pod is gone, and another one has the id", None, "x", "a"),
    ("its pod ends, and another one has the id", ENDS, "x", "a"),
    ("its pod is there, and another one was there before it", fresh_pod(2, 20), "x", "a"),
    ("its pod is there, and has not run", NEVER_RAN, "x", "a"),
    ("its pod is there, and has joined", fresh_pod(2, 120), "x", None),
    ("its pod is there, and its member is ours", fresh_pod(2, 20), "a", None),
    ("its pod is there, and nobody has the id", fresh_pod(2, 20), None, None),
]


@pytest.mark.parametrize("replicas", [2, 3], ids=["it is not wanted", "it is"])
@pytest.mark.parametrize(("there", "holder", "kept"), [row[1:] for row in KNOWN], ids=[row[0] for row in KNOWN])
def test_it_is_kept_until_the_pod_is_there_again(
    there: Any, holder: str | None, kept: str | None, replicas: int
) -> None:
    """Whether it is wanted or not: in a stop none is there that is."""
    looks = [observation(() if holder is None else (member(2, holder),), at=NOW - ago_s) for ago_s in (70, 60, 50)]
    pods = (pod(0), pod(1), *(() if there is None else (there,)))
    given = world(group=group(replicas=replicas), pods=pods, kafka=looks[-1], history=folded(*looks))
    given = replace(given, memory=replace(given.memory, removed={"payments-2": "payments-2-a"}, ids_given=3))
    found = last_of_ours(given).get("payments-2")
    at_all = kept is not None or (replicas == 2 and there is not None and holder is not None)
    assert found == (f"payments-2-{kept or holder}" if at_all else None)


def test_in_a_handover_both_pods_are_ours() -> None:
    history = looks((305, None), CAME, (32, "a"), (30, "x"))
    sets = (workload(), workload(name=names_of(NAME)[1], replicas=0))
    given = world(pods=(pod(0), pod(1), run(310)), kafka=observation((*OTHERS, member(2, "x"))), history=history)
    assert noted(given, given.members, {})["payments-2"] == "payments-2-a"
    given = replace(given, sets=sets)
    assert not noted(given, given.members, {})
