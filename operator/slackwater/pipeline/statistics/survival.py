"""Kaplan-Meier: which share of members is still silent after so many seconds.

Members that are away or scaled away count for as long as they were seen to be away. The intervals are Greenwood's on
the scale of log(-log S) (Kalbfleisch and Prentice), which keeps them between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import ndtri

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.history import Silences

CONFIDENCE: Final = 0.95
TWO_SIDED_Z: Final = float(ndtri(0.5 + CONFIDENCE / 2))


@dataclass(frozen=True, slots=True, eq=False)
class KaplanMeier:
    """Arrays over the distinct silences; each value holds from its own silence until before the next."""

    at_s: Floats
    survival: Floats
    lower: Floats
    """Pointwise 95 % interval; NaN where S is 0 (no interval is known there), 1 where nobody has returned yet."""
    upper: Floats


def kaplan_meier(silences: Silences) -> KaplanMeier:
    """The estimate and its pointwise intervals."""
    at_risk = at_risk_of(silences.returned, silences.censored)
    survival = survival_of(silences.returned, silences.censored)
    # Where S is next to 1, of a million silences for example, an exponent overflows: its interval is all from 0 to 1.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        greenwood = np.cumsum(silences.returned / (at_risk * (at_risk - silences.returned)))
        log_survival = np.log(survival)
        spread = TWO_SIDED_Z * np.sqrt(greenwood) / np.abs(log_survival)
        lower, upper = (survival ** np.exp(sign * spread) for sign in (1, -1))
    untouched = survival == 1
    gone = survival == 0
    lower, upper = (np.where(untouched, 1.0, np.where(gone, np.nan, bound)) for bound in (lower, upper))
    return KaplanMeier(silences.at_s, survival, lower, upper)


def at_risk_of(returned: Floats, censored: Floats) -> Floats:
    """Members still silent just before each silence's end; over the last axis, so that replicates may be rows."""
    total = returned + censored
    return np.asarray(np.flip(np.cumsum(np.flip(total, axis=-1), axis=-1), axis=-1))


def survival_of(returned: Floats, censored: Floats) -> Floats:
    """S just after each silence; rows are replicates where there are any."""
    at_risk = at_risk_of(returned, censored)
    staying = at_risk - returned
    # The last step is exactly zero only if the sums are: a remainder of rounding would be a survivor.
    share = np.where(staying > 1e-12 * at_risk, staying / np.where(at_risk > 0, at_risk, 1.0), 0.0)
    return np.asarray(np.cumprod(np.where(at_risk > 0, share, 1.0), axis=-1))
