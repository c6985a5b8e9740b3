"""How long a group's rollouts take, by the last of them: what windows and plans of fleets go by."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

LAST: Final = 5
"""So many rollouts are remembered: a group's pods start today as they did last, not as they did a year ago."""


@dataclass(frozen=True, slots=True)
class Took:
    """`status.rollout.took`. All times in seconds."""

    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    pods: int
    """How many the last one went to: the times below are for so many."""
    p50: float
    p90: float
    per_pod: tuple[float, ...]
    """Of each of the last rollouts, the last one last."""


def with_another(known: Took | None, pods: int, took_s: float) -> Took:
    """After a rollout to so many pods, of which there is one at least."""
    before = known.per_pod if known is not None else ()
    per_pod = (*before, round(max(took_s, 0.0) / pods, 3))[-LAST:]
    in_order = sorted(per_pod)
    p50, p90 = (in_order[ceil(share * len(in_order)) - 1] for share in (0.5, 0.9))
    return Took(pods, round(p50 * pods, 1), round(p90 * pods, 1), per_pod)
