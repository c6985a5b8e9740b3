"""What members ask for, which in a classic group with static members may be another thing than what they own."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.members.subscriptions import asks_wrongly, forgotten_topics
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupState, Member
from slackwater.core.world.world import World
from tests.core.factories import NEW, group, member, observation, pod, tp, world

BOTH = group(topics=["orders", "refunds"])
PARTITIONS = frozenset({tp(0), tp(1), tp(2), tp(0, "refunds")})
BACK = RolloutMemory(phase=RolloutPhase.ROLLING_BACK)
THIRD = RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash="a third one")


def asking(ordinal: int, *topics: str) -> Member:
    return member(ordinal, subscribed=frozenset(topics) or None)


def scene(*asked: tuple[str, ...], new: tuple[int, ...] = (2,), **changes: Any) -> World:
    """Three pods, each with what it asks for; an empty one is not known. `new`: those of the new version."""
    members = [asking(ordinal, *topics) for ordinal, topics in enumerate(asked)]
    pods = tuple(pod(ordinal, NEW) if ordinal in new else pod(ordinal) for ordinal in range(3))
    state = changes.pop("state", GroupState.STABLE)
    kafka = observation(members, partitions=PARTITIONS, state=state)
    return world(**({"group": BOTH, "kafka": kafka, "pods": pods} | changes))


TWO, ONE, OTHER, NONE = ("orders", "refunds"), ("orders",), ("payouts",), ()
WRONG: list[tuple[str, World, str]] = [
    ("as before", scene(TWO, TWO, TWO), ""),
    ("less than each pod before", scene(TWO, TWO, ONE), "does not read refunds"),
    ("nothing of the spec", scene(TWO, TWO, OTHER), "reads only payouts"),
    ("less than one pod before, by design", scene(TWO, ONE, ONE), ""),
    ("less, and the spec does not name it", scene(TWO, TWO, ONE, group=group(topics=["orders"])), ""),
    ("it is not known what it asks for", scene(TWO, TWO, NONE), ""),
    ("it is not known of one before", scene(TWO, NONE, ONE), ""),
    ("a member of it is missing", scene(TWO, TWO, ONE, group=group(membersPerPod=2, topics=list(TWO))), ""),
    ("on the way back", scene(TWO, TWO, ONE, memory=BACK), ""),
    ("a third version is to come, which no template has yet", scene(TWO, TWO, ONE, memory=THIRD), ""),
    ("nobody is left to compare with", scene(ONE, ONE, ONE, new=(0, 1, 2)), ""),
]


@pytest.mark.parametrize(("given", "said"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_what_is_wrong_with_what_a_pod_asks_for(given: World, said: str) -> None:
    found = asks_wrongly(given, given.pods[2])
    assert found.startswith(said) if said else found == ""


ALL = (0, 1, 2)
FORGOTTEN: list[tuple[str, World, tuple[str, ...]]] = [
    ("each asks for both", scene(TWO, TWO, TWO, new=ALL), ()),
    ("nobody asks for one", scene(ONE, ONE, ONE, new=ALL), ("refunds",)),
    ("one does", scene(ONE, TWO, ONE, new=ALL), ()),
    ("of one it is not known", scene(ONE, NONE, ONE, new=ALL), ()),
    ("one has the version before", scene(ONE, ONE, ONE, new=(1, 2)), ()),
    ("it is not named", scene(ONE, ONE, ONE, new=ALL, group=group(topics=["orders"])), ()),
    ("it does not exist", scene(ONE, ONE, ONE, new=ALL, group=group(topics=["orders", "payouts"])), ()),
    ("the group rebalances", scene(ONE, ONE, ONE, new=ALL, state=GroupState.PREPARING_REBALANCE), ()),
    ("on the way back", scene(ONE, ONE, ONE, new=ALL, memory=BACK), ()),
]


@pytest.mark.parametrize(("given", "topics"), [row[1:] for row in FORGOTTEN], ids=[row[0] for row in FORGOTTEN])
def test_topics_that_nobody_asks_for(given: World, topics: tuple[str, ...]) -> None:
    assert given.seen is not None
    assert forgotten_topics(given, given.seen) == topics
