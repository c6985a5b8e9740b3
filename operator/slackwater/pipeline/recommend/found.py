"""What a run found, as values: how many groups of each status, and where most is to be saved. No Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from slackwater.api.recommendation import Recommendation, RecommendationStatus

SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class Saving:
    """One group's; timeouts in milliseconds, savings in partition-seconds a month with their 95 % interval."""

    namespace: str
    name: str
    group_id: str
    restarts: int
    today_ms: int | None
    target_ms: int
    saving: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Summary:
    """`by_status`: groups. `sent_to_file`, `sent_to_topic`: messages, None where none were to be sent."""

    as_of: datetime | None
    groups: int
    by_status: Mapping[str, int]
    savings: tuple[Saving, ...]
    sent_to_file: int | None = None
    sent_to_topic: int | None = None


def summed_up(found: Iterable[Recommendation], as_of: datetime | None) -> Summary:
    """The summary of recommendations that are here, as `summary` makes it of those in a lake."""
    each = tuple(found)
    statuses = Counter(str(one.status) for one in each)
    savings = sorted(map(_saving, filter(_is_shown, each)), key=_most_first)
    return Summary(as_of, len(each), dict(sorted(statuses.items())), tuple(savings[:SHOWN]))


def _most_first(saving: Saving) -> tuple[float, str, str, str]:
    return (-saving.saving, saving.namespace, saving.name, saving.group_id)


def _is_shown(found: Recommendation) -> bool:
    return found.status is RecommendationStatus.RECOMMENDED


def _saving(found: Recommendation) -> Saving:
    session, saving = found.session_timeout_ms, found.saving_partition_s_per_month
    assert session is not None
    assert saving is not None
    return Saving(
        found.namespace,
        found.name,
        found.group_id,
        found.restarts,
        session.current,
        session.target,
        saving.value,
        saving.lower,
        saving.upper,
    )
