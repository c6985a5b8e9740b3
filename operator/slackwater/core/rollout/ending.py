"""How a rollout ends badly: stopped, or taken back to the last good version."""

from __future__ import annotations

from dataclasses import replace

from slackwater.api.annotations import ABORT, PAUSE, RETRY
from slackwater.api.rollout import OnFailure
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import by_command
from slackwater.core.rollout.excuses import works
from slackwater.core.rollout.failure import Failure
from slackwater.core.rollout.gates import first_refusal
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.world import World


def go_back(memory: RolloutMemory, message: str) -> RolloutMemory:
    """Give the version up that is being rolled out and restore the last good one; only stop, where there is none."""
    phase = RolloutPhase.ROLLING_BACK if can_go_back(memory) else RolloutPhase.FAILED
    return replace(
        memory,
        phase=phase,
        failed_hash=memory.target_hash,
        canary=None,
        retried_at=None,
        forced_hash="",
        replicas=memory.replicas if memory.phase.under_way else None,
        message=message,
    )


def can_go_back(memory: RolloutMemory) -> bool:
    """There is a last good version, and it is another one."""
    return bool(memory.last_good_revision) and not is_proven(memory)


def is_proven(memory: RolloutMemory) -> bool:
    """The version that is asked for is the last good one. One that was rolled out while there was no pod is not yet."""
    return memory.last_good_hash == memory.target_hash


def is_well(world: World) -> bool:
    """Every pod has the version, works, and has for a while."""
    all_work = all(works(world, pod) for pod in world.wanted_pods)
    return all_work and not world.outdated and first_refusal(world, frozenset()) is None


def may_fail(world: World) -> bool:
    """Not a version that is the last good one already: to give it up would stop everything, and lead nowhere."""
    memory = world.memory
    known_good = bool(memory.last_good_revision) and is_proven(memory)
    return memory.phase is RolloutPhase.PROGRESSING and PAUSE not in world.group.metadata.annotations and not known_good


def fail(world: World, failure: Failure) -> Decision:
    """Go back or stop, as `onFailure` says."""
    step = world.memory.step
    if step is not None and failure.ordinal in step.ordinals:
        step = step.led_by(failure.ordinal)
        halted = tuple(map(str, failure.halted)) or step.halted
        world = world.remembering(replace(world.memory, step=replace(step, halted=halted)))
    wants_back = world.group.spec.rollout.on_failure is OnFailure.ROLLBACK
    if wants_back and can_go_back(world.memory):
        memory = go_back(world.memory, failure.message)
        note = Note(Reason.ROLLING_BACK, f"{failure.message}; going back to the last good version", warning=True)
    else:
        memory = replace(
            world.memory,
            phase=RolloutPhase.FAILED,
            failed_hash=world.memory.target_hash,
            retried_at=None,
            forced_hash="",
            message=failure.message,
        )
        note = Note(failure.reason, what_next(world.remembering(memory)), warning=True)
    return Decision(memory, hold=Hold(failure.reason, failure.message, 0.0), notes=(note,))


def what_next(world: World) -> str:
    """Why the rollout has stopped, and how a person goes on from there."""
    name, memory = world.group.name, world.memory
    back = f"; {by_command(ABORT, name)} goes back to the last good version" if can_go_back(memory) else ""
    ways = f"apply another template; {by_command(RETRY, name)} tries this one again{back}"
    return f"{memory.message.rstrip('.')}. The rollout has stopped: {ways}"
