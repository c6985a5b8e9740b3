"""Which topics a Kafka Streams application reads beside those that people name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, Unobserved
from slackwater.core.world.streams import MOST_INTERNAL_TOPICS, internal_topics, is_internal
from tests.core.factories import NOW, member, observation, tp

REPARTITION = "payments-counts-repartition"
KNOWN = frozenset({REPARTITION})


@pytest.mark.parametrize(
    ("topic", "internal"),
    [
        (REPARTITION, True),
        ("payments-KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition", True),
        ("payments-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic", True),
        ("payments-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000014-topic", True),
        ("payments-join-subscription-response-topic", True),
        ("payments-counts-changelog", False),
        ("payments-repartition", False),
        ("payments-topic", False),
        ("orders", False),
        ("refunds-counts-repartition", False),
        ("paymentscounts-repartition", False),
    ],
)
def test_by_their_names(topic: str, internal: bool) -> None:
    assert is_internal(topic, "payments") is internal


def reading(*topics: str, says: bool = True, **changes: object) -> GroupObservation:
    subscribed = frozenset({"orders", *topics}) if says else None
    owned = frozenset({tp(0), *(tp(0, topic) for topic in topics)})
    members = [member(0, subscribed=subscribed, assignment=owned), member(1, subscribed=subscribed)]
    return replace(observation(members), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("view", "known", "topics"),
    [
        (reading(REPARTITION), frozenset(), KNOWN),
        (reading(REPARTITION, says=False), frozenset(), KNOWN),
        (reading("payments-counts-changelog"), frozenset(), frozenset()),
        (reading(), KNOWN, frozenset()),
        (reading(says=False), KNOWN, KNOWN),
        (reading(type=GroupType.CONSUMER), KNOWN, KNOWN),
        (reading(state=GroupState.PREPARING_REBALANCE), KNOWN, KNOWN),
        (observation(()), KNOWN, KNOWN),
        (Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW), KNOWN, KNOWN),
    ],
    ids=[
        "as members ask for it",
        "as members own it",
        "no changelog",
        "a topology without it",
        "whose members do not say",
        "of KIP-848, where a pattern may hide it",
        "in a rebalance",
        "with nobody in the group",
        "out of sight",
    ],
)
def test_what_the_group_reads(view: GroupObservation, known: frozenset[str], topics: frozenset[str]) -> None:
    assert internal_topics("payments", view, known) == topics


def test_nobody_makes_it_many() -> None:
    many = (f"payments-{number}-repartition" for number in range(2 * MOST_INTERNAL_TOPICS))
    assert len(internal_topics("payments", reading(*many), frozenset())) == MOST_INTERNAL_TOPICS
