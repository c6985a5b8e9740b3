"""Are two groups in one Kafka cluster? And whose may an instance id be?"""

from __future__ import annotations

import pytest

from slackwater.core.world.claims import Claim, Whereabouts, same_cluster


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("a:9092", None), ("a:9092", None), True),
        (("a:9092,b:9092", None), (" B.:9092 , c:9092", None), True),
        (("a:9092", None), ("a:9093", None), None),
        (("a:9092", "X"), ("b:9092", "X"), True),
        (("a:9092", "X"), ("b:9092", "Y"), False),
        (("a:9092", "X"), ("a:9092", "Y"), True),
        (("a:9092", "X"), ("b:9092", None), None),
        (("a:9092", ""), ("b:9092", ""), None),
        (("", None), ("", None), None),
    ],
    ids=[
        "the same address",
        "one address in common",
        "another port may be another listener",
        "two ways to one cluster",
        "two clusters",
        "addresses are newer than ids",
        "one has not told",
        "brokers that have no id to tell",
        "no connections",
    ],
)
def test_two_groups_are_in_one_cluster(
    one: tuple[str, str | None], other: tuple[str, str | None], same: bool | None
) -> None:
    assert same_cluster(Whereabouts(*one), Whereabouts(*other)) is same
    assert same_cluster(Whereabouts(*other), Whereabouts(*one)) is same


@pytest.mark.parametrize(
    ("instance_id", "may"),
    [("payments-0", True), ("payments-0-1", True), ("payments-x", False), ("reports-0", False), (None, False)],
)
def test_ids_follow_from_the_name(instance_id: str | None, may: bool) -> None:
    assert Claim("shop", "payments").may_have_given(instance_id) is may
