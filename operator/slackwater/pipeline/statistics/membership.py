"""What the same restarts would cost under another membership, by the same J (F32-F37).

A *dynamic* member leaves when it stops: its partitions move at once, and again when it is back, at every restart. One
that crashes is silent like a static one, and its replacement is one more member until the session ends. *Warm handover*
spares planned restarts the silence; it exists for classic static members only (F13), and costs duplicates instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.cost import Rates, monthly_cost
from slackwater.pipeline.statistics.model import GroupModel


@dataclass(frozen=True, slots=True, eq=False)
class MembershipCosts:
    """Partition-seconds a month at one session timeout, one for each row of the curve."""

    static: Floats
    dynamic: Floats
    warm_handover: Floats


def membership_costs(model: GroupModel, timeout_s: float, planned_share: float) -> MembershipCosts:
    """`planned_share`: of the restarts, those of rollouts."""
    costs, curve, rates = model.costs, model.curve, model.rates

    def at(session_s: float, survival: Floats | None, restarts: Floats, lost: Floats) -> Floats:
        point = np.array([session_s])
        evicted = curve.survival(point) if survival is None else survival
        waits = curve.mean_wait_s(point + costs.rebalance_s)
        return monthly_cost(costs, point, evicted, waits, Rates(restarts, lost, rates.dearer))[:, 0]

    restarts, lost = rates.restarts, rates.lost
    planned, crashed, nobody = planned_share * restarts, (1 - planned_share) * restarts, np.zeros_like(lost)
    always = np.ones_like(restarts)
    left = at(0.0, always, planned, nobody)
    return MembershipCosts(
        static=at(timeout_s, None, restarts, lost),
        dynamic=left + at(timeout_s, always, crashed, lost),
        warm_handover=at(timeout_s, None, crashed, lost),
    )
