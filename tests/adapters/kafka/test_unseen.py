"""Which groups are not seen now, and why."""

from __future__ import annotations

from slackwater.adapters.kafka.unseen import Unseen
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import Unobserved
from tests.core.factories import observation


def away(message: str, reason: Reason = Reason.KAFKA_UNREACHABLE) -> Unobserved:
    return Unobserved(reason, message, 0.0)


def test_each_reason_stands_until_its_last_group_is_seen_or_gone() -> None:
    unseen = Unseen()
    assert not unseen.reasons
    unseen.keep("a", away("a"))
    unseen.keep("b", away("b"))
    unseen.keep("c", away("c", Reason.TOPIC_MISSING))
    assert {*unseen.reasons} == {Reason.KAFKA_UNREACHABLE, Reason.TOPIC_MISSING}
    unseen.keep("a", observation())
    unseen.keep("c", None)
    assert {*unseen.reasons} == {Reason.KAFKA_UNREACHABLE}
    unseen.keep("b", away("b", Reason.NOT_AUTHORIZED))
    assert {*unseen.reasons} == {Reason.NOT_AUTHORIZED}


def test_the_first_by_key_speaks_for_the_connection_with_its_newest_view() -> None:
    unseen = Unseen()
    unseen.keep("b", away("b"))
    unseen.keep("a", away("no fault of the connection", Reason.TOPIC_MISSING))
    assert unseen.first_of_the_connection() == away("b")
    unseen.keep("a", away("a"))
    assert unseen.first_of_the_connection() == away("a")
    unseen.keep("a", away("a, otherwise"))
    assert unseen.first_of_the_connection() == away("a, otherwise")
    unseen.keep("a", None)
    assert unseen.first_of_the_connection() == away("b")
    unseen.keep("b", observation())
    assert unseen.first_of_the_connection() is None
