"""Commands that people give by annotation: promote, abort, retry, approve, force. A new value is a new command, which
is obeyed once.

(`pause` is not obeyed but looked at, by a gate; `restart` is a part of the template, and so a rollout like any other.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from slackwater.api.annotations import ABORT, APPROVE, FORCE, PAUSE, PROMOTE, RESTART, RETRY, TOKEN_COMMANDS
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import by_command
from slackwater.core.manifests.template import gave_the_same, wanted_template
from slackwater.core.rollout.ending import can_go_back, go_back, is_proven
from slackwater.core.timeouts.adoption import approve
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.world import World


def obey(world: World) -> Decision:
    """The memory after every command that is new but `force`, in the order of `TOKEN_COMMANDS`."""
    return _obey(world, _restart(world), [command for command in TOKEN_COMMANDS if command != FORCE])


def obey_force(world: World) -> Decision:
    """`world`: it is known what is asked for, by the protocol and the brokers' bounds too: that is what is forced."""
    return _obey(world, Decision(world.memory), [FORCE])


def foreseen(world: World) -> Decision:
    """All of them, by what is known before the operator has asked the brokers anything."""
    obeyed = obey(world)
    return obeyed.then(obey_force(world.remembering(obeyed.memory)))


def _obey(world: World, obeyed: Decision, commands: Iterable[str]) -> Decision:
    for command in commands:
        token = world.group.metadata.annotations.get(command)
        if token is None or obeyed.memory.commands.get(command) == token:
            continue
        if command != RESTART:
            obeyed = obeyed.then(_OBEY[command](world.remembering(obeyed.memory)))
        known = {**obeyed.memory.commands, command: token}
        obeyed = replace(obeyed, memory=replace(obeyed.memory, commands=known))
    return obeyed


def _restart(world: World) -> Decision:
    """A part of the template from now on. Of a version that was given up it would make another one, to be tried again:
    that is what `retry` is for."""
    memory, token = world.memory, world.group.metadata.annotations.get(RESTART)
    if token is None or token in (memory.restart, memory.restart_refused):
        return Decision(memory)
    given_up = memory.phase.gave_up and memory.failed_hash == memory.target_hash
    retry = world.group.metadata.annotations.get(RETRY)
    if given_up and retry is not None and memory.commands.get(RETRY) != retry:
        return Decision(memory)  # `retry` comes first, and this one in the next look
    if not given_up or not gave_the_same(world):
        return Decision(replace(memory, restart=token))
    again = by_command(RETRY, world.group.name)
    message = f"restart: the version that is asked for was given up, so nothing changes; {again} tries it again"
    reason = Reason.ROLLED_BACK if memory.phase.goes_back else Reason.ROLLOUT_FAILED
    return Decision(replace(memory, restart_refused=token), notes=(Note(reason, message),))


def _promote(world: World) -> Decision:
    memory = world.memory
    if memory.canary is None or memory.canary.passed or memory.phase is not RolloutPhase.PROGRESSING:
        return _said(world, Reason.PROMOTED, "promote: no canary is being held, so nothing changes")
    promoted = replace(memory, canary=replace(memory.canary, passed=True))
    return Decision(promoted, notes=(Note(Reason.PROMOTED, "promote: the canary's hold is over"),))


def _abort(world: World) -> Decision:
    memory = world.memory
    if memory.phase.goes_back:
        where = "is on its way back" if memory.phase.under_way else "has gone back"
        return _said(world, Reason.ABORTED, f"abort: the group {where} already, so nothing changes")
    if memory.phase not in (RolloutPhase.PROGRESSING, RolloutPhase.FAILED):
        return _said(world, Reason.ABORTED, "abort: no rollout is under way, so nothing changes")
    if memory.phase is RolloutPhase.PROGRESSING and memory.last_good_revision and is_proven(memory):
        return _said(world, Reason.ABORTED, "abort: what is rolled out is the last good version, so nothing changes")
    if not can_go_back(memory):
        message = "abort: stopped, but there is no earlier version to go back to; apply a template that works"
        note = Note(Reason.NO_EARLIER_VERSION, message, warning=True)
        return Decision(go_back(memory, message), notes=(note,))
    note = Note(Reason.ABORTED, "abort: going back to the last good version", warning=True)
    return Decision(go_back(memory, "aborted by annotation"), notes=(note,))


def _retry(world: World) -> Decision:
    memory = world.memory
    if not memory.failed_hash or memory.failed_hash != memory.target_hash:
        return _said(world, Reason.RETRYING, "retry: nothing has failed, so nothing changes")
    again = replace(
        memory,
        phase=RolloutPhase.PROGRESSING,
        failed_hash="",
        started_at=world.now,
        retried_at=world.now,
        forced_hash="",
        replicas=memory.replicas if memory.phase.under_way else None,
        canary=None,
        message="",
    )
    return Decision(again, notes=(Note(Reason.RETRYING, "retry: trying the failed version again"),))


def _force(world: World) -> Decision:
    """What is rolled out is the remedy for what keeps the group from being calm: the gates of a rollback will do."""
    memory = world.memory
    wanted = wanted_template(world).hash if world.bootstrap_servers is not None else memory.target_hash
    begins = wanted not in (memory.target_hash, memory.failed_hash)
    if not begins and memory.phase is not RolloutPhase.PROGRESSING:
        return _said(world, Reason.FORCED, "force: no rollout goes forward, so nothing changes")
    forced = wanted if begins else memory.target_hash
    if memory.forced_hash == forced:
        return _said(world, Reason.FORCED, "force: this rollout is forced already, so nothing changes")
    paused = ", once it is resumed" if PAUSE in world.group.metadata.annotations else ""
    message = f"force: this rollout goes on as a rollback does, without waiting for a calm group{paused}"
    return Decision(replace(memory, forced_hash=forced), notes=(Note(Reason.FORCED, message, warning=True),))


def _said(world: World, reason: Reason, message: str) -> Decision:
    return Decision(world.memory, notes=(Note(reason, message),))


_OBEY = {PROMOTE: _promote, ABORT: _abort, RETRY: _retry, APPROVE: approve, FORCE: _force}
