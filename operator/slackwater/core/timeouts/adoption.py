"""When recommended timeouts come into force: at once, with the next rollout, or because a person approved them.

With `mode: Auto`, settings that the brokers keep for a KIP-848 group change at once, because no pod restarts for them
(F23). All others wait in memory for the next rollout, whatever it is for: no pod restarts for a recommendation alone.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.api.timeouts import TimeoutsMode
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Reason
from slackwater.core.timeouts.in_force import asked, tuned
from slackwater.core.timeouts.judgement import Judgement, adopted, judge, values_now
from slackwater.core.world.advice import Advice
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.settings import Values
from slackwater.core.world.world import World

Notes = tuple[Note, ...]


def with_tuning(world: World, memory: RolloutMemory) -> World:
    """The world with the group as its spec and what was adopted say together: what all other decisions look at."""
    return replace(world, group=tuned(world.group, memory.tuning.values))


def without_what_is_asked(world: World, memory: RolloutMemory) -> RolloutMemory:
    """What the spec says itself by now was not adopted, and does not come back when the spec stops saying it."""
    said, tuning = asked(world.group.spec.timeouts), memory.tuning
    if not said.keys() & {*tuning.values, *tuning.queued, *tuning.came_from, *tuning.turned, *tuning.good}:
        return memory
    tuning = replace(
        tuning,
        values=_without(tuning.values, said),
        came_from=_without(tuning.came_from, said),
        turned=tuple(setting for setting in tuning.turned if setting not in said),
        queued=_without(tuning.queued, said),
        good=_without(tuning.good, said),
    )
    return replace(memory, tuning=tuning)


def at_rest(world: World, memory: RolloutMemory) -> tuple[RolloutMemory, Notes]:
    """While no rollout is under way: adopt what costs nothing, keep the rest for the next rollout. `world` as given."""
    tuning = memory.tuning
    if world.group.spec.timeouts.mode is not TimeoutsMode.AUTO:
        return replace(memory, tuning=replace(tuning, queued={}, queued_as_of=None)), ()
    if not memory.phase.at_rest or memory.upgrade is not None:
        return memory, ()
    judgement = judge(world, memory)
    if judgement is None or world.advice is None or judgement.reason is Reason.BOUNDS_UNKNOWN:
        return memory, ()  # not known just now: what was found before stands
    restarting = {setting: value for setting, value in judgement.values.items() if setting.needs_restart}
    waiting = replace(tuning, queued=restarting, queued_as_of=world.advice.as_of if restarting else None)
    at_once = {setting: value for setting, value in judgement.values.items() if not setting.needs_restart}
    if not at_once:
        return replace(memory, tuning=waiting), ()
    memory = replace(memory, tuning=waiting)
    return _adopt(world, memory, judgement, world.advice, at_once), (_note(at_once, world.advice),)


def with_rollout(world: World, memory: RolloutMemory) -> tuple[RolloutMemory, Notes]:
    """A rollout is about to begin: it takes along what waits. After a failed version, what the last good one had."""
    tuning = memory.tuning
    if not memory.phase.at_rest:
        return _without_the_failed(memory), ()
    if not tuning.queued or memory.upgrade is not None or world.group.spec.timeouts.mode is not TimeoutsMode.AUTO:
        return memory, ()
    now = values_now(world, tuning)
    values = {setting: value for setting, value in tuning.queued.items() if value != now[setting]}
    came_from = {setting: now[setting] for setting in values}
    tuning = replace(
        tuning,
        values={**tuning.values, **values},
        as_of=tuning.queued_as_of,
        came_from={**tuning.came_from, **came_from},
        queued={},
        queued_as_of=None,
    )
    note = Note(Reason.RECOMMENDATION_APPLIED, f"with this rollout: {_words(values)}")
    return replace(memory, tuning=tuning), (note,)


def approve(world: World, memory: RolloutMemory) -> tuple[RolloutMemory, Note]:
    """The command of that name: apply now, whatever it takes, what is fit to be applied."""
    if world.group.spec.timeouts.mode is TimeoutsMode.OFF:
        return memory, _no("timeouts.mode is Off: set it to Recommend or Auto first")
    if not memory.phase.at_rest or memory.upgrade is not None:
        return memory, _no("a rollout is under way or has failed: approve again when it is over")
    judgement = judge(world, memory, approved=True)
    if judgement is None or world.advice is None:
        return memory, _no("there is no recommendation for this group")
    if not judgement.values:
        return memory, _no(judgement.message)
    memory = _adopt(world, memory, judgement, world.advice, judgement.values)
    tuning = replace(memory.tuning, queued={}, queued_as_of=None, turned=())
    return replace(memory, tuning=tuning), _note(judgement.values, world.advice)


def completed(memory: RolloutMemory) -> RolloutMemory:
    """Every pod runs the version in hand, with what was adopted: that is what a later failure goes back to."""
    return replace(memory, tuning=replace(memory.tuning, good=memory.tuning.values))


def _without_the_failed(memory: RolloutMemory) -> RolloutMemory:
    """The timeouts may be what it failed of. Those of the group itself are in force already, and stay."""
    tuning = memory.tuning
    kept = {setting: value for setting, value in tuning.values.items() if not setting.needs_restart}
    good = {setting: value for setting, value in tuning.good.items() if setting.needs_restart}
    values = {**kept, **good}
    if values == tuning.values:
        return memory
    return replace(memory, tuning=replace(tuning, values=values, failed_as_of=tuning.as_of))


def _without(values: Values, said: Values) -> Values:
    return {setting: value for setting, value in values.items() if setting not in said}


def _adopt(world: World, memory: RolloutMemory, judgement: Judgement, advice: Advice, values: Values) -> RolloutMemory:
    now = values_now(world, memory.tuning)
    return replace(memory, tuning=adopted(memory.tuning, judgement, advice, values, now))


def _note(values: Values, advice: Advice) -> Note:
    return Note(Reason.RECOMMENDATION_APPLIED, f"{_words(values)}, learned from {advice.restarts} restarts")


def _no(why: str) -> Note:
    return Note(Reason.RECOMMENDATION_NOT_APPLIED, f"approve: {why}; nothing changes", warning=True)


def _words(values: Values) -> str:
    return ", ".join(f"{setting} {setting.in_words(value)}" for setting, value in values.items())
