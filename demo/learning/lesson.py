"""What the operator learned from its own history, and whether it came of it what should. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from demo.fleet import Pod

Json = Mapping[str, Any]

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
"""Of a KIP-848 group, by Kafka's names (F23)."""
AS_RECOMMENDED = "AsRecommended"


@dataclass(frozen=True, slots=True)
class Lesson:
    """`recommendation` is the ConsumerGroup's status.recommendation; settings are the group's own, on the brokers."""

    recommendation: Json
    settings_before: Mapping[str, str]
    settings_after: Mapping[str, str]
    pods_before: tuple[Pod, ...]
    pods_after: tuple[Pod, ...]
    seconds: float

    @property
    def pods_restarted(self) -> int:
        """How many pods are not just the same, in the same run, as before."""
        return len({name for name, *_ in runs(self.pods_before) ^ runs(self.pods_after)})


@dataclass(frozen=True, slots=True)
class Learned:
    """How the demo's last part ended: without `lesson` it was not played to its end, and `problem` says why."""

    lesson: Lesson | None
    problem: str = ""

    @property
    def ok(self) -> bool:
        return self.lesson is not None and not self.problem


def runs(pods: tuple[Pod, ...]) -> frozenset[tuple[str, str, int]]:
    return frozenset((pod.name, pod.uid, pod.restarts) for pod in pods)


def is_applied(recommendation: Json) -> bool:
    """Whether the operator has put into force what is recommended."""
    return recommendation.get("reason") == AS_RECOMMENDED and "applied" in recommendation


def excerpt(text: str) -> str:
    """Of a ConsumerGroup as YAML, its status.recommendation alone; empty where it has none."""
    found = (yaml.safe_load(text).get("status") or {}).get("recommendation")
    if found is None:
        return ""
    return yaml.safe_dump({"status": {"recommendation": found}}, sort_keys=False, width=110).rstrip()


def recommendation_in(text: str) -> Json:
    """The same as a mapping, without what is around it."""
    found: Json = (yaml.safe_load(text).get("status") or {}).get("recommendation") or {}
    return found


def judge(lesson: Lesson) -> str:
    """What is wrong with it, as a sentence; empty when it is as it should be."""
    told = lesson.recommendation
    if not is_applied(told):
        reason, message, why = (told.get(key, "nothing") for key in ("reason", "message", "why"))
        return f"No recommendation was applied: status.recommendation says {reason}: {message}. ({why})"
    if lesson.settings_after.get(SESSION) == lesson.settings_before.get(SESSION):
        return f"The brokers still have {SESSION}={lesson.settings_after.get(SESSION)} for the group."
    if lesson.pods_restarted:
        return f"{_pods(lesson.pods_restarted)} restarted or replaced, and none should have been."
    return ""


def as_json(learned: Learned) -> dict[str, Any]:
    """`learning` in `build/demo.json`; nulls where it was not played to its end."""
    lesson = learned.lesson
    values = dict.fromkeys(("restarts", "session_ms_before", "session_ms_after", "pods_restarted", "seconds"))
    if lesson is not None:
        values |= {
            "restarts": lesson.recommendation.get("restarts"),
            "session_ms_before": _number(lesson.settings_before.get(SESSION)),
            "session_ms_after": _number(lesson.settings_after.get(SESSION)),
            "pods_restarted": lesson.pods_restarted,
            "seconds": round(lesson.seconds, 1),
        }
    return {**values, "ok": learned.ok}


def notes(learned: Learned) -> list[str]:
    """For the end of the demo."""
    lesson = learned.lesson
    if lesson is None:
        return []
    before, after = (_seconds(settings.get(SESSION)) for settings in (lesson.settings_before, lesson.settings_after))
    return [
        f"Slackwater learned from {lesson.recommendation.get('restarts')} restarts of one group: its session timeout,"
        f" which the demo had set to {before} on the brokers, is {after} there now, and"
        f" {_pods(lesson.pods_restarted)} restarted for it."
    ]


def _pods(count: int) -> str:
    return f"{count or 'no'} pod{'s were' if count > 1 else ' was'}"


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _seconds(text: str | None) -> str:
    return f"{int(text) / 1000:g} s" if text else "the brokers' own"
