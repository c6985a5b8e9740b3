"""A certificate that ends soon is told of before it does: what renews them has failed, or nothing does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.reasons import Reason
from slackwater.core.status.conditions import Verdict

SOON_S: Final = 14 * 86_400.0
SOON_PART: Final = 0.2
"""Of its life: cert-manager renews when a third is left, so that one with a fifth was not renewed."""


@dataclass(frozen=True, slots=True)
class Validity:
    """Of one certificate; seconds since the epoch."""

    where: str
    """Key and Secret, for people."""
    begins_at: float
    ends_at: float

    @property
    def told_from(self) -> float:
        return self.ends_at - self.told_for_s

    @property
    def told_for_s(self) -> float:
        return min(SOON_S, SOON_PART * max(0.0, self.ends_at - self.begins_at))


def verdict(known: Sequence[Validity], now: float) -> Verdict | None:
    """None where no certificate is known: those of the operator's own system are not ours to tell of."""
    if not known:
        return None
    kind, late = ConditionType.CERTIFICATES_VALID, [each for each in known if now >= each.told_from]
    if not late:
        first = min(known, key=lambda each: each.ends_at)
        message = f"the first to end is {first.where}, at {timestamp(int(first.ends_at))}"
        return Verdict(kind, ConditionStatus.TRUE, Reason.CERTIFICATES_VALID, message)
    words = "; ".join(f"{each.where} {_ends(each, now)}" for each in late)
    reason = Reason.CERTIFICATE_EXPIRES
    return Verdict(kind, ConditionStatus.FALSE, reason, f"{words}: renew it and put it into the Secret")


def _ends(validity: Validity, now: float) -> str:
    at = timestamp(int(validity.ends_at))
    return f"is not valid since {at}" if now >= validity.ends_at else f"is valid until {at}"
