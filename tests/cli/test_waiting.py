"""When a wait for a group is over: by the operator's word about this generation, and only while it sees the group."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.cli.looking.looks import Look
from slackwater.cli.looking.waiting import is_ready
from slackwater.core.decision.decision import Decision
from tests.core.factories import group, world


def look(phase: str = "Ready", ready: str = "True", observed: int = 1) -> Look:
    status: dict[str, Any] = {
        "phase": phase,
        "observedGeneration": observed,
        "conditions": [{"type": "Ready", "status": ready}],
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
    ],
    ids=["as its spec wants it", "under way", "not to be seen in Kafka", "its members are missing", "of an older spec"],
)
def test_a_group_is_waited_for_until_it_is_ready(seen: Look, over: bool) -> None:
    assert is_ready(seen) is over
