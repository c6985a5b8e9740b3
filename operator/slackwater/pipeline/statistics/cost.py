"""What a month under a session timeout costs, in partition-seconds during which nobody works on a partition.

    J(s) = λr·( m·E[min(D, s+R)] + K·S(s) ) + λc·m·(s+R)

A restarted member's partitions are idle until it is back, or until it is evicted and they are given away; an eviction
of one that comes back costs K more; and those of a member that never returns are idle for the whole timeout.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats

REBALANCES_AN_EVICTION: Final = 2
"""One to give the partitions away, one when the member is back."""


class RebalanceProtocol(StrEnum):
    """As telemetry writes it."""

    EAGER = "Eager"
    COOPERATIVE = "Cooperative"
    CONSUMER = "Consumer"


@dataclass(frozen=True, slots=True)
class Costs:
    """The constants of J. Of these K alone carries an uncertainty of its own into the intervals."""

    partitions_per_member: float
    """m"""
    rebalance_s: float
    """R: from an eviction until its partitions are worked on again."""
    eviction: float
    """K, in partition-seconds."""
    eviction_spread: float = 0.0
    """Its relative standard error; 0 where it is taken as known."""


def eviction_cost(
    protocol: RebalanceProtocol, partitions: int, members: int, rebalance_s: float, warm_up_s: float
) -> float:
    """K = 2·φ·P·r + 2·m·w, in partition-seconds: two rebalances that pause a share φ of all partitions for r each, and
    twice one member's partitions that have to warm up."""
    per_member = partitions / members
    paused = {
        RebalanceProtocol.EAGER: 1.0,
        RebalanceProtocol.COOPERATIVE: min(1.0, 2 * per_member / partitions),
        RebalanceProtocol.CONSUMER: min(1.0, per_member / partitions),
    }[protocol]
    return REBALANCES_AN_EVICTION * (paused * partitions * rebalance_s + per_member * warm_up_s)


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """What happens a month, and how dear an eviction is against what is thought; replicates are rows by 1."""

    restarts: Floats
    """λr"""
    lost: Floats
    """λc"""
    dearer: Floats | float = 1.0
    """Times K."""


def monthly_cost(costs: Costs, timeout_s: Floats, survival: Floats, mean_wait_s: Floats, rates: Rates) -> Floats:
    """J, in partition-seconds a month. `survival` is S(s) and `mean_wait_s` E[min(D, s+R)] for each of `timeout_s`."""
    restarting = costs.partitions_per_member * mean_wait_s + costs.eviction * rates.dearer * survival
    losing = costs.partitions_per_member * (timeout_s + costs.rebalance_s)
    return np.asarray(rates.restarts * restarting + rates.lost * losing)
