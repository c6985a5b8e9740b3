"""When recommended timeouts come into force: at once, with the next rollout, or because a person approved them.

With `mode: Auto`, settings that the brokers keep for a KIP-848 group change at once, because no pod restarts for them
(F23). All others wait in memory for the next rollout, whatever it is for: no pod restarts for a recommendation alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.api.timeouts import TimeoutsMode
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Reason
from slackwater.core.timeouts.judgement import Judgement, adopted, judge, values_now
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.settings import Values, asked
from slackwater.core.world.world import World

NO_RECOMMENDATION: Final = "there is no recommendation for this group"


def without_what_is_asked(world: World) -> Decision:
    """What the spec says itself by now was not adopted, and does not come back when the spec stops saying it."""
    said, tuning = asked(world.group.spec.timeouts), world.memory.tuning
    if not said.keys() & {*tuning.values, *tuning.queued, *tuning.came_from, *tuning.turned, *tuning.good}:
        return Decision(world.memory)
    tuning = replace(
        tuning,
        values=_without(tuning.values, said),
        came_from=_without(tuning.came_from, said),
        turned=tuple(setting for setting in tuning.turned if setting not in said),
        queued=_without(tuning.queued, said),
        good=_without(tuning.good, said),
    )
    return Decision(replace(world.memory, tuning=tuning))


def at_rest(world: World) -> Decision:
    """While no rollout is under way: adopt what costs nothing, keep the rest for the next rollout."""
    memory, tuning = world.memory, world.memory.tuning
    if world.group.spec.timeouts.mode is not TimeoutsMode.AUTO:
        nothing_waits = not tuning.queued and tuning.queued_as_of is None
        unqueued = tuning if nothing_waits else replace(tuning, queued={}, queued_as_of=None)
        return Decision(memory if nothing_waits else replace(memory, tuning=unqueued))
    if not memory.phase.at_rest or memory.upgrade is not None:
        return Decision(memory)
    judgement = judge(world)
    if judgement is None or world.advice is None or judgement.reason is Reason.BOUNDS_UNKNOWN:
        return Decision(memory)  # not known just now: what was found before stands
    restarting = {setting: value for setting, value in judgement.values.items() if setting.needs_restart}
    waiting = replace(tuning, queued=restarting, queued_as_of=world.advice.as_of if restarting else None)
    at_once = {setting: value for setting, value in judgement.values.items() if not setting.needs_restart}
    world = world.remembering(replace(memory, tuning=waiting))
    return _adopted(world, judgement, at_once) if at_once else Decision(world.memory)


def with_rollout(world: World) -> Decision:
    """A rollout is about to begin: it takes along what waits. After a failed version, what the last good one had.

    One that overtakes another goes on with what that took along.
    """
    memory, tuning = world.memory, world.memory.tuning
    if memory.phase.gave_up:
        return Decision(_without_the_failed(memory))
    if not tuning.queued or memory.upgrade is not None or world.group.spec.timeouts.mode is not TimeoutsMode.AUTO:
        return Decision(memory)
    now = values_now(world)
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
    return Decision(replace(memory, tuning=tuning), notes=(note,))


def approve(world: World) -> Decision:
    """The command of that name: apply now, whatever it takes, what is fit to be applied."""
    if why := refused_whatever_is_recommended(world):
        return _no(world, why)
    judgement = judge(world, approved=True)
    if judgement is None or world.advice is None:
        return _no(world, NO_RECOMMENDATION)
    if not judgement.values:
        return _no(world, judgement.message)
    approved = _adopted(world, judgement, judgement.values)
    tuning = replace(approved.memory.tuning, queued={}, queued_as_of=None, turned=())
    return replace(approved, memory=replace(approved.memory, tuning=tuning))


def refused_whatever_is_recommended(world: World) -> str:
    """Why nothing can be approved now; empty where it depends on the recommendation."""
    if world.group.spec.timeouts.mode is TimeoutsMode.OFF:
        return "timeouts.mode is Off: set it to Recommend or Auto first"
    under_way = not world.memory.phase.at_rest or world.memory.upgrade is not None
    return "a rollout is under way or has failed: approve again when it is over" if under_way else ""


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


def _adopted(world: World, judgement: Judgement, values: Values) -> Decision:
    if world.advice is None:
        return Decision(world.memory)
    tuning = adopted(world.memory.tuning, judgement, world.advice, values, values_now(world))
    note = Note(Reason.RECOMMENDATION_APPLIED, f"{_words(values)}, learned from {world.advice.restarts} restarts")
    return Decision(replace(world.memory, tuning=tuning), notes=(note,))


def _no(world: World, why: str) -> Decision:
    note = Note(Reason.RECOMMENDATION_NOT_APPLIED, f"approve: {why}; nothing changes", warning=True)
    return Decision(world.memory, notes=(note,))


def _words(values: Values) -> str:
    return ", ".join(f"{setting} {setting.in_words(value)}" for setting, value in values.items())
