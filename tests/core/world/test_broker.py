"""What brokers allow."""

from __future__ import annotations

import pytest

from slackwater.core.world.broker import Bounds, BrokerFacts


@pytest.mark.parametrize(
    ("asked", "given"), [(5_999, 6_000), (6_000, 6_000), (7_000, 7_000), (9_000, 9_000), (9_001, 9_000)]
)
def test_bounds_include_both_ends(asked: int, given: int) -> None:
    assert Bounds(6_000, 9_000).clamp(asked) == given


def test_what_could_not_be_read_is_not_known_rather_than_none() -> None:
    facts = BrokerFacts(1.0, serves_consumer_protocol=False, group_version=0)
    assert {facts.migration_policy, facts.classic_session, facts.consumer_session, facts.consumer_heartbeat} == {None}
    assert facts.problem == ""
