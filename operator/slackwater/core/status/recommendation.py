"""What a ConsumerGroup's status says about recommendations: `status.recommendation` and the condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slackwater.api.annotations import APPROVE
from slackwater.api.timeouts import TimeoutsMode
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import by_command
from slackwater.core.timeouts.judgement import judge, ranges_by_setting, values_now
from slackwater.core.world.advice import Advice, Range
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.settings import Setting, asked
from slackwater.core.world.world import World

Json = dict[str, Any]


def recommendation_status(world: World) -> Json:
    """As it stands in the status; empty where nothing is recommended or nobody wants to know."""
    if world.group.spec.timeouts.mode is TimeoutsMode.OFF:
        return {}
    applied = _applied(world.memory)
    if world.advice is None:
        return {"applied": applied} if applied else {}
    reason, message = say(world)
    shown: Json = {
        "reason": reason.value,
        "message": message,
        "why": world.advice.why,
        "asOf": timestamp(int(world.advice.as_of)),
        "restarts": world.advice.restarts,
        "settings": _settings(world, world.advice),
        "applied": applied,
    }
    if world.advice.membership:
        shown["membership"] = world.advice.membership
    if world.advice.saving_partition_s_per_month is not None:
        shown["savingPartitionSecondsPerMonth"] = round(world.advice.saving_partition_s_per_month)
    return {key: value for key, value in shown.items() if value not in ({}, "")}


def say(world: World) -> tuple[Reason, str]:
    """Why the recommendation is applied, waits, or is only shown."""
    if world.group.spec.timeouts.mode is TimeoutsMode.OFF:
        return Reason.RECOMMENDATIONS_OFF, ""
    judgement = judge(world)
    if judgement is None:
        return Reason.NO_RECOMMENDATION, "nothing is recommended for this group yet"
    if not judgement.values:
        return judgement.reason, judgement.message
    approving = by_command(APPROVE, world.group.name)
    if world.group.spec.timeouts.mode is TimeoutsMode.RECOMMEND:
        return Reason.AWAITS_APPROVAL, f"{judgement.message}: {approving} applies it"
    return Reason.WITH_NEXT_ROLLOUT, f"{judgement.message}: with the next rollout, or now: {approving}"


def _settings(world: World, advice: Advice) -> Json:
    said, now = asked(world.group.spec.timeouts), values_now(world)
    ranges = ranges_by_setting(advice, world.memory.protocol)
    return {s.value: _setting(s, recommended, now[s], s in said) for s, recommended in ranges.items()}


def _setting(setting: Setting, recommended: Range, now: int, said: bool) -> Json:
    shown: Mapping[str, Any] = {
        "current": _shown(setting, now),
        "lower": _shown(setting, recommended.lower),
        "target": _shown(setting, recommended.target),
        "upper": _shown(setting, recommended.upper),
        "why": recommended.why,
        "note": "the spec says it itself, and that wins" if said else "",
    }
    return {key: value for key, value in shown.items() if value != ""}


def _applied(memory: RolloutMemory) -> Json:
    tuning = memory.tuning
    values = {setting.value: _shown(setting, value) for setting, value in tuning.values.items()}
    if not values or tuning.as_of is None:
        return {}
    return {"asOf": timestamp(int(tuning.as_of)), "settings": values}


def _shown(setting: Setting, value: int) -> str:
    """As a spec would have it, all as text."""
    if setting is Setting.MAX_POLL_RECORDS:
        return str(value)
    return f"{value}ms" if value % 1000 else f"{value // 1000}s"
