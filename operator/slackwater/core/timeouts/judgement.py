"""Is a recommendation fit to be applied, and what would it change? What is not fit is shown, with the reason.

Three things keep timeouts from going back and forth with every new recommendation: a value changes only when it lies
outside of what is recommended by now, and by more than a tenth; and the first turn of direction that the operator makes
on its own is also the last one, until a person approves another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from slackwater.core.decision.reasons import Reason
from slackwater.core.timeouts.group_settings import HEARTBEAT, SESSION
from slackwater.core.timeouts.in_force import in_force
from slackwater.core.world.advice import Advice, AdviceStatus, Range, Subject
from slackwater.core.world.broker import Bounds
from slackwater.core.world.profile import Profile
from slackwater.core.world.settings import HEARTBEAT_OF, Setting, Values, asked
from slackwater.core.world.tuning import Tuning
from slackwater.core.world.world import World

STALE_AFTER_S: Final = 14 * 86_400.0
ADVICE_AHEAD_S: Final = 300.0
"""The pipeline's clock may be ahead of ours by that much; advice from further ahead is not believed."""
LEAST_CHANGE: Final = 0.1
"""Of the value in force. A smaller change is not worth a restart, and next week's recommendation may take it back."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """`values`: what applying it would set again; empty when nothing, for the `reason` given."""

    reason: Reason
    message: str
    values: Values = field(default_factory=dict)
    turns: frozenset[Setting] = frozenset()
    """Those of `values` that go back the way they came."""


def judge(world: World, *, approved: bool = False) -> Judgement | None:
    """None where there is no recommendation. `approved`: a person asks, who may turn it as often as they like."""
    advice, memory = world.advice, world.memory
    if advice is None:
        return None
    wanted = ranges_by_setting(advice, memory.protocol)
    failed = None if approved else _failed_before(world, advice)
    if unfit := _unfit(world, advice) or failed or _unknown(world, wanted) or _impossible(world, wanted):
        return unfit
    changes = _changes(world, wanted)
    if not changes:
        return Judgement(Reason.AS_RECOMMENDED, "what is set does about as well as what is recommended")
    turns = frozenset(setting for setting in changes if _turns(world, setting, changes[setting]))
    again = sorted(turn for turn in turns if turn in memory.tuning.turned)
    if again and not approved:
        message = f"recommendations for {again[0]} go back and forth: look at the report, and approve one of them"
        return Judgement(Reason.RECOMMENDATIONS_DISAGREE, message)
    listed = ", ".join(f"{setting} {setting.in_words(value)}" for setting, value in changes.items())
    return Judgement(Reason.RECOMMENDED, listed, changes, turns)


def ranges_by_setting(advice: Advice, profile: Profile) -> Mapping[Setting, Range]:
    """What is recommended, for the settings that members with this profile have."""
    consumer = profile is Profile.CONSUMER
    settings = {
        Subject.SESSION: Setting.CONSUMER_SESSION if consumer else Setting.SESSION,
        Subject.HEARTBEAT: Setting.CONSUMER_HEARTBEAT if consumer else Setting.HEARTBEAT,
        Subject.MAX_POLL_INTERVAL: Setting.MAX_POLL_INTERVAL,
        Subject.MAX_POLL_RECORDS: Setting.MAX_POLL_RECORDS,
    }
    return {settings[subject]: recommended for subject, recommended in advice.ranges.items()}


def adopted(tuning: Tuning, judgement: Judgement, advice: Advice, values: Values, in_force_now: Values) -> Tuning:
    """The tuning after `values`, some or all of the judgement's, were taken over."""
    came_from = {setting: in_force_now[setting] for setting in values}
    return replace(
        tuning,
        values={**tuning.values, **values},
        as_of=advice.as_of,
        came_from={**tuning.came_from, **came_from},
        turned=tuple(sorted({*tuning.turned, *(judgement.turns & values.keys())})),
    )


def _unfit(world: World, advice: Advice) -> Judgement | None:
    return next((said for check in UNFIT if (said := check(world, advice)) is not None), None)


def nothing_is_recommended(world: World, advice: Advice) -> Judgement | None:
    """The pipeline says why itself."""
    if advice.status is AdviceStatus.RECOMMENDED:
        return None
    return Judgement(_STATUS_REASONS[advice.status], advice.why)


def is_another_groups(world: World, advice: Advice) -> Judgement | None:
    """Filed under the wrong name, or the group id has changed."""
    if advice.group_id == world.group.group_id:
        return None
    return Judgement(Reason.RECOMMENDED_FOR_ANOTHER, f"it was made for the group {advice.group_id}")


def is_from_the_future(world: World, advice: Advice) -> Judgement | None:
    """Its age would be counted by a clock that is wrong."""
    if advice.as_of <= world.now + ADVICE_AHEAD_S:
        return None
    message = "it is from the future: a clock is wrong, here or at the pipeline"
    return Judgement(Reason.RECOMMENDATION_STALE, message)


def is_too_old(world: World, advice: Advice) -> Judgement | None:
    """What the group did so long ago says little about today."""
    age_s = world.now - advice.as_of
    if age_s <= STALE_AFTER_S:
        return None
    message = f"its history ends {age_s / 86_400:.0f} days ago: run the pipeline again"
    return Judgement(Reason.RECOMMENDATION_STALE, message)


def is_for_another_spec(world: World, advice: Advice) -> Judgement | None:
    """The objective may be another one now."""
    if advice.generation == world.group.metadata.generation:
        return None
    message = "the spec has changed since: the next run of the pipeline knows the new one"
    return Judgement(Reason.RECOMMENDED_FOR_ANOTHER, message)


def is_for_another_protocol(world: World, advice: Advice) -> Judgement | None:
    """Classic and KIP-848 members have sessions of their own."""
    if advice.consumer_protocol in (None, world.memory.protocol is Profile.CONSUMER):
        return None
    return Judgement(Reason.RECOMMENDED_FOR_ANOTHER, "the group rebalances by another protocol by now")


UNFIT: Final = (
    nothing_is_recommended,
    is_another_groups,
    is_from_the_future,
    is_too_old,
    is_for_another_spec,
    is_for_another_protocol,
)
"""What is wrong with a recommendation whatever it recommends; the first is what people read."""
_STATUS_REASONS: Final = {
    AdviceStatus.KEEP_TODAY: Reason.AS_RECOMMENDED,
    AdviceStatus.NOT_ENOUGH_DATA: Reason.NOT_ENOUGH_DATA,
    AdviceStatus.NOT_ENOUGH_TIME: Reason.NOT_ENOUGH_TIME,
    AdviceStatus.INFEASIBLE: Reason.OBJECTIVE_INFEASIBLE,
}


def _failed_before(world: World, advice: Advice) -> Judgement | None:
    failed_as_of = world.memory.tuning.failed_as_of
    if failed_as_of is None or advice.as_of > failed_as_of:
        return None
    message = "a version with it failed: approve it to try again, or wait for the next recommendation"
    return Judgement(Reason.RECOMMENDATION_FAILED, message)


def _unknown(world: World, wanted: Mapping[Setting, Range]) -> Judgement | None:
    """What Kafka has is no number: nobody knows what a recommendation would change."""
    theirs, said = _had_by_kafka(world), asked(world.group.spec.timeouts)
    for setting in wanted:
        if setting not in said and setting in theirs and _number(theirs[setting]) is None:
            message = f"Kafka has no number as this group's {_NAMES_IN_KAFKA[setting]}: ask whoever runs the brokers"
            return Judgement(Reason.BOUNDS_UNKNOWN, message)
    return None


def _impossible(world: World, wanted: Mapping[Setting, Range]) -> Judgement | None:
    """A value that the brokers would refuse, or that does not go together with what the spec says itself."""
    for setting, recommended in wanted.items():
        bounds, value = _bounds(world, setting), recommended.target
        if bounds is None and setting in _BOUNDED:
            return Judgement(Reason.BOUNDS_UNKNOWN, "the brokers have not told yet what they allow")
        if bounds is not None and bounds.clamp(value) != value:
            allowed = f"{setting.in_words(bounds.min_ms)} to {setting.in_words(bounds.max_ms)}"
            message = f"{setting} {setting.in_words(value)} is outside of what the brokers allow, {allowed}"
            return Judgement(Reason.RECOMMENDATION_OUT_OF_BOUNDS, message)
    said = asked(world.group.spec.timeouts)
    targets = {setting: recommended.target for setting, recommended in wanted.items()}
    after = {**in_force(world), **targets, **said}
    for session, heartbeat in HEARTBEAT_OF.items():
        chosen = session in wanted and session not in said and heartbeat in said
        if chosen and 3 * after[heartbeat] > after[session]:
            message = f"{session} {session.in_words(after[session])} leaves no room for three heartbeats of the spec's"
            return Judgement(Reason.RECOMMENDATION_OUT_OF_BOUNDS, message)
    if world.memory.protocol is not Profile.CONSUMER and after[Setting.SESSION] > after[Setting.MAX_POLL_INTERVAL]:
        words = Setting.SESSION.in_words(after[Setting.SESSION])
        message = f"session {words} would be longer than maxPollInterval, and clients would not start"
        return Judgement(Reason.RECOMMENDATION_OUT_OF_BOUNDS, message)
    return None


_BOUNDED: Final = (Setting.SESSION, Setting.CONSUMER_SESSION, Setting.CONSUMER_HEARTBEAT)


def _bounds(world: World, setting: Setting) -> Bounds | None:
    broker = world.broker
    if broker is None:
        return None
    known = {
        Setting.SESSION: broker.classic_session,
        Setting.CONSUMER_SESSION: broker.consumer_session,
        Setting.CONSUMER_HEARTBEAT: broker.consumer_heartbeat,
    }
    return known.get(setting)


def _changes(world: World, wanted: Mapping[Setting, Range]) -> Values:
    said, now = asked(world.group.spec.timeouts), values_now(world)
    changes = {
        setting: recommended.target
        for setting, recommended in wanted.items()
        if setting not in said and _is_worth_it(now[setting], recommended)
    }
    # A session and its heartbeat are one choice (F7): the heartbeat that was right for the old session may not fit.
    free = wanted.keys() - said.keys()
    pairs = {beat: wanted[beat].target for session, beat in HEARTBEAT_OF.items() if session in changes and beat in free}
    return {setting: value for setting, value in {**changes, **pairs}.items() if value != now[setting]}


def _is_worth_it(now: int, recommended: Range) -> bool:
    does_as_well = recommended.lower <= now <= recommended.upper
    return not does_as_well and abs(recommended.target - now) > LEAST_CHANGE * now


def _turns(world: World, setting: Setting, value: int) -> bool:
    """Whether it goes back the way that it came by when it was adopted."""
    tuning = world.memory.tuning
    if setting not in tuning.values or setting not in tuning.came_from:
        return False
    now = values_now(world)[setting]
    return (value > now) is not (now > tuning.came_from[setting])


def values_now(world: World) -> Values:
    """What members are given, a KIP-848 group's as Kafka has it where the group has settings of its own.

    One that is no number counts as not set; `judge` says so of what is recommended in its place.
    """
    theirs = {setting: _number(text) for setting, text in _had_by_kafka(world).items()}
    return {**in_force(world), **{setting: number for setting, number in theirs.items() if number is not None}}


def _had_by_kafka(world: World) -> Mapping[Setting, str]:
    settings = (world.seen.settings if world.seen is not None else None) or {}
    ours = world.memory.tuning.values
    return {each: settings[name] for each, name in _NAMES_IN_KAFKA.items() if name in settings and each not in ours}


def _number(text: str) -> int | None:
    """Milliseconds, as Kafka has them in 32 bits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None


_NAMES_IN_KAFKA: Final = {
    Setting.CONSUMER_SESSION: SESSION,
    Setting.CONSUMER_HEARTBEAT: HEARTBEAT,
}
_MOST_DIGITS: Final = len(str(2**31 - 1))
