"""Each recommended setting on its own, fitted to the others by the code that the operator validates with."""

from __future__ import annotations

from typing import Final

import numpy as np

from slackwater.api.recommendation import Interval, MembershipAdvice, MembershipKind, RecommendedSetting
from slackwater.api.timeouts import LONGEST_TIMEOUT_MS, Timeouts
from slackwater.core.timeouts.classic import ClassicTimeouts, classic_timeouts
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics.choice import WORTH_A_CHANGE, Choice, Estimate, estimate_of
from slackwater.pipeline.statistics.constraint import HEARTBEATS_A_SESSION
from slackwater.pipeline.statistics.cost import RebalanceProtocol
from slackwater.pipeline.statistics.history import PollCounts, PollWindows
from slackwater.pipeline.statistics.membership import membership_costs
from slackwater.pipeline.statistics.model import GroupModel
from slackwater.pipeline.statistics.polls import BATCH_SHARE, MARGIN, PollTimes, most_records, poll_times
from slackwater.pipeline.statistics.settings import GroupSettings
from slackwater.pipeline.statistics.wording import amount

LEAST_POLL_INTERVAL_MS: Final = 30_000
"""Below that nothing is gained: a consumer that is stuck is looked at by people anyway."""
_TOO_LONG: Final = 4
"""Times the target beyond which max.poll.interval.ms hides a stuck consumer for needlessly long."""
_JAVA_MAX_POLL_RECORDS: Final = 500


def fitted(settings: GroupSettings, bounds: Bounds, session_ms: int) -> ClassicTimeouts:
    """Session, heartbeat and poll interval as the operator would set them, were `session_ms` asked for."""
    session_ms = bounds.clamp(session_ms)
    heartbeat_ms = max(1, min(settings.heartbeat_interval_ms, session_ms // HEARTBEATS_A_SESSION))
    if settings.heartbeat_bounds is not None:
        heartbeat_ms = settings.heartbeat_bounds.clamp(heartbeat_ms)
    asked = Timeouts(
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=heartbeat_ms,
        # Some write 2147483647 for "never".
        max_poll_interval_ms=min(settings.max_poll_interval_ms, LONGEST_TIMEOUT_MS),
    )
    return classic_timeouts(asked, bounds)


def session(settings: GroupSettings, choice: Choice, target_ms: int, why: str) -> RecommendedSetting:
    return RecommendedSetting(
        current=settings.session_timeout_ms,
        lower=min(round(choice.lower_s * 1000), target_ms),
        target=target_ms,
        upper=max(round(choice.upper_s * 1000), target_ms),
        why=why,
    )


def heartbeat(settings: GroupSettings, fit: ClassicTimeouts) -> RecommendedSetting:
    """As it is, unless three of them no longer fit into the session."""
    least_ms = settings.heartbeat_bounds.min_ms if settings.heartbeat_bounds else min(1_000, fit.heartbeat_ms)
    kept = fit.heartbeat_ms == settings.heartbeat_interval_ms
    return RecommendedSetting(
        current=settings.heartbeat_interval_ms,
        lower=min(least_ms, fit.heartbeat_ms),
        target=fit.heartbeat_ms,
        upper=max(fit.session_ms // HEARTBEATS_A_SESSION, fit.heartbeat_ms),
        why=f"three heartbeats fit into a session of {fit.session_ms / 1000:g} s"
        + (": no need to change it." if kept else " only if they are at most a third of it."),
    )


def polls(
    settings: GroupSettings,
    windows: PollWindows | PollCounts,
    observed_days: float,
    session_ms: int,
    rng: np.random.Generator,
) -> tuple[RecommendedSetting | None, RecommendedSetting | None]:
    """max.poll.interval.ms and max.poll.records; None where the clients told too little."""
    times = poll_times(windows, observed_days, rng)
    interval = _poll_interval(settings, times, session_ms) if times is not None else None
    interval_ms = interval.target if interval is not None else settings.max_poll_interval_ms
    return interval, _poll_records(settings, windows, interval_ms)


def _poll_interval(settings: GroupSettings, times: PollTimes, session_ms: int) -> RecommendedSetting:
    least_ms = max(session_ms, LEAST_POLL_INTERVAL_MS)  # not below the session (F8)
    lower = min(max(round(times.upper_s * 1000), least_ms), LONGEST_TIMEOUT_MS)
    target = min(max(round(MARGIN * times.upper_s) * 1000, least_ms), LONGEST_TIMEOUT_MS)
    upper = min(_TOO_LONG * target, LONGEST_TIMEOUT_MS)
    current = settings.max_poll_interval_ms
    keep = lower <= current <= upper
    target = max(current if keep else target, lower)
    return RecommendedSetting(
        current=current,
        lower=lower,
        target=target,
        upper=max(upper, target),
        why=f"from {times.windows} windows, once a month a poll takes {times.monthly_s:.3g} s to come, with 95 % "
        f"confidence no more than {times.upper_s:.3g} s: "
        + ("today's value leaves room for that." if keep else f"{target / 1000:g} s leaves room for that."),
    )


def _poll_records(
    settings: GroupSettings, windows: PollWindows | PollCounts, interval_ms: int
) -> RecommendedSetting | None:
    found = most_records(windows, interval_ms)
    if found is None:
        return None
    most, told = found
    wanted = settings.max_poll_records or _JAVA_MAX_POLL_RECORDS
    target = min(wanted, most)
    return RecommendedSetting(
        current=settings.max_poll_records,
        lower=1,
        target=target,
        upper=max(most, target),
        why=f"from {told} windows, a batch of up to {most} records stays within {BATCH_SHARE:.0%} of "
        f"max.poll.interval.ms ({interval_ms / 1000:g} s)"
        + ("." if target == wanted else f"; {wanted} records would not."),
    )


def membership(
    model: GroupModel, settings: GroupSettings, timeout_s: float, planned_share: float
) -> MembershipAdvice | None:
    """Another membership that is shown to be cheaper at the recommended timeout."""
    found = membership_costs(model, timeout_s, planned_share)
    if settings.membership is MembershipKind.WARM_HANDOVER:
        why = "planned restarts already cost no silence; the other ways would only add to that."
        return MembershipAdvice(current=settings.membership, cheaper=None, why=why)
    priced = {
        MembershipKind.STATIC: found.static,
        MembershipKind.DYNAMIC: found.dynamic,
        MembershipKind.WARM_HANDOVER: found.warm_handover,
    }
    today = priced[settings.membership]
    costs = {kind: priced[kind] for kind in _within_reach(settings)}
    if not costs:
        why = "no other membership is known to be possible for this client library."
        return MembershipAdvice(current=settings.membership, cheaper=None, why=why)
    savings = {kind: estimate_of(today - each) for kind, each in costs.items()}
    best = max(savings, key=lambda kind: savings[kind].value)
    saving = savings[best]
    cheaper = saving.lower > 0 and saving.value >= WORTH_A_CHANGE * float(today[0])
    return MembershipAdvice(
        current=settings.membership,
        cheaper=best if cheaper else None,
        saving_partition_s_per_month=interval(saving) if cheaper else None,
        why=f"{best} would save {amount(saving.value)} partition-seconds a month "
        f"(95 %: {amount(saving.lower)} to {amount(saving.upper)})"
        + ("." if cheaper else ", which is not enough, or not sure enough, for a change."),
    )


def _within_reach(settings: GroupSettings) -> tuple[MembershipKind, ...]:
    """Memberships that one change of the spec brings, and that the operator then carries out."""
    if settings.membership is MembershipKind.DYNAMIC:
        return (MembershipKind.STATIC,) if settings.can_be_static else ()
    if settings.protocol is RebalanceProtocol.CONSUMER:  # F13
        return (MembershipKind.DYNAMIC,)
    return (MembershipKind.DYNAMIC, MembershipKind.WARM_HANDOVER)


def interval(estimate: Estimate) -> Interval:
    return Interval(lower=estimate.lower, value=estimate.value, upper=estimate.upper)
