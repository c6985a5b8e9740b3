"""The sentences of a recommendation."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.pipeline.statistics.choice import Choice
from slackwater.pipeline.statistics.constraint import Allowed, Limit
from slackwater.pipeline.statistics.history import Restarts


def never_watched() -> str:
    return "The group has not been watched for any time yet."


def too_few(ended: int, needed: int, restarts: Restarts) -> str:
    return (
        f"{_restarts(ended)} that ended {'is' if ended == 1 else 'are'} too few to learn from: {needed} are needed, "
        f"{needed - ended} more.{_left_out(restarts)}"
    )


def too_short(days: float, least_days: float) -> str:
    return (
        f"The group has been watched for {stretch(days)}, and a month cannot be told from less than "
        f"{stretch(least_days)}: {stretch(least_days - days)} more are needed."
    )


def infeasible(allowed: Allowed) -> str:
    return f"No session timeout meets all constraints: {allowed.conflict()}."


@dataclass(frozen=True, slots=True)
class Basis:
    """What a verdict rests on."""

    restarts: Restarts
    days: float
    lent: float
    """How many of the restarts' weight is that of similar groups."""
    is_cut: bool = False
    """Its restarts became others: what came before is left out."""

    def __str__(self) -> str:
        cut = " since its restarts changed" if self.is_cut else ""
        lent = ", and what is known of similar groups" if self.lent >= 1 else ""
        return f"From {_restarts(int(self.restarts.silences.count))} in {stretch(self.days)}{cut}{lent}"


def verdict(from_what: Basis, choice: Choice, today_s: float, *, must: bool, change: bool) -> str:
    """Why the target is what it is."""
    restarts = from_what.restarts
    against = choice.against_today
    saving = (
        f"{amount(against.saving.value)} of {amount(against.today_cost)} partition-seconds a month "
        f"(95 %: {amount(against.saving.lower)} to {amount(against.saving.upper)})"
    )
    target = f"{choice.target_s:g} s instead of {today_s:g} s"
    if not change:
        middle = "today's timeout is the cheapest" if choice.target_s == today_s else f"{target} would save {saving}"
        end = "" if choice.target_s == today_s else ", which is not enough, or not sure enough, for a change"
        return f"{from_what}, {middle}{end}.{_left_out(restarts)}"
    if must:
        return f"{from_what}, {target} is the cheapest that is allowed; today's is not.{_left_out(restarts)}"
    return f"{from_what}, {target} saves {saving}.{_left_out(restarts)}"


def amount(value: float) -> str:
    """Three digits, without an exponent: 4.55, 78, 2,260."""
    return f"{float(f'{value:.3g}'):,.10g}"


def stretch(days: float) -> str:
    """Three digits of the largest unit of which there is one: 30 days, 12 hours, 3.05 minutes."""
    units = (("day", 1), ("hour", 24), ("minute", 24 * 60))
    unit, times = next((each for each in units if days * each[1] >= 1), units[-1])
    count = f"{days * times:.3g}"
    return f"{count} {unit}" if count == "1" else f"{count} {unit}s"


def binding(allowed: Allowed, choice: Choice, today_s: float, *, must: bool) -> str | None:
    """The constraint that decided, where it was not the cost."""
    for limit, at_it in ((allowed.low, choice.target_s - 1), (allowed.high, choice.target_s + 1)):
        if (at_it < limit.timeout_s) if limit is allowed.low else (at_it > limit.timeout_s):
            return f"{limit.reason} holds it at {limit.timeout_s:.3g} s{_to_relax(limit)}"
    if must:
        limit = allowed.low if today_s < allowed.low.timeout_s else allowed.high
        return f"today's {today_s:g} s is outside of what {limit.reason} allows ({limit.timeout_s:.3g} s)"
    return None


def _to_relax(limit: Limit) -> str:
    return f": to relax it, {limit.remedy}" if limit.remedy else ""


def _restarts(count: int) -> str:
    return "1 restart" if count == 1 else f"{count} restarts"


def _left_out(restarts: Restarts) -> str:
    if not restarts.impossible:
        return ""
    return f" {restarts.impossible} impossible silences (negative, or no number) were left out."
