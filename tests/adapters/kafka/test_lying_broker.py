"""What a broker may answer without a word that is not Kafka's, read through the real client."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.sizes import USUAL, Limits
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import GroupObservation, KafkaView, Unobserved
from tests.adapters.kafka.lying_broker import Lie, lying_broker

ASKED = {"payments": frozenset({"t"})}
SMALL = replace(USUAL, partitions=1_000, members=900)


async def looked(lie: Lie, limits: Limits = SMALL) -> KafkaView:
    with lying_broker(lie, 22_000) as broker:
        reader = KafkaGroupReader(KafkaWire({"bootstrap_servers": broker.address}, limits=limits), limits=limits)
        view = (await reader.observe(ASKED))["payments"]
        await reader.close()
    return view


@pytest.mark.parametrize(
    ("lie", "what"),
    [
        (Lie.MEMBERS, "group payments has 1,000 members"),
        (Lie.ASSIGNMENT, "group payments has 5,500 partitions"),
        (Lie.BROKERS, "has 2,999 brokers"),
    ],
)
async def test_what_has_too_much_of_anything_is_not_looked_at_and_says_so(lie: Lie, what: str) -> None:
    view = await looked(lie)
    assert isinstance(view, Unobserved), view
    assert view.reason is Reason.ANSWER_TOO_LONG
    assert what in view.message


async def test_a_topic_of_too_many_partitions_is_out_of_sight_and_its_group_is_not() -> None:
    view = await looked(Lie.PARTITIONS)
    assert isinstance(view, GroupObservation)
    assert view.blind_to is not None
    assert view.blind_to.reason is Reason.ANSWER_TOO_LONG
    assert "topic t has 1,222 partitions" in view.blind_to.message


async def test_whoever_runs_the_operator_may_have_it_look() -> None:
    view = await looked(Lie.MEMBERS, USUAL)
    assert isinstance(view, GroupObservation)
    assert len(view.members) == 1_000
