"""A watched group's topics: those that people name, and those that its Kafka Streams members read as well."""

from __future__ import annotations

from dataclasses import replace

from slackwater.adapters.kafka.watch import Watch
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import GroupObservation, KafkaView, PartitionOffsets, Unobserved
from tests.core.factories import NOW, member, observation, tp

REPARTITION = "payments-counts-repartition"
GONE = Unobserved(Reason.TOPIC_MISSING, "it is not there", NOW)
LOST = Unobserved(Reason.OBSERVATION_INCOMPLETE, "it has no leader", NOW)


def look(watch: Watch, **changes: object) -> GroupObservation:
    """As the broker answers for the topics that are asked for."""
    subscribed = frozenset({"orders", REPARTITION})
    partitions = frozenset(tp(0, topic) for topic in watch.asked)
    members = (member(0, subscribed=subscribed, assignment=frozenset({tp(0), tp(0, REPARTITION)})),)
    offsets = {partition: PartitionOffsets(7, 9) for partition in partitions}
    whole = replace(observation(members), partitions=partitions, offsets=offsets)
    return replace(whole, **changes)  # type: ignore[arg-type]


def seen(watch: Watch) -> GroupObservation:
    view: KafkaView | None = watch.view
    assert isinstance(view, GroupObservation)
    return view


def watched() -> Watch:
    watch = Watch("payments", frozenset({"orders"}))
    watch.fold(look(watch))
    watch.fold(look(watch))
    return watch


def test_what_members_read_of_their_own_is_in_the_picture_from_the_next_look_on() -> None:
    watch = Watch("payments", frozenset({"orders"}))
    assert watch.fold(look(watch))
    assert seen(watch).partitions == {tp(0)}
    assert watch.asked == {"orders", REPARTITION}
    assert watch.fold(look(watch))
    assert seen(watch).partitions == {tp(0), tp(0, REPARTITION)}
    assert seen(watch).lag == 4


def test_what_the_history_tells_stays() -> None:
    watch = Watch("payments", frozenset({"orders"}))
    watch.fold(look(watch, observed_at=NOW - 60))
    watch.fold(look(watch))
    assert watch.history.calm_for(seen(watch)) == 60


def test_one_that_somebody_deleted_blinds_nobody() -> None:
    """Before a Streams application is reset its internal topics are deleted, while nobody is in the group."""
    watch = watched()
    watch.fold(look(watch, members=(), partitions=frozenset({tp(0)}), blind_in={REPARTITION: GONE}, blind_to=GONE))
    assert seen(watch).blind_to is None
    assert watch.asked == {"orders"}


def test_one_that_cannot_be_read_blinds_as_any_other_does() -> None:
    watch = watched()
    watch.fold(look(watch, blind_in={REPARTITION: LOST}, blind_to=LOST))
    assert seen(watch).blind_to == LOST


def test_a_missing_topic_that_people_name_is_missed() -> None:
    watch = Watch("payments", frozenset({"orders", REPARTITION}))
    watch.fold(look(watch, blind_in={REPARTITION: GONE}, blind_to=GONE))
    assert seen(watch).blind_to == GONE
