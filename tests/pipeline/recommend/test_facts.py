"""What a group's row says about it, and what is taken where it says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.api.recommendation import MembershipKind
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.recommend.facts import (
    CLASSIC_SESSION,
    CONSUMER_HEARTBEAT,
    CONSUMER_SESSION,
    GroupFacts,
    facts_of,
)
from slackwater.pipeline.statistics.cost import RebalanceProtocol
from tests.pipeline.recommend.fleet import AS_OF, group


def facts(**told: Any) -> GroupFacts:
    row = dict.fromkeys(
        ("rebalance_s", "recover_within_ms", "needless_rebalances_per_month", "warm_up_ms", "warmed_up")
    )
    row |= dict.fromkeys(("heartbeat_min_ms", "heartbeat_max_ms"))
    found = facts_of({**row, **group("a"), **told}, AS_OF)
    assert found is not None
    return found


def test_what_was_told_is_taken_as_it_is() -> None:
    found = facts(recover_within_ms=60_000, needless_rebalances_per_month=1.0)
    settings = found.settings
    assert (settings.session_timeout_ms, settings.heartbeat_interval_ms, settings.partitions) == (45_000, 3_000, 60)
    assert (found.objective.recover_within_ms, found.objective.needless_rebalances_per_month) == (60_000, 1.0)
    assert found.assumption == ""


def test_what_the_group_leaves_to_kafka_is_kafkas_default_and_said() -> None:
    found = facts(session_timeout_ms=None, max_poll_interval_ms=None, session_min_ms=None)
    assert (found.settings.session_timeout_ms, found.settings.max_poll_interval_ms) == (45_000, 300_000)
    assert found.bounds == CLASSIC_SESSION
    assert found.is_assumed("session_timeout_ms")
    assert not found.is_assumed("heartbeat_interval_ms")
    assert found.assumption == (
        " Not told, so Kafka's defaults were taken: brokers' bounds of the session 6 s to 1800 s, session timeout 45 s,"
        " max poll interval 300 s."
    )


def test_a_short_session_has_room_for_three_default_heartbeats() -> None:
    assert facts(session_timeout_ms=6_000, heartbeat_interval_ms=None).settings.heartbeat_interval_ms == 2_000


def test_a_kip_848_group_has_the_brokers_own_bounds() -> None:
    told = {"protocol": "Consumer", "group_type": "Consumer", "session_min_ms": None, "heartbeat_interval_ms": None}
    found = facts(**told)
    assert (found.bounds, found.settings.heartbeat_bounds) == (CONSUMER_SESSION, CONSUMER_HEARTBEAT)
    assert (found.settings.protocol, found.settings.heartbeat_interval_ms) == (RebalanceProtocol.CONSUMER, 5_000)


@pytest.mark.parametrize(("least", "most"), [(60_000, 45_000), (0, 45_000), (6_000, 2**40)])
def test_bounds_that_cannot_be_are_not_known(least: int, most: int) -> None:
    assert facts(session_min_ms=least, session_max_ms=most).bounds == CLASSIC_SESSION


def test_bounds_that_can_be_hold() -> None:
    assert facts(session_min_ms=10_000, session_max_ms=20_000).bounds == Bounds(10_000, 20_000)


@pytest.mark.parametrize(
    ("told", "protocol"),
    [
        ({"protocol": "Cooperative"}, RebalanceProtocol.COOPERATIVE),
        ({"protocol": "", "group_type": "Classic"}, RebalanceProtocol.EAGER),
        ({"protocol": "", "group_type": "Consumer"}, RebalanceProtocol.CONSUMER),
    ],
)
def test_the_protocol_decides_what_a_rebalance_pauses(told: dict[str, str], protocol: RebalanceProtocol) -> None:
    assert facts(**told).settings.protocol is protocol


@pytest.mark.parametrize(
    ("membership", "strategy", "kind"),
    [
        ("Static", "InPlace", MembershipKind.STATIC),
        ("Static", "WarmHandover", MembershipKind.WARM_HANDOVER),
        ("Dynamic", "InPlace", MembershipKind.DYNAMIC),
    ],
)
def test_membership(membership: str, strategy: str, kind: MembershipKind) -> None:
    assert facts(membership=membership, rollout_strategy=strategy).settings.membership is kind


@pytest.mark.parametrize(("measured_s", "taken_s"), [(None, 3.0), (4.5, 4.5), (0.01, 0.5), (600.0, 30.0)])
def test_rebalances_are_as_long_as_was_measured_within_reason(measured_s: float | None, taken_s: float) -> None:
    assert facts(rebalance_s=measured_s).settings.rebalance_s == taken_s


@pytest.mark.parametrize(
    ("told", "warm_up_s", "spread"),
    [
        ({}, 0.0, 0.0),
        ({"warm_up_ms": 90_000}, 90.0, 0.0),
        ({"warmed_up": {"first_s": 40.0, "median_s": 60.0, "third_s": 80.0, "count": 25}}, 60.0, 0.12),
        ({"warmed_up": {"first_s": 40.0, "median_s": 60.0, "third_s": 80.0, "count": 2}}, 0.0, 0.0),
        ({"warm_up_ms": 0, "warmed_up": {"first_s": 4.0, "median_s": 6.0, "third_s": 8.0, "count": 25}}, 0.0, 0.0),
    ],
    ids=["not known", "said", "measured", "too seldom", "said to be nothing"],
)
def test_partitions_warm_up_as_the_spec_says_else_as_was_measured(
    told: dict[str, Any], warm_up_s: float, spread: float
) -> None:
    settings = facts(**told).settings
    assert settings.warm_up_s == warm_up_s
    assert settings.warm_up_spread == pytest.approx(spread, abs=0.01)


@pytest.mark.parametrize("unknown", [{"settings_at": None}, {"partitions": 0}, {"members": 0}])
def test_a_group_that_was_never_seen_with_members_has_no_settings(unknown: dict[str, Any]) -> None:
    assert facts_of({**group("a"), "rebalance_s": None, **unknown}, AS_OF) is None
