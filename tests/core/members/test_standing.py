"""Which pods get on and yet stand in some of their partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.members.standing import find_halted, find_standing, find_stood_before
from slackwater.core.members.work import is_stalled
from slackwater.core.rollout.gates import first_refusal
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation, PartitionOffsets, Unobserved
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import (
    NOW,
    dynamic_member,
    folded,
    group,
    member,
    members,
    observation,
    owned_by,
    pod,
    tp,
    world,
)
from tests.core.members.returns import BEFORE_IT, STARTED, look, never_commits, one_stands, returned

STANDS = (look(50), one_stands(40, 105, 100, 105), one_stands(0, 109, 100, 110))
THREAD_DIED = (one_stands(90, 90, 90, 100), one_stands(80, 100, 100, 100), BEFORE_IT, *STANDS)
STOOD_BEFORE = (one_stands(90, 90, 100, 100), one_stands(80, 100, 100, 100), BEFORE_IT, *STANDS)
CAME_AND_DIED = (BEFORE_IT, look(50), look(45, 105, 105), look(35, 105, 108), look(0, 105, 110))
FIRST = (pod(0), STARTED, pod(2))


def out_of_sight_before(last: int, *looks: GroupObservation) -> GroupHistory:
    """All looks before the last so many failed, since the one before."""
    history = interrupted(folded(*looks[:-last]))
    for each in looks[-last:]:
        history = advance(history, each)
    return history


OUT_OF_SIGHT = out_of_sight_before(1, *THREAD_DIED)
IMPATIENT = group(rollout={"rejoinTimeout": "39s"})
STANDING: list[tuple[str, World, str | None]] = [
    ("all work", returned(BEFORE_IT, look(50), look(40, 100, 105), look(0, 105, 105)), None),
    ("one of its threads is dead", returned(*THREAD_DIED), "orders-3 since it came"),
    ("it was before our first look", returned(*THREAD_DIED[3:]), "orders-3 since it came"),
    ("the partition stood before it came, too", returned(*STOOD_BEFORE), None),
    ("it had its time", returned(*THREAD_DIED, group=IMPATIENT), None),
    ("Kafka was out of sight in that time", returned(*THREAD_DIED, group=IMPATIENT, history=OUT_OF_SIGHT), "orders-3"),
    (
        "but that was given to it once",
        returned(*THREAD_DIED, group=group(rollout={"rejoinTimeout": "19s"}), history=OUT_OF_SIGHT),
        None,
    ),
    (
        "the first of its version committed when it came, and not since",
        returned(*CAME_AND_DIED, pods=FIRST),
        "stableFor",
    ),
    ("a later one did", returned(*CAME_AND_DIED), None),
    ("the first of its version commits on", returned(*CAME_AND_DIED[:-1], look(5, 108, 110), pods=FIRST), None),
    ("the group keeps its offsets elsewhere", returned(BEFORE_IT, never_commits(50, 100), never_commits(0, 105)), None),
    ("Kafka cannot be seen", world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW)), None),
]


@pytest.mark.parametrize(("given", "where"), [row[1:] for row in STANDING], ids=[row[0] for row in STANDING])
def test_who_does_not_get_on_in_each_of_its_partitions(given: World, where: str | None) -> None:
    """It holds the next step for a while, and nothing more: no pod is down and no version has failed for it."""
    hold = find_standing(given, given.pods[1])
    assert (where is None) is (hold is None)
    assert hold is None or (where or "") in hold.message
    assert not is_stalled(given, given.pods[1])


FEWER: dict[str, Any] = {
    "members": (member(0, assignment=owned_by(0) | {tp(2)}), member(1, "b", assignment=frozenset({tp(3)})), member(2))
}
"""After a rebalance pod 1 has one partition only."""
HASTY = group(rollout={"rejoinTimeout": "39s", "stableFor": "2s"})
GIVEN_ANOTHER = (look(9, end=141, **FEWER), look(5, end=142, **FEWER))
IDLE = (BEFORE_IT, look(60), look(55, end=105), look(10, end=140), *GIVEN_ANOTHER)
"""Pod 1 has committed nothing for 46 s up to the rebalance."""
AT_WORK = (*IDLE[:3], look(30, 120, 130), look(10, 120, 140), *GIVEN_ANOTHER)
STOOD_BEFORE_IT: list[tuple[str, World, frozenset[int], bool]] = [
    ("it was idle for longer than it may be", returned(*IDLE, group=HASTY), frozenset(), True),
    ("for less", returned(*IDLE), frozenset(), False),
    ("it is known to be down again", returned(*IDLE, group=HASTY), frozenset({1}), False),
    ("it got on before", returned(*AT_WORK, group=HASTY), frozenset(), False),
    ("it gets on now", returned(*IDLE, look(0, 141, 143, **FEWER), group=HASTY), frozenset(), False),
    (
        "twice over, shortly one after the other",
        returned(*IDLE, look(4, end=143), look(0, end=144), group=HASTY),
        frozenset(),
        True,
    ),
    (
        "it got on between two rebalances",
        returned(*IDLE, look(4, 142, 143, **FEWER), look(3, 142, 143), look(0, 142, 144), group=HASTY),
        frozenset(),
        False,
    ),
    ("it is not in the group", returned(*IDLE, look(0, members=members(0, 2)), group=HASTY), frozenset(), False),
]


@pytest.mark.parametrize(
    ("given", "down", "holds"), [row[1:] for row in STOOD_BEFORE_IT], ids=[row[0] for row in STOOD_BEFORE_IT]
)
def test_a_rebalance_is_no_proof_of_life(given: World, down: frozenset[int], *, holds: bool) -> None:
    hold = find_stood_before(given, down)
    assert (hold is not None) is holds
    assert hold is None or "payments-1" in hold.message
    after_another = replace(given, memory=replace(given.memory, phase=RolloutPhase.PROGRESSING, step=Step(2, NOW - 62)))
    assert first_refusal(after_another, down) == hold or not holds, "the gates do not ask it"


MOVED = one_stands(80, 100, 100, 100)
"""By then all that had come was read, in both of its partitions."""
COME_ON = (look(50), one_stands(40, 105, 100, 105), one_stands(10, 107, 100, 108), one_stands(0, 109, 100, 110))
HALTED = (one_stands(90, 90, 90, 100), MOVED, BEFORE_IT, *COME_ON)
BLINKED = (*HALTED[:-1], one_stands(5, 108, 100, 109))
CAME_ONCE = (*HALTED[:-2], one_stands(10, 105, 100, 105), one_stands(0, 105, 100, 105))
STOOD = (one_stands(100, 90, 90, 100), one_stands(95, 100, 100, 100), one_stands(85, 100, 100, 105))
STEP = Step(1, NOW - 62, made=True)
AGAIN = replace(STEP, halted=("orders-3",))


def halting(*looks: GroupObservation, step: Step | None = STEP, timeout_s: int = 39, **changes: Any) -> World:
    memory = RolloutMemory(phase=RolloutPhase.PROGRESSING, step=step)
    given = returned(*looks, group=group(rollout={"rejoinTimeout": f"{timeout_s}s"}), memory=memory, **changes)
    return having_waited(given)


def having_waited(given: World, *waits_s: float) -> World:
    """How long records had waited at the last commits, in every partition."""
    assert given.seen is not None
    waited = dict.fromkeys(given.seen.partitions, waits_s or (1.0, 1.0, 1.0))
    return replace(given, history=replace(given.history, waited_s=waited))


def beside_one_that_stands(since_s: float, moved_ago_s: float, came_ago_s: float = 5.0) -> World:
    """Records have waited in a partition of pod 0 for so long."""
    given = halting(*HALTED)
    known = given.history
    history = replace(
        known,
        unread_since={**known.unread_since, tp(0): NOW - since_s},
        commit_moved_after={**known.commit_moved_after, tp(0): NOW - moved_ago_s},
        end_moved_after={**known.end_moved_after, tp(0): NOW - came_ago_s},
    )
    return replace(given, history=history)


HALTS: list[tuple[str, World, list[int]]] = [
    ("where the pod before it got on", halting(*HALTED), [3]),
    ("commits were as seldom before", having_waited(halting(*HALTED), 1.0, 27.0, 2.0), []),
    ("commits were not as seldom before", having_waited(halting(*HALTED), 1.0, 26.0, 2.0), [3]),
    ("hardly any commits were seen", having_waited(halting(*HALTED), 1.0, 1.0), []),
    ("not for longer than rejoinTimeout", halting(*HALTED, timeout_s=41), []),
    ("records came once, as of an aborted transaction", halting(*CAME_ONCE), []),
    ("records come no more", halting(*HALTED[:-2], one_stands(0, 109, 100, 110)), []),
    ("it stood before the step", halting(*STOOD, *HALTED[2:]), []),
    (
        "before the step records had waited for no longer than between two commits",
        halting(*STOOD[:-1], one_stands(81, 100, 100, 105), *HALTED[2:]),
        [3],
    ),
    ("what was before is not known", halting(*HALTED[3:]), []),
    (
        "a partition of another pod stands as long",
        beside_one_that_stands(45, 50),
        [],
    ),
    ("one stands for a moment", beside_one_that_stands(20, 25), [3]),
    ("one has stood for ever", beside_one_that_stands(5000, 5000), [3]),
    ("one has what a transaction left", beside_one_that_stands(45, 50, came_ago_s=45), [3]),
    ("the next pod is under way", halting(*HALTED, step=replace(STEP, ordinal=0)), []),
    ("it went together with another one", halting(*HALTED, step=replace(STEP, ordinal=0, also=(1,))), [3]),
    ("it is not known which pod was restarted last", halting(*HALTED, step=None), []),
    (
        "Kafka was out of sight meanwhile",
        halting(*HALTED, history=out_of_sight_before(2, *HALTED)),
        [],
    ),
    ("one look failed", halting(*HALTED, history=out_of_sight_before(1, *HALTED)), [3]),
    (
        "Kafka is out of sight now and then, for longer than it is waited for",
        halting(*BLINKED, timeout_s=19, history=out_of_sight_before(2, *BLINKED)),
        [],
    ),
    ("between looks without a break", halting(*BLINKED, HALTED[-1], timeout_s=21), [3]),
    ("a second try, however it was before", halting(*COME_ON, step=AGAIN), [3]),
    ("one long after the first", halting(look(500), BEFORE_IT, *COME_ON, step=AGAIN), [3]),
    ("hardly any commits were seen of it", having_waited(halting(*COME_ON, step=AGAIN), 1.0), [3]),
    (
        "a second try, and it stood in another one",
        halting(look(500), BEFORE_IT, *COME_ON, step=replace(STEP, halted=("orders-2",))),
        [],
    ),
    ("a first one, of which nothing was seen before", halting(look(500), BEFORE_IT, *COME_ON), []),
    (
        "the first of its version committed when it came, and not since",
        halting(*CAME_AND_DIED[:-1], look(10, 105, 109), look(0, 105, 110), pods=FIRST, timeout_s=34),
        [2, 3],
    ),
    ("all work", halting(BEFORE_IT, look(50), look(40, 100, 105), look(0, 105, 105)), []),
]


@pytest.mark.parametrize(("given", "partitions"), [row[1:] for row in HALTS], ids=[row[0] for row in HALTS])
def test_which_partitions_stand_by_the_versions_doing(given: World, partitions: list[int]) -> None:
    assert find_halted(given, given.pods[1]) == tuple(map(tp, partitions))
    assert not is_stalled(given, given.pods[1])
    assert not partitions or find_standing(given, given.pods[1]) is None, "it would hold what has failed"


def test_between_dynamic_members_a_partition_is_judged_from_when_the_pod_was_given_it() -> None:
    """Somebody else had it while the pod was away."""
    dynamic: dict[str, Any] = {"membership": "Dynamic", "replicas": 3, "rollout": {"rejoinTimeout": "39s"}}

    def seen(ago_s: float, mine: PartitionOffsets, owner: int) -> GroupObservation:
        others = [
            dynamic_member(o, assignment=owned_by(o) | (owned_by(1) if o == owner else frozenset())) for o in (0, 2)
        ]
        came = [dynamic_member(1)] if owner == 1 else []
        given = observation((*others, *came), at=NOW - ago_s)
        return replace(given, offsets={**given.offsets, tp(2): mine, tp(3): replace(mine, committed=mine.end)})

    def judged(stood_s: float) -> World:
        before = (seen(120, PartitionOffsets(90, 90), 0), seen(110, PartitionOffsets(100, 100), 0))
        stands = seen(50 + stood_s, PartitionOffsets(100, 105), 0)
        after = [seen(ago_s, PartitionOffsets(100, 200 - int(ago_s)), 1) for ago_s in (50.0, 40.0, 10.0, 0.0)]
        given = halting(*before, stands, *after, step=replace(STEP, started_at=NOW - 200))
        return replace(given, group=group(**dynamic), now=NOW)

    for stood_s, partitions in ((10, (tp(2),)), (30, ())):
        given = judged(stood_s)
        assert find_halted(given, given.pods[1]) == partitions
