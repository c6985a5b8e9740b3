"""A month of a group's life, as its operator tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.pipeline.recommend.fleet import heavy
from tests.pipeline.telling import at, event, restart

WHO: Final[Mapping[str, Any]] = {"name": "payments", "namespace": "shop", "group_id": "payments"}
RESTARTS: Final = 40
_DAY_S: Final = 86_400.0


def a_month(who: Mapping[str, Any] = WHO) -> list[str]:
    """Of one group that restarts forty times, a warm handover among them, each told twice: away, then back."""
    label = who["name"]
    told = [event("group_observed", f"{label}-g{day}", day * _DAY_S, **who) for day in range(-30, 1)]
    for number, silence_s in enumerate(heavy(RESTARTS)):
        begin = -_DAY_S * 29 * (number + 1) / RESTARTS
        seen = {"episode": f"{label}-{number}", "last_seen_at": at(begin), "stopped_at": at(begin), "mode": "InPlace"}
        back = seen | {"rejoined_at": at(begin + silence_s), "outcome": "Returned"}
        told.append(restart(f"{label}-a{number}", begin + 1, seen | {"outcome": "Away"}, **who))
        told.append(restart(f"{label}-b{number}", begin + silence_s, back, **who))
    warm = {
        "episode": f"{label}-warm",
        "mode": "WarmHandover",
        "outcome": "Returned",
        "last_seen_at": at(-50),
        "stopped_at": at(-50),
    }
    return [*told, restart(f"{label}-w", -40, warm | {"rejoined_at": at(-55)}, **who)]
