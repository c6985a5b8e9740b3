"""A made-up fleet, the same every time: every standing, every kind of history, and a name that is no good name."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

from slackwater.api.recommendation import (
    CostPoint,
    Interval,
    MembershipAdvice,
    MembershipKind,
    NeedlessRebalances,
    Recommendation,
    RecommendationStatus,
    RecommendedSetting,
    SurvivalPoint,
)
from slackwater.pipeline.report.model import (
    Detail,
    Fleet,
    GenerationPoint,
    Group,
    Held,
    History,
    Key,
    Kind,
    LagSlot,
    Slot,
    Standing,
    Totals,
    Waits,
    WaitSlot,
)

NOW: Final = datetime(2026, 11, 2, 6, 13, 20, tzinfo=UTC)
NOW_S: Final = NOW.timestamp()
DAY_S: Final = 86_400.0
FIRST_S: Final = NOW_S - 60 * DAY_S
HOSTILE: Final = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


def key(name: str) -> Key:
    return Key("lkc-7", "shop", name, f"{name}-id")


def setting(current: int, target: int, why: str = "a reason") -> RecommendedSetting:
    return RecommendedSetting(current=current, lower=target * 4 // 5, target=target, upper=target * 5 // 4, why=why)


TOO_LITTLE: Final = (RecommendationStatus.NOT_ENOUGH_DATA, RecommendationStatus.NOT_ENOUGH_TIME)


def recommendation(
    name: str = "payments",
    status: RecommendationStatus = RecommendationStatus.RECOMMENDED,
    saving: float = 812.5,
    target_ms: int = 28_000,
    why: str = "A session timeout of 28 s saves a third.",
) -> Recommendation:
    changes = status is RecommendationStatus.RECOMMENDED
    known = status not in TOO_LITTLE
    chosen = changes or status is RecommendationStatus.KEEP_TODAY
    of = key(name)
    return Recommendation(
        cluster=of.cluster,
        namespace=of.namespace,
        name=of.name,
        group_id=of.group_id,
        as_of=NOW,
        spec_generation=3,
        restarts=64 if known else 1,
        pooled_restarts=12.5 if known else 0,
        observed_days=60.0,
        status=status,
        why=why,
        binding="recoverWithin 30s; 55s would do" if status is RecommendationStatus.INFEASIBLE else None,
        session_timeout_ms=setting(45_000, target_ms if changes else 45_000) if chosen else None,
        heartbeat_interval_ms=setting(3_000, 3_000) if known else None,
        max_poll_interval_ms=setting(300_000, 60_000) if known else None,
        max_poll_records=setting(500, 400) if known else None,
        membership=MembershipAdvice(
            current=MembershipKind.STATIC,
            cheaper=MembershipKind.DYNAMIC,
            saving_partition_s_per_month=Interval(lower=10.0, value=99.0, upper=120.0),
        ),
        saving_partition_s_per_month=Interval(lower=saving / 2, value=saving, upper=saving * 2) if chosen else None,
        needless_rebalances_per_month=NeedlessRebalances(today=4.25, recommended=0.5, upper=1.5) if chosen else None,
    )


def survival() -> tuple[SurvivalPoint, ...]:
    """A slow exponential over 40 silences from 2 s to 4 min."""
    silences = [2.0 * 1.13**step for step in range(40)]
    shares = [math.exp(-silence / 30) for silence in silences]
    return tuple(
        SurvivalPoint(silence_s=silence, survival=share, lower=share * 0.8, upper=min(1, share * 1.2))
        for silence, share in zip(silences, shares, strict=True)
    )


def cost(today_ms: int = 45_000, recommended_ms: int = 28_000) -> tuple[CostPoint, ...]:
    timeouts = sorted({*(round(6_000 * 1.06**step) for step in range(98)), today_ms, recommended_ms})
    return tuple(
        CostPoint(
            session_timeout_ms=timeout,
            cost=2_000 * (timeout / 45_000 + math.exp(-timeout / 9_000)),
            today=timeout == today_ms,
            recommended=timeout == recommended_ms,
        )
        for timeout in timeouts
    )


def cost_today(points: tuple[CostPoint, ...]) -> float:
    return next(point.cost for point in points if point.today)


def slots() -> tuple[Slot, ...]:
    def at(day: float) -> float:
        return FIRST_S + day * DAY_S

    return (
        Slot(Kind.RESTART, "Rollout", at(3), at(3.4), 6, 1, 21.5),
        Slot(Kind.RESTART, "Rollout", at(31), at(31), 2, 0, 14.0),
        Slot(Kind.RESTART, "Crash", at(18), at(18), 1, 1, 81.0),
        Slot(Kind.RESTART, "NodeLost", at(44), at(44), 1, 0, None),
        Slot(Kind.REBALANCE, "Restart", at(3), at(3.4), 2, 0, 3.5),
        Slot(Kind.REBALANCE, "Foreign", at(50), at(50), 1, 0, 1.25),
        Slot(Kind.AUDITED, "StaticReturn", at(3), at(3.4), 5, 0, None),
    )


def generations() -> tuple[GenerationPoint, ...]:
    return tuple(GenerationPoint(FIRST_S + day * DAY_S, 40 + day // 7) for day in range(0, 60, 3))


def lag() -> tuple[LagSlot, ...]:
    """Fifty slots of it, of which three did not know."""
    return tuple(
        LagSlot(FIRST_S + slot * 1.2 * DAY_S, None, None)
        if 20 <= slot < 23
        else LagSlot(FIRST_S + slot * 1.2 * DAY_S, 100.0 + slot, 250.0 + slot * 3)
        for slot in range(50)
    )


HISTORY: Final = History(
    FIRST_S, NOW_S, restarts=10, evictions=2, rebalances=3, audited=5, members=6, partitions=24,
    protocol="Cooperative", assignor="cooperative-sticky", library="Java 4.3", session_timeout_ms=45_000,
)  # fmt: skip


def group(
    name: str = "payments", status: RecommendationStatus = RecommendationStatus.RECOMMENDED, saving: float = 812.5
) -> Group:
    known = status not in TOO_LITTLE
    return Group(key(name), recommendation(name, status, saving), cost_today(cost()) if known else None, HISTORY)


def detail(of: Group | None = None) -> Detail:
    return Detail(of or group(), survival(), cost(), slots(), generations(), lag())


def waits() -> Waits:
    """Of a platform's fleet, with more places than are drawn, and one with a name that is no good name."""
    fleet = "slackwater/platform"
    budgets = (
        Held(fleet, "Budget", "coordinators", "", 50_000.0, 40, 9),
        Held(fleet, "Window", "", "", 9_000.0, 12, 6),
        Held("team/pay", "Budget", HOSTILE, "", 60.0, 2, 1),
    )
    brokers = (Held(fleet, "Budget", "coordinators", f"lkc-7/{n}", 9_000.0 - n * 600, 9 - n // 2, 4) for n in range(14))
    given = (WaitSlot(FIRST_S + day * DAY_S, 3, 40.0 + day, 600.0 + 9 * day) for day in range(0, 60, 4))
    slots = (*given, WaitSlot(NOW_S, 1, None, None))
    return Waits(FIRST_S, NOW_S, 52, 3, 2, 61.5, 540.0, 1104.0, budgets, tuple(brokers), slots)


def fleet() -> Fleet:
    """Nine groups: one of each standing, a second change, and one whose names want to be markup."""
    hostile = Group(Key("", HOSTILE, HOSTILE, HOSTILE), recommendation(why=HOSTILE), 10.0, HISTORY)
    lone = Group(key("lone"), recommendation("lone", RecommendationStatus.NOT_ENOUGH_DATA), None, History(restarts=1))
    details = (
        detail(group("payments", saving=812.5)),
        detail(group("orders", saving=95.0)),
        detail(hostile),
        detail(group("ledger", RecommendationStatus.KEEP_TODAY)),
        detail(group("fraud", RecommendationStatus.INFEASIBLE)),
        Detail(lone, slots=(Slot(Kind.RESTART, "Crash", NOW_S, NOW_S, 1, 0, 12.0),)),
    )
    others = (
        Group(key("young"), recommendation("young", RecommendationStatus.NOT_ENOUGH_TIME), None, History(restarts=1)),
        Group(key("newcomer"), history=History(FIRST_S, NOW_S, members=3)),
        Group(Key("lkc-7", "", "", "foreign-group"), history=History(FIRST_S, NOW_S, audited=12)),
    )
    groups = (*(each.group for each in details), *others)
    return Fleet(NOW_S, groups, details, totals_of(groups), ("A note.",), waits())


def totals_of(groups: tuple[Group, ...]) -> Totals:
    standings = tuple((standing, sum(of.standing is standing for of in groups)) for standing in Standing)
    return Totals(
        groups=len(groups),
        standings=standings,
        saving=sum(of.saving.value for of in groups if of.saving),
        cost_today=sum(of.cost_today or 0.0 for of in groups),
        needless_today=21.25,
        needless_recommended=2.5,
        restarts=sum(of.history.restarts for of in groups),
        evictions=sum(of.history.evictions for of in groups),
        rebalances=sum(of.history.rebalances for of in groups),
    )
