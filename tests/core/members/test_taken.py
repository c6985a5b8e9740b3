"""Ids of pods that are to go: who of us had each last?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.members.taken import our_last
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import Step
from slackwater.core.world.two_sets import names_of
from tests.core.factories import NAME, NOW, changed, folded, member, members, observation, pod, workload, world

OTHERS = members(0, 1)
TIMEOUT_S = 300


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
    ("the pod's process took it from the one before", run(40), looks((305, None), CAME, (32, "a"), (30, "b")), False),
    ("and another from that", run(40), looks(CAME, (37, "a"), (35, "b"), (32, "b"), (30, "x")), True),
    ("we began to look lately, at a run that is young", run(310), looks((35, "a"), (32, "a"), (30, "x")), False),
    ("and at one that has had time to join", run(TIMEOUT_S + 100), looks((35, "a"), (32, "a"), (30, "x")), True),
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
    assert given.group.spec.rollout.rejoin_timeout_s == TIMEOUT_S
    found = our_last(given, given.members)
    assert {key: found[key] for key in ("payments-0", "payments-1")} == {
        "payments-0": "payments-0-a",
        "payments-1": "payments-1-a",
    }
    assert (found["payments-2"] != holder) is taken
    gone = changed(given, pods=(pod(0), pod(1)))
    assert "payments-2" not in our_last(gone, gone.members)


def test_one_that_we_took_out_while_its_process_lives_is_followed_by_its_own() -> None:
    history = looks((305, None), CAME, (32, "a"), (30, "x"))
    given = world(pods=(pod(0), pod(1), run(310)), kafka=observation((*OTHERS, member(2, "x"))), history=history)
    step = Step(2, NOW - 310, {}, made=True, taken_out={"payments-2": "payments-2-a"})
    given = replace(given, memory=replace(given.memory, step=step))
    assert our_last(given, given.members)["payments-2"] == "payments-2-x"


def test_in_a_handover_both_pods_are_ours() -> None:
    history = looks((305, None), CAME, (32, "a"), (30, "x"))
    sets = (workload(), workload(name=names_of(NAME)[1], replicas=0))
    given = world(pods=(pod(0), pod(1), run(310)), kafka=observation((*OTHERS, member(2, "x"))), history=history)
    assert our_last(given, given.members)["payments-2"] == "payments-2-a"
    given = replace(given, sets=sets)
    assert not our_last(given, given.members)
