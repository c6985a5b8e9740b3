"""When a wait for a group is over: by the operator's word about this generation, and only while it sees the group."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.cli.looking.looks import Look
from slackwater.cli.looking.waiting import is_ready, where_it_stands
from slackwater.cli.words.readiness import surplus
from slackwater.core.decision.decision import Decision
from tests.core.factories import changed, group, pod, world


def look(
    phase: str = "Ready", ready: str = "True", observed: int = 1, why: tuple[str, str] = ("", ""), gated: str = ""
) -> Look:
    status: dict[str, Any] = {
        "phase": phase,
        "observedGeneration": observed,
        "conditions": [
            {"type": "Ready", "status": ready, "reason": why[0], "message": why[1]},
            {"type": "RolloutGated", "status": "False", "reason": gated, "message": ""},
        ],
    }
    given = world(group=group().model_copy(update={"status": status}))
    return Look(given, Decision(given.memory))


@pytest.mark.parametrize(
    ("seen", "over"),
    [
        (look(), True),
        (look("Progressing"), False),
        (look(ready="Unknown"), False),
        (look(ready="False"), False),
        (look(observed=0), False),
        (look("Paused", gated="NotRolling"), True),
        (look("Paused", gated="Paused"), False),
        (look("Paused"), False),
        (look("Paused", "False", gated="NotRolling"), False),
    ],
    ids=[
        "as its spec wants it",
        "under way",
        "not to be seen in Kafka",
        "its members are missing",
        "of an older spec",
        "paused, as its spec wants it",
        "paused in a rollout",
        "paused, and the operator says no more",
        "paused, and not Ready",
    ],
)
def test_a_group_is_waited_for_until_it_is_ready(seen: Look, over: bool) -> None:
    assert is_ready(seen.world.group) is over


def test_pods_that_are_to_be_scaled_away_are_waited_for() -> None:
    """Their members have partitions, and a group that was scaled to nothing is not empty before they have ended."""
    seen = look().world
    left = surplus(changed(seen, pods=(*seen.pods, pod(3), pod(4, terminating=True))))
    assert where_it_stands(seen.group, left) == "it is Ready, and payments-3, payments-4 have yet to end"


MISSING = ("TopicMissing", "topic refunds does not exist")
AWAY = ("MemberMissing", "Ready, but not known to be in the group: payments-2")


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (look("Paused"), "it is Paused"),
        (look("Unknown", "Unknown", why=MISSING), f"it is not known whether it is ({': '.join(MISSING)})"),
        (look("Ready", "Unknown", why=MISSING), f"it is not known whether it is ({': '.join(MISSING)})"),
        (look("NotReady", "False", why=AWAY), f"it is not Ready ({': '.join(AWAY)})"),
        (look(observed=0), "the operator has not taken up generation 1 of it"),
        (look(""), "the operator has said nothing of it"),
    ],
    ids=["a phase", "not known", "of an earlier operator", "not Ready", "of an older spec", "no operator"],
)
def test_a_wait_in_vain_never_says_that_the_group_is_ready(seen: Look, words: str) -> None:
    assert where_it_stands(seen.world.group) == words
