"""Which pods get on and yet stand in some of their partitions."""

from __future__ import annotations

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.members.standing import find_standing
from slackwater.core.members.work import is_stalled
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.world import World
from tests.core.factories import NOW, group, pod, world
from tests.core.members.returns import BEFORE_IT, STARTED, look, never_commits, one_stands, returned

STANDS = (look(50), one_stands(40, 105, 100, 105), one_stands(0, 109, 100, 110))
THREAD_DIED = (one_stands(90, 90, 90, 100), one_stands(80, 100, 100, 100), BEFORE_IT, *STANDS)
STOOD_BEFORE = (one_stands(90, 90, 100, 100), one_stands(80, 100, 100, 100), BEFORE_IT, *STANDS)
CAME_AND_DIED = (BEFORE_IT, look(50), look(45, 105, 105), look(35, 105, 108), look(0, 105, 110))
FIRST = (pod(0), STARTED, pod(2))
IMPATIENT = group(rollout={"rejoinTimeout": "39s"})
STANDING: list[tuple[str, World, str | None]] = [
    ("all work", returned(BEFORE_IT, look(50), look(40, 100, 105), look(0, 105, 105)), None),
    ("one of its threads is dead", returned(*THREAD_DIED), "orders-3 since it came"),
    ("it was before our first look", returned(*THREAD_DIED[3:]), "orders-3 since it came"),
    ("the partition stood before it came, too", returned(*STOOD_BEFORE), None),
    ("it had its time", returned(*THREAD_DIED, group=IMPATIENT), None),
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
