"""The survival and the cost curve of a group, drawn with a bounded number of points."""

from __future__ import annotations

from typing import Final

import numpy as np

from slackwater.api.recommendation import Curves
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics.model import GroupModel
from slackwater.pipeline.statistics.settings import GroupSettings

_POINTS: Final = 120
_SHORTEST_S: Final = 0.5


def curves_of(model: GroupModel, bounds: Bounds, settings: GroupSettings, target_s: float | None = None) -> Curves:
    """Both on logarithmic grids; today's timeout and the recommended one are points of the cost curve."""
    end_s = max(bounds.max_ms / 1000, settings.session_timeout_ms / 1000)
    silences_s = np.geomspace(min(_SHORTEST_S, end_s / 2), end_s, _POINTS)
    survival = [each.tolist() for each in (silences_s, *model.survival_interval(silences_s))]
    today_ms = settings.session_timeout_ms
    target_ms = round(target_s * 1000) if target_s is not None else None
    grid_ms = np.round(np.geomspace(bounds.min_ms, bounds.max_ms, _POINTS)).astype(int).tolist()
    timeouts_ms = sorted({*grid_ms, today_ms, *([target_ms] if target_ms else [])})
    cost = model.estimated_cost(np.array(timeouts_ms) / 1000).tolist()
    # Validated all at once: one by one, the points take longer than what they show took to be computed.
    return Curves.model_validate(
        {
            "survival": [
                {"silence_s": at, "survival": share, "lower": lower, "upper": upper}
                for at, share, lower, upper in zip(*survival, strict=True)
            ],
            "cost": [
                {"session_timeout_ms": ms, "cost": each, "today": ms == today_ms, "recommended": ms == target_ms}
                for ms, each in zip(timeouts_ms, cost, strict=True)
            ],
        }
    )
