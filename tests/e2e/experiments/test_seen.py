"""What counts as taken away: deleted, or made and not Ready yet, not a program that ends by itself. Who came first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.e2e.experiments.seen import first_made, most_taken
from tests.e2e.stage.recorder import Record


def seen(at: float, name: str, uid: str, *, ready: bool = True, ending: bool = False, deleted: bool = False) -> Record:
    metadata: dict[str, Any] = {"name": name, "uid": uid, "labels": {"slackwater.dev/group": "orders"}}
    metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z"} if ending else {}
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    return Record(at, "pods", deleted, {"metadata": metadata, "status": {"conditions": [condition]}})


BOTH = [seen(1, "orders-0", "a"), seen(1, "orders-1", "b")]
ENDS = [seen(2, "orders-0", "a", ending=True), seen(3, "orders-0", "a", deleted=True)]
MADE = [seen(4, "orders-0", "c", ready=False), seen(6, "orders-0", "c")]
CRASHES = [seen(5, "orders-1", "b", ready=False), seen(7, "orders-1", "b")]
DELETED = [seen(5, "orders-1", "b", ending=True)]


@pytest.mark.parametrize(
    ("records", "most"),
    [
        pytest.param(BOTH, 0, id="none"),
        pytest.param([*BOTH, *ENDS, *MADE], 1, id="one"),
        pytest.param([*BOTH, *ENDS, MADE[0], *CRASHES], 1, id="another ends by itself"),
        pytest.param([*BOTH, *ENDS, MADE[0], *DELETED], 2, id="another is deleted before it is back"),
        pytest.param([*BOTH, *ENDS, *MADE, seen(8, "orders-1", "b", ending=True)], 1, id="after it is"),
    ],
)
def test_how_many_were_taken_away_at_once(records: list[Record], most: int) -> None:
    stage: Any = SimpleNamespace(recorder=SimpleNamespace(records=lambda kind: records))
    assert most_taken(stage, "orders", since=1.5) == most


def test_the_first_that_was_made_since() -> None:
    """A pod that is not its first sight, or was there before, is none."""
    records = [*BOTH, *ENDS, *MADE, seen(8, "orders-1", "d")]
    stage: Any = SimpleNamespace(recorder=SimpleNamespace(records=lambda kind: records))
    assert first_made(stage, "orders", since=1.5) == MADE[0]
