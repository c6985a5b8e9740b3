"""`status.rollout.handover`: every state comes back as it was, and what is written is what was always written."""

from __future__ import annotations

from typing import Any, Final

import pytest
from pydantic import TypeAdapter

from slackwater.api.errors import InvalidSpec
from slackwater.core.world.handover import Begun, Handover, Held, Over, Replacement, TakenOver, Undone
from slackwater.core.world.memory import RolloutMemory, read_memory, write_memory
from slackwater.core.world.pods import Run
from slackwater.core.world.recording import read_world, write_world
from tests.core.factories import NOW, changed, world

RUN: Final = Run("3f0c", NOW - 500, 2)
OLD: Final = Held({"payments-1": "payments-1-4f1c"}, RUN)
NEW: Final = Held({"payments-1": "payments-1-9b2e"}, Run("77aa", NOW - 20, 0))
STATES: Final = {
    "begun": Begun(OLD),
    "begun for a pod that never ran": Begun(Held({}, Run("3f0c", None, 0), down=True)),
    "begun without an old pod": Begun(Held(down=True)),
    "taken over": TakenOver(NEW, OLD.ids),
    "taken over by a run that is not known": TakenOver(Held(NEW.ids), OLD.ids),
    "taken over from nobody": TakenOver(NEW),
    "undone": Undone(OLD),
    "undone, and the old pod is down": Undone(Held(OLD.ids, RUN, down=True)),
    "undone, and nothing is known": Undone(),
    "over as it had begun": Over(Begun(OLD)),
    "over after it had taken over": Over(TakenOver(NEW, OLD.ids)),
    "over after it was undone": Over(Undone(OLD)),
}


def remembered(state: Any) -> RolloutMemory:
    replacement = Replacement("a version", NOW - 19, (4.0, 5.5))
    return RolloutMemory(
        handover=Handover(1, "payments-alt", NOW - 30, state, replacement, NOW - 99, 2, cold=True, not_come=3)
    )


@pytest.mark.parametrize("state", STATES.values(), ids=STATES.keys())
def test_every_state_comes_back_from_the_status_and_from_a_recording(state: Any) -> None:
    memory = remembered(state)
    assert read_memory({"rollout": write_memory(memory)}) == memory
    assert read_world(write_world(changed(world(), memory=memory))).memory == memory


def test_what_is_as_it_is_at_first_is_left_out() -> None:
    memory = RolloutMemory(handover=Handover(0, "payments-alt", NOW, Begun(Held())))
    handover = {"ordinal": 0, "to": "payments-alt", "startedAt": "1970-01-12T13:46:40Z"}
    assert write_memory(memory) == {"phase": "None", "handover": handover}


RECORDED: Final[dict[str, dict[str, Any]]] = {
    "begun": {
        "ordinal": 1,
        "to": "payments-alt",
        "startedAt": "2026-11-23T10:00:00.250000Z",
        "before": {"payments-1": "payments-1-4f1c"},
        "holderUid": "3f0c",
        "holderStartedAt": "2026-11-23T09:00:00Z",
        "holderRestarts": 1,
        "version": "8c1d",
        "runningSince": "2026-11-23T10:00:03Z",
        "joinedAfterS": [4.2, 4.1],
        "cold": True,
    },
    "begun for a dead pod": {
        "ordinal": 0,
        "to": "payments-alt",
        "startedAt": "2026-11-23T10:00:00Z",
        "holderDown": True,
        "version": "8c1d",
    },
    "begun for an idle pod": {
        "ordinal": 0,
        "to": "payments-alt",
        "startedAt": "2026-11-27T10:00:00Z",
        "holderUid": "3f0c",
        "holderDown": True,
        "holderIdle": True,
        "version": "8c1d",
    },
    "taken over": {
        "ordinal": 1,
        "to": "payments-alt",
        "startedAt": "2026-11-23T10:00:00Z",
        "before": {"payments-1": "payments-1-4f1c"},
        "holderUid": "77aa",
        "holderStartedAt": "2026-11-23T10:00:03Z",
        "after": {"payments-1": "payments-1-9b2e"},
        "version": "8c1d",
    },
    "over": {
        "ordinal": 1,
        "to": "payments-alt",
        "startedAt": "2026-11-23T10:00:00Z",
        "before": {"payments-1": "payments-1-4f1c"},
        "after": {"payments-1": "payments-1-9b2e"},
        "over": True,
        "aloneSince": "2026-11-23T10:00:09.500000Z",
        "fenced": 1,
        "version": "8c1d",
    },
    "undone": {
        "ordinal": 2,
        "to": "payments",
        "startedAt": "2026-11-23T10:00:00Z",
        "before": {"payments-2": "payments-2-aaaa"},
        "holderUid": "3f0c",
        "holderStartedAt": "2026-11-23T09:00:00Z",
        "undone": True,
    },
}
"""As operators up to 0.1.0 wrote it, before its states had names."""


@pytest.mark.parametrize(
    ("recorded", "state"),
    [*zip(RECORDED.values(), (Begun, Begun, Begun, TakenOver, Over, Undone), strict=True)],
    ids=RECORDED.keys(),
)
def test_a_status_that_an_operator_before_this_one_wrote_is_read_and_written_the_same(
    recorded: dict[str, Any], state: type
) -> None:
    memory = read_memory({"rollout": {"phase": "Progressing", "handover": recorded}})
    assert memory.handover is not None
    assert isinstance(memory.handover.state, state)
    assert write_memory(memory)["handover"] == recorded


def test_json_is_the_same_as_python() -> None:
    written = TypeAdapter(RolloutMemory).dump_json(remembered(Over(Begun(OLD))), by_alias=True, exclude_defaults=True)
    assert b'"holderUid":"3f0c"' in written
    assert TypeAdapter(RolloutMemory).validate_json(written) == remembered(Over(Begun(OLD)))


def test_a_status_that_cannot_be_read_says_where() -> None:
    with pytest.raises(InvalidSpec, match=r"handover\.ordinal: .*handover\.startedAt: Field required"):
        read_memory({"rollout": {"handover": {"ordinal": "first", "to": "payments-alt"}}})
