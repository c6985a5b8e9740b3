"""Commands that people give by annotation: promote, abort, retry, approve. A new value is a new command, obeyed once.

(`pause` is not obeyed but looked at, by a gate; `restart` is a part of the template, and so a rollout like any other.)
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.api.annotations import ABORT, APPROVE, PROMOTE, RESTART, RETRY, TOKEN_COMMANDS
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Reason
from slackwater.core.rollout.ending import can_go_back, go_back
from slackwater.core.timeouts.adoption import approve
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.world import World


def obey(world: World) -> tuple[RolloutMemory, tuple[Note, ...]]:
    """The memory after every command that is new."""
    memory, notes = world.memory, []
    for command in TOKEN_COMMANDS:
        token = world.group.metadata.annotations.get(command)
        if token is None or memory.commands.get(command) == token:
            continue
        if command != RESTART:
            memory, note = _OBEY[command](world, memory)
            notes.append(note)
        memory = replace(memory, commands={**memory.commands, command: token})
    return memory, tuple(notes)


def _promote(world: World, memory: RolloutMemory) -> tuple[RolloutMemory, Note]:
    if memory.canary is None or memory.canary.passed or memory.phase is not RolloutPhase.PROGRESSING:
        return memory, Note(Reason.PROMOTED, "promote: no canary is being held, so nothing changes")
    promoted = replace(memory, canary=replace(memory.canary, passed=True))
    return promoted, Note(Reason.PROMOTED, "promote: the canary's hold is over")


def _abort(world: World, memory: RolloutMemory) -> tuple[RolloutMemory, Note]:
    if memory.phase not in (RolloutPhase.PROGRESSING, RolloutPhase.FAILED):
        return memory, Note(Reason.ABORTED, "abort: no rollout is under way, so nothing changes")
    if not can_go_back(memory):
        message = "abort: stopped, but there is no earlier version to go back to; apply a template that works"
        return go_back(memory, message), Note(Reason.NO_EARLIER_VERSION, message, warning=True)
    message = "aborted by annotation"
    return go_back(memory, message), Note(Reason.ABORTED, "abort: going back to the last good version", warning=True)


def _retry(world: World, memory: RolloutMemory) -> tuple[RolloutMemory, Note]:
    if not memory.failed_hash or memory.failed_hash != memory.target_hash:
        return memory, Note(Reason.RETRYING, "retry: nothing has failed, so nothing changes")
    again = replace(
        memory,
        phase=RolloutPhase.PROGRESSING,
        failed_hash="",
        started_at=world.now,
        retried_at=world.now,
        canary=None,
        message="",
    )
    return again, Note(Reason.RETRYING, "retry: trying the failed version again")


_OBEY = {PROMOTE: _promote, ABORT: _abort, RETRY: _retry, APPROVE: approve}
