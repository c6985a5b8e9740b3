"""Is one instance id used by two processes?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.members.duplicates import DUPLICATE_FORGOTTEN_S, an_id_is_used_twice, was_taken_from
from slackwater.core.world.claims import Claim
from slackwater.core.world.two_sets import names_of
from slackwater.core.world.world import World
from tests.core.factories import (
    LONG_AGO,
    NAME,
    NOW,
    folded,
    fresh_pod,
    member,
    members,
    observation,
    pod,
    workload,
    world,
)


def looks(*taken_ago_s: float, last_look_s: float = 0.0) -> dict[str, Any]:
    """Pod 2's id has had another holder from each of these looks on; each is the look after one 2 s earlier."""
    begun = [observation((*members(0, 1), member(2, "x")), at=LONG_AGO)]
    for number, ago_s in enumerate(taken_ago_s):
        before = f"x{number - 1}" if number else "x"
        begun.append(observation((*members(0, 1), member(2, before)), at=NOW - ago_s - 2))
        begun.append(observation((*members(0, 1), member(2, f"x{number}")), at=NOW - ago_s))
    if last_look_s != taken_ago_s[-1]:
        begun.append(observation((*members(0, 1), member(2, f"x{len(taken_ago_s) - 1}")), at=NOW - last_look_s))
    return {"kafka": begun[-1], "history": folded(*begun)}


def given(*taken_ago_s: float, pod_2: Any = None, **changes: Any) -> World:
    return world(pods=(pod(0), pod(1), pod_2 or pod(2)), **(looks(*taken_ago_s) | changes))


def down(ended_ago_s: float, started_ago_s: float | None = None) -> Any:
    started_at = None if started_ago_s is None else NOW - started_ago_s
    return pod(2, ready=False, started_at=started_at, ended_at=NOW - ended_ago_s, restarts=3)


AHEAD = replace(down(20, 5), told_running_at=NOW - 11)
TABLE: list[tuple[str, World, bool]] = [
    ("it goes to and fro", given(30, 20, 10), True),
    ("not often enough to be more than a start", given(20, 10), False),
    ("no longer", given(*(DUPLICATE_FORGOTTEN_S + each for each in (30, 20, 10))), False),
    ("before the pod's container started", given(30, 20, 10, pod_2=fresh_pod(2, 15)), False),
    ("it was taken while the container was down", given(13, pod_2=down(20)), True),
    ("it runs again by now, and its kubelet has not said so yet", given(11, pod_2=down(20)), False),
    ("and is held still, long after that", given(900, pod_2=down(910)), True),
    ("it may have joined just before it ended", given(10, pod_2=down(11)), False),
    ("the container runs again, and it was taken before that", given(10, pod_2=down(20, 5)), True),
    ("by then the container ran again", given(10, pod_2=down(20, 11)), False),
    ("it ran by then, on a node whose clock is ahead", given(10, pod_2=AHEAD), False),
    ("it has never ended", given(10), False),
    ("nobody has taken it", world(pods=(pod(0), pod(1), down(20))), False),
    ("the pod is not there", world(pods=(pod(0), pod(1)), **looks(10)), False),
    (
        "a handover's two pods may have it",
        replace(given(13, pod_2=down(20)), sets=(workload(), workload(name=names_of(NAME)[1], replicas=0))),
        False,
    ),
]


@pytest.mark.parametrize(("seen", "twice"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_an_id_is_used_twice(seen: World, twice: bool) -> None:
    hold = an_id_is_used_twice(seen)
    assert (hold is not None) is twice
    assert hold is None or (hold.reason is Reason.DUPLICATE_INSTANCE_ID and "payments-2" in hold.message)


@pytest.mark.parametrize(
    ("seen", "how"),
    [
        (given(30, 20, 10), "changes hands again and again"),
        (given(13, pod_2=down(20)), "was taken while the container of its pod was down"),
    ],
    ids=["to and fro", "once"],
)
def test_it_says_how_the_id_went(seen: World, how: str) -> None:
    hold = an_id_is_used_twice(seen)
    assert hold is not None and hold.message == f"instance id payments-2 {how}: two processes use it"


def test_another_consumer_group_of_the_group_is_named() -> None:
    """Of the same name in another namespace, it gives the same ids."""
    hold = an_id_is_used_twice(given(40, 20, 0, claims=(Claim("elsewhere", NAME),)))
    assert hold is not None
    assert hold.message.endswith("(ConsumerGroup elsewhere/payments has the same groupId)")


TAKEN = [
    ("twice in its run", given(30, 20), "payments-2"),
    ("once, as by itself", given(30), ""),
    ("once in each of two runs", given(30, 10, pod_2=pod(2, started_at=NOW - 15, last_run_started_at=NOW - 40)), ""),
    (
        "twice in the run before",
        given(30, 20, pod_2=pod(2, started_at=NOW - 15, last_run_started_at=NOW - 40)),
        "payments-2",
    ),
    ("before its run", given(30, 20, pod_2=fresh_pod(2, 15)), ""),
    ("it never ran", given(30, 20, pod_2=pod(2, ready=False, started_at=None)), ""),
]


@pytest.mark.parametrize(("world", "taken"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_an_id_was_taken_that_changed_hands_twice_in_one_run(world: World, taken: str) -> None:
    assert was_taken_from(world, world.pods[2]) == taken
