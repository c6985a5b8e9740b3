"""What is read off pods, records and logs: motion, idle partitions, expiries."""

from __future__ import annotations

from demo.cascade.expiries import expiries
from demo.cascade.idle import idle
from demo.cascade.motion import moving, newest, sight, with_bad_pods
from demo.cascade.spans import Span, peak, within
from sandbox.workload import deliveries
from tests.demo.cascade.samples import END_S, START_S, at_rest, pod, replaced, served

START_MS, END_MS = int(START_S * 1000), int(END_S * 1000)


def test_a_peak_is_what_was_at_once() -> None:
    assert peak([]) == 0
    assert peak([Span(0, 2), Span(1, 3), Span(2, 4)]) == 2
    assert peak([Span(0, 1), Span(1, 2)]) == 1
    assert peak([Span(0, 9), Span(1, 2), Span(1.5, 1.7), Span(3, 4)]) == 3


def test_what_lies_outside_is_cut_off() -> None:
    assert within([Span(0, 5), Span(6, 7), Span(9, 12), Span(20, 30)], 1, 10) == [Span(1, 5), Span(6, 7), Span(9, 10)]
    assert within([Span(0, 1)], 1, 10) == []


def test_a_group_moves_while_a_pod_is_on_its_way_or_missing() -> None:
    sights = [*at_rest("app", 1.0), *replaced("app", 2, 10.0, 17.0)]
    assert moving(sights, 100.0) == {"app": [Span(1.0, 1.0), Span(10.0, 17.0)]}


def test_a_group_moves_to_the_end_while_its_pod_does_not_get_ready() -> None:
    sights = [*at_rest("app", 1.0), *replaced("app", 2, 10.0, 17.0)[:-1]]
    assert moving(sights, 100.0)["app"][-1] == Span(10.0, 100.0)


def test_a_pod_that_is_not_ready_for_a_while_moves_nobody() -> None:
    flaps = [sight(5.0, pod("app", "app-1", ready=False), deleted=False)]
    flaps.append(sight(6.0, pod("app", "app-1", ready=True), deleted=False))
    assert moving([*at_rest("app", 1.0), *flaps], 100.0) == {"app": [Span(1.0, 1.0)]}


def test_a_surge_moves_a_deployment_from_the_new_pod_to_the_old_ones_end() -> None:
    sights = [
        *at_rest("app", 1.0),
        sight(10.0, pod("app", "new", ready=False), deleted=False),
        sight(15.0, pod("app", "new", ready=True), deleted=False),
        sight(15.0, pod("app", "app-0", ready=True, ending=True), deleted=False),
        sight(18.0, pod("app", "app-0", ready=False, ending=True), deleted=True),
    ]
    assert [span for span in moving(sights, 100.0)["app"] if span.start_s < span.end_s] == [
        Span(10.0, 15.0),
        Span(15.0, 18.0),
    ]


def test_bad_pods_are_known_by_their_image_even_when_they_are_gone() -> None:
    sights = [*at_rest("good", 1.0), *at_rest("bad", 1.0), *replaced("bad", 2, 10.0, 20.0, bad=True)]
    assert with_bad_pods(sights) == {"bad"}
    assert not any(each.is_bad for each in newest(sights)["bad"].values())
    assert moving(sights, 100.0)["bad"][-1] == Span(10.0, 20.0)


def test_idle_stretches_add_up_to_what_the_demo_measures() -> None:
    rows = served((0, 1010.0, 1020.0), (1, 1015.0, 1018.0), (5, 1090.0, 1200.0))
    spans = idle(rows, START_MS, END_MS)
    wanted = deliveries.measure(rows, 6, START_MS, END_MS)
    assert round(sum(span.end_s - span.start_s for span in spans), 3) == round(wanted.idle_partition_seconds, 3)
    assert len(spans) == 3
    assert peak(spans) == 2


def test_a_partition_that_nobody_serves_is_idle_throughout() -> None:
    assert idle([], START_MS, END_MS) == [Span(START_S, END_S)] * 6


def test_a_short_silence_is_not_idle() -> None:
    assert idle(served((0, 1010.0, 1010.3)), START_MS, END_MS) == []


LOG = """\
12:00:01.000 INFO [GroupCoordinator id=1] Member rdkafka-1 in group cascade-a has failed, removing it from the group. (GroupMetadataManager)
12:00:01.001 INFO [GroupCoordinator id=1] Preparing to rebalance group cascade-a in state PreparingRebalance with old generation 3 (reason: removing member rdkafka-1 on heartbeat expiration.). (GroupMetadataManager)
12:00:01.500 INFO [GroupCoordinator id=1] Member rdkafka-2 in group cascade-a has failed, removing it from the group. (GroupMetadataManager)
12:00:02.000 INFO [GroupCoordinator id=1] Preparing to rebalance group cascade-b in state PreparingRebalance with old generation 1 (reason: explicit `LeaveGroup` request for (memberId: x).). (GroupMetadataManager)
12:00:02.100 INFO [GroupCoordinator id=1] Preparing to rebalance group cascade-c in state PreparingRebalance with old generation 7 (reason: removing member static-9 on heartbeat expiration.). (GroupMetadataManager)
"""  # noqa: E501 - as a coordinator writes it


def test_a_session_that_ended_counts_once_by_whatever_lines() -> None:
    assert expiries(LOG.splitlines()) == {"cascade-a": 2, "cascade-c": 1}
    assert expiries([]) == {}
