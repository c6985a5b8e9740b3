"""A recommendation is applied only where it fits; otherwise it is shown with the reason."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.core.decision.reasons import Reason
from slackwater.core.timeouts import judgement
from slackwater.core.timeouts.adoption import at_rest as go_on
from slackwater.core.timeouts.judgement import judge, values_now
from slackwater.core.world.advice import AdviceStatus, Range, Subject
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupType
from slackwater.core.world.profile import Profile
from slackwater.core.world.settings import Setting
from slackwater.core.world.tuning import Tuning
from slackwater.core.world.world import World
from tests.core.factories import NOW, observation
from tests.core.timeouts.advised import DAY, advice, at_rest, session

FITS = {Setting.SESSION: 20_000, Setting.HEARTBEAT: 6_666}
POLL = {Subject.MAX_POLL_INTERVAL: Range(50_000, 60_000, 90_000), Subject.MAX_POLL_RECORDS: Range(80, 100, 120)}


def judged(world: World, **memory: Any) -> tuple[Reason, dict[Setting, int]]:
    judgement = judge(world.remembering(replace(world.memory, **memory)))
    assert judgement is not None
    assert judgement.message
    return judgement.reason, dict(judgement.values)


def seen(recommended: Any = None, **changes: Any) -> World:
    return at_rest(advice=advice(recommended, **changes))


SHOWN_ONLY: list[tuple[str, World, Reason]] = [
    ("too few restarts", seen(status=AdviceStatus.NOT_ENOUGH_DATA), Reason.NOT_ENOUGH_DATA),
    ("too short a time", seen(status=AdviceStatus.NOT_ENOUGH_TIME), Reason.NOT_ENOUGH_TIME),
    ("the objective cannot be met", seen(status=AdviceStatus.INFEASIBLE), Reason.OBJECTIVE_INFEASIBLE),
    ("today's is best", seen(status=AdviceStatus.KEEP_TODAY), Reason.AS_RECOMMENDED),
    ("older than two weeks", seen(as_of=NOW - 15 * DAY), Reason.RECOMMENDATION_STALE),
    ("from tomorrow", seen(as_of=NOW + DAY), Reason.RECOMMENDATION_STALE),
    ("for the spec before", seen(generation=0), Reason.RECOMMENDED_FOR_ANOTHER),
    ("for nobody knows which spec", seen(generation=None), Reason.RECOMMENDED_FOR_ANOTHER),
    ("for another group", seen(group_id="other"), Reason.RECOMMENDED_FOR_ANOTHER),
    ("for a KIP-848 group", seen(consumer_protocol=True), Reason.RECOMMENDED_FOR_ANOTHER),
    ("below what brokers allow", seen(session(5)), Reason.RECOMMENDATION_OUT_OF_BOUNDS),
    ("above what brokers allow", seen(session(1801)), Reason.RECOMMENDATION_OUT_OF_BOUNDS),
    ("longer than the max poll interval", seen(session(301)), Reason.RECOMMENDATION_OUT_OF_BOUNDS),
    ("brokers not asked yet", at_rest(broker=None), Reason.BOUNDS_UNKNOWN),
    ("less than a tenth away", seen(session(41, 40, 42)), Reason.AS_RECOMMENDED),
    ("a tenth away, and no more", seen(session(49.5, 49, 50)), Reason.AS_RECOMMENDED),
    ("today's does as well", seen(session(30, 20, 46)), Reason.AS_RECOMMENDED),
    ("the spec says it", at_rest(spec={"timeouts": {"session": "45s", "heartbeat": "3s"}}), Reason.AS_RECOMMENDED),
    (
        "no room for the spec's heartbeat",
        at_rest(spec={"timeouts": {"heartbeat": "9s"}}),
        Reason.RECOMMENDATION_OUT_OF_BOUNDS,
    ),
]


@pytest.mark.parametrize(("world", "reason"), [row[1:] for row in SHOWN_ONLY], ids=[row[0] for row in SHOWN_ONLY])
def test_what_is_shown_and_not_applied(world: World, reason: Reason) -> None:
    assert judged(world) == (reason, {})


def test_what_fits_is_applied_session_and_heartbeat_together() -> None:
    assert judged(at_rest()) == (Reason.RECOMMENDED, FITS)


def test_nothing_is_said_where_nothing_is_recommended() -> None:
    world = at_rest(advice=None)
    assert judge(world) is None


def test_poll_settings_are_judged_one_by_one() -> None:
    world = at_rest(advice=advice({**session(45), **POLL}), spec={"timeouts": {"maxPollRecords": 200}})
    assert judged(world) == (Reason.RECOMMENDED, {Setting.MAX_POLL_INTERVAL: 60_000})


def test_of_a_kip848_group_the_settings_are_the_groups() -> None:
    recommended = session(55) | {Subject.HEARTBEAT: Range(5_000, 15_000, 15_000)}
    world = at_rest(profile=Profile.CONSUMER, advice=advice(recommended))
    expected = {Setting.CONSUMER_SESSION: 55_000, Setting.CONSUMER_HEARTBEAT: 15_000}
    assert judged(world) == (Reason.RECOMMENDED, expected)


def test_a_heartbeat_that_the_brokers_refuse_is_not_applied() -> None:
    world = at_rest(profile=Profile.CONSUMER, advice=advice(session(55)))
    assert judged(world) == (Reason.RECOMMENDATION_OUT_OF_BOUNDS, {})


def test_what_kafka_has_counts_as_todays_value() -> None:
    has = {"consumer.session.timeout.ms": "54000", "consumer.heartbeat.interval.ms": "9000"}
    recommended = session(55) | {Subject.HEARTBEAT: Range(5_000, 9_000, 15_000)}
    kafka = observation(type=GroupType.CONSUMER, settings=has)
    world = at_rest(profile=Profile.CONSUMER, kafka=kafka, advice=advice(recommended))
    assert judged(world) == (Reason.AS_RECOMMENDED, {})


@pytest.mark.parametrize("value", ["", "soon", "-1", "45000.0", "\u0665\u0664000", "9" * 79 + "\u2026", "9" * 5_000])
def test_what_kafka_has_is_not_known_where_it_is_no_number(value: str) -> None:
    """A broker may say anything, and a recommendation is not compared with it; a pass ended by it."""
    has = {"consumer.session.timeout.ms": value, "consumer.heartbeat.interval.ms": "9000"}
    recommended = session(55) | {Subject.HEARTBEAT: Range(5_000, 9_000, 15_000)}
    kafka = observation(type=GroupType.CONSUMER, settings=has)
    world = at_rest(profile=Profile.CONSUMER, kafka=kafka, advice=advice(recommended))
    assert judged(world) == (Reason.BOUNDS_UNKNOWN, {})
    approved = judge(world, approved=True)
    assert approved is not None and not approved.values
    assert "consumer.session.timeout.ms" in approved.message
    assert values_now(world)[Setting.CONSUMER_HEARTBEAT] == 9_000
    assert values_now(world)[Setting.CONSUMER_SESSION] == 45_000, "as where nobody says anything"


def test_what_the_spec_says_itself_is_known_whatever_kafka_has() -> None:
    has = {"consumer.session.timeout.ms": "soon", "consumer.heartbeat.interval.ms": "9000"}
    kafka = observation(type=GroupType.CONSUMER, settings=has)
    recommended = session(55) | {Subject.HEARTBEAT: Range(9_000, 9_000, 15_000)}
    spec = {"timeouts": {"consumer": {"session": "55s"}}}
    world = at_rest(profile=Profile.CONSUMER, kafka=kafka, advice=advice(recommended), spec=spec)
    assert judged(world) == (Reason.AS_RECOMMENDED, {})


def test_a_version_that_failed_with_it_is_not_tried_again_but_by_a_person() -> None:
    world = at_rest()
    failed = replace(world.memory, tuning=Tuning(failed_as_of=NOW - 3600))
    assert judged(world, tuning=failed.tuning) == (Reason.RECOMMENDATION_FAILED, {})
    approved = judge(world.remembering(failed), approved=True)
    assert approved is not None and dict(approved.values) == FITS


def turned(memory: RolloutMemory, target_s: float, day: int) -> RolloutMemory:
    """A KIP-848 group a day later, for which something else is recommended by now."""
    recommended = session(target_s, target_s, target_s) | {Subject.HEARTBEAT: Range(5_000, 5_000, 5_000)}
    at = NOW + day * DAY
    world = at_rest(profile=Profile.CONSUMER, now=at, advice=advice(recommended, as_of=at))
    return go_on(world.remembering(memory)).memory


@given(st.lists(st.sampled_from([45.0, 50.0, 55.0, 60.0]), min_size=1, max_size=40))
def test_it_never_goes_back_and_forth(targets: list[float]) -> None:
    """Whatever is recommended day after day: of its own accord the operator turns round once, and then stays."""
    memory = at_rest(profile=Profile.CONSUMER).memory
    values = [45_000]
    for day, target_s in enumerate(targets):
        memory = turned(memory, target_s, day)
        values.append(memory.tuning.values.get(Setting.CONSUMER_SESSION, 45_000))
    moves = [after - before for before, after in itertools.pairwise(values) if after != before]
    turns = sum((one > 0) is not (other > 0) for one, other in itertools.pairwise(moves))
    assert turns <= 1


def test_after_one_turn_it_says_that_recommendations_disagree() -> None:
    memory = at_rest(profile=Profile.CONSUMER).memory
    for day, target_s in enumerate((60.0, 50.0)):
        memory = turned(memory, target_s, day)
    assert memory.tuning.turned == (Setting.CONSUMER_SESSION,)
    back = session(60, 60, 60) | {Subject.HEARTBEAT: Range(5_000, 5_000, 5_000)}
    world = at_rest(profile=Profile.CONSUMER, advice=advice(back), memory=memory)
    assert judged(world) == (Reason.RECOMMENDATIONS_DISAGREE, {})
    approved = judge(world.remembering(memory), approved=True)
    assert approved is not None and approved.values == {Setting.CONSUMER_SESSION: 60_000}


UNFIT_FOR: list[tuple[str, World]] = [
    ("nothing_is_recommended", seen(status=AdviceStatus.KEEP_TODAY)),
    ("is_another_groups", seen(group_id="other")),
    ("is_from_the_future", seen(as_of=NOW + DAY)),
    ("is_too_old", seen(as_of=NOW - 15 * DAY)),
    ("is_for_another_spec", seen(generation=0)),
    ("is_for_another_protocol", seen(consumer_protocol=True)),
]


@pytest.mark.parametrize(("check", "given"), UNFIT_FOR, ids=[check for check, _ in UNFIT_FOR])
def test_each_check_finds_what_it_is_for_and_nothing_else(check: str, given: World) -> None:
    assert given.advice is not None
    found = [each.__name__ for each in judgement.UNFIT if each(given, given.advice)]
    assert found == [check]


def test_every_check_has_its_row_in_the_order_in_which_they_are_asked() -> None:
    assert [each.__name__ for each in judgement.UNFIT] == [check for check, _ in UNFIT_FOR]


def test_a_session_of_just_three_heartbeats_of_the_spec_fits() -> None:
    world = at_rest(advice=advice(session(21)), spec={"timeouts": {"heartbeat": "7s"}})
    assert judged(world) == (Reason.RECOMMENDED, {Setting.SESSION: 21_000})
