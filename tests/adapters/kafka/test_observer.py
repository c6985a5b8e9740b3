"""When the observer looks at which groups, what it keeps, whom it tells, how it ends. Time is skipped, not slept."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import pytest

from slackwater.adapters.kafka.errors import KafkaUnreachable
from slackwater.adapters.kafka.observer import NotWatched, Observer, ObserverStopped
from slackwater.adapters.kafka.watch import Folded, Watch
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    KafkaView,
    Member,
    PartitionOffsets,
    TopicPartition,
    Unobserved,
)
from tests.adapters.kafka.fake_facts import FakeFacts
from tests.adapters.kafka.skipping_loop import run_skipping
from tests.core.factories import member

ORDERS = frozenset({"orders"})


class FakeReader:
    """Shows every group stable, unless told otherwise, and notes when it was asked for what."""

    def __init__(self, takes_s: float = 0.0) -> None:
        self.takes_s = takes_s
        self.passes: list[tuple[float, frozenset[str]]] = []
        self.settings: dict[str, str] = {}
        self.settings_asked: list[frozenset[str]] = []
        self.unreachable: set[str] = set()
        self.states: dict[str, GroupState] = {}
        self.members: dict[str, tuple[Member, ...]] = {}
        self.bug: Exception | None = None
        self.closed = False

    async def observe(
        self, topics_by_group: Mapping[str, frozenset[str]], settings_of: Collection[str] = ()
    ) -> Mapping[str, KafkaView]:
        began_at = asyncio.get_running_loop().time()
        self.passes.append((began_at, frozenset(topics_by_group)))
        self.settings_asked.append(frozenset(settings_of))
        await asyncio.sleep(self.takes_s)
        if self.bug is not None:
            raise self.bug
        views = {group_id: self._view(group_id, topics, began_at) for group_id, topics in topics_by_group.items()}
        for group_id in settings_of:
            view = views[group_id]
            if isinstance(view, GroupObservation):
                views[group_id] = replace(view, settings=dict(self.settings))
        return views

    def _view(self, group_id: str, topics: frozenset[str], began_at: float) -> KafkaView:
        if group_id in self.unreachable:
            return Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", began_at)
        partitions = frozenset(TopicPartition(topic, 0) for topic in topics)
        return GroupObservation(
            group_id,
            began_at,
            self.states.get(group_id, GroupState.STABLE),
            GroupType.CLASSIC,
            members=self.members.get(group_id, ()),
            partitions=partitions,
            offsets={partition: PartitionOffsets(1, 1) for partition in partitions},
        )

    async def close(self) -> None:
        self.closed = True


def test_groups_at_rest_share_their_passes_whenever_they_were_added() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        observer = Observer(reader, lambda key: None, rest_interval_s=15)
        observer.start()
        for number in range(5):
            observer.watch(f"ns/g{number}", f"g{number}", ORDERS)
            await asyncio.sleep(1)
        reader.passes.clear()
        await asyncio.sleep(60)
        await observer.close()

        assert len(reader.passes) == 4
        assert {len(groups) for _, groups in reader.passes} == {5}

    run_skipping(scenario())


def test_what_members_turn_out_to_read_as_well_is_looked_at_at_once() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        reader.members["a"] = (member(0, assignment=frozenset({TopicPartition("a-counts-repartition", 0)})),)
        observer = Observer(reader, lambda key: None, rest_interval_s=15)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        await asyncio.sleep(5)
        view, _ = observer.latest("ns/a") or (None, None)
        await observer.close()

        assert isinstance(view, GroupObservation)
        assert {partition.topic for partition in view.partitions} == {"orders", "a-counts-repartition"}
        assert len(reader.passes) == 2

    run_skipping(scenario())


def test_groups_in_motion_are_looked_at_every_second() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        observer = Observer(reader, lambda key: None)
        observer.start()
        observer.watch("ns/still", "still", ORDERS)
        observer.watch("ns/moving", "moving", ORDERS)
        await observer.observe_now("ns/moving")
        observer.set_motion("ns/moving", True)
        reader.passes.clear()
        await asyncio.sleep(10.5)
        await observer.close()

        seen = [groups for _, groups in reader.passes]
        assert 10 <= len(seen) <= 12
        assert set(seen) == {frozenset({"moving"})}

    run_skipping(scenario())


def test_a_new_group_is_looked_at_at_once() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        observer = Observer(reader, lambda key: None)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        await asyncio.sleep(3)
        reader.passes.clear()
        observer.watch("ns/b", "b", ORDERS)
        await asyncio.sleep(0.01)

        assert [groups for _, groups in reader.passes] == [frozenset({"b"})]
        assert observer.latest("ns/b") is not None
        await observer.close()

    run_skipping(scenario())


def test_callers_share_a_pass_that_began_after_they_called() -> None:
    async def scenario() -> None:
        reader = FakeReader(takes_s=0.5)
        observer = Observer(reader, lambda key: None)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        await asyncio.sleep(0.1)  # in the middle of the first pass
        called_at = asyncio.get_running_loop().time()
        views = await asyncio.gather(*(observer.observe_now("ns/a") for _ in range(10)))
        await observer.close()

        assert len(reader.passes) == 2
        assert all(isinstance(view, GroupObservation) and view.observed_at >= called_at for view in views)

    run_skipping(scenario())


def test_on_change_is_called_for_changes_and_not_for_sameness() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        told: list[str] = []
        observer = Observer(reader, told.append)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        changes: tuple[Callable[[], object], ...] = (
            lambda: None,
            lambda: reader.states.update(a=GroupState.PREPARING_REBALANCE),
            lambda: reader.unreachable.add("a"),
            reader.unreachable.clear,
        )
        for change in changes:
            told.clear()
            change()
            await observer.observe_now("ns/a")
            first = len(told)
            await observer.observe_now("ns/a")
            assert (first, len(told)) == (1, 1), change
        await observer.close()

    run_skipping(scenario())


def test_on_change_is_called_at_every_pass_for_groups_in_motion() -> None:
    async def scenario() -> None:
        told: list[str] = []
        observer = Observer(FakeReader(), told.append)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        observer.set_motion("ns/a", True)
        for _ in range(3):
            await observer.observe_now("ns/a")
        await observer.close()

        assert told == ["ns/a"] * 3

    run_skipping(scenario())


def test_an_outage_is_told_from_its_beginning_and_interrupts_the_calm() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        observer = Observer(reader, lambda key: None)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        await observer.observe_now("ns/a")
        reader.unreachable.add("a")
        first = await observer.observe_now("ns/a")
        await asyncio.sleep(5)
        later = await observer.observe_now("ns/a")
        latest = observer.latest("ns/a")
        await observer.close()

        assert isinstance(first, Unobserved)
        assert later == first
        assert latest is not None
        assert latest[1].unchanged_since is None

    run_skipping(scenario())


def test_a_group_at_rest_is_seen_again_soon_after_an_outage() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        told: list[float] = []
        observer = Observer(reader, lambda key: told.append(asyncio.get_running_loop().time()))
        reader.unreachable.add("a")
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        await asyncio.sleep(40.5)
        reader.unreachable.clear()
        back_at = asyncio.get_running_loop().time()
        await asyncio.sleep(2)
        await observer.close()

        assert len(told) == 2
        assert told[1] - back_at <= 1

    run_skipping(scenario())


def test_two_watches_of_one_group_see_their_own_topics() -> None:
    async def scenario() -> None:
        observer = Observer(FakeReader(), lambda key: None)
        observer.watch("ns/a", "shared", {"orders"})
        observer.watch("ns/b", "shared", {"refunds"})
        observer.start()
        await asyncio.sleep(0.1)
        topics = {}
        for key in ("ns/a", "ns/b"):
            view = (observer.latest(key) or (None,))[0]
            assert isinstance(view, GroupObservation)
            topics[key] = {p.topic for p in view.partitions} | {p.topic for p in view.offsets}
        await observer.close()

        assert topics == {"ns/a": {"orders"}, "ns/b": {"refunds"}}

    run_skipping(scenario())


def test_settings_are_asked_for_where_they_are_wanted_and_only_there() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        told: list[str] = []
        observer = Observer(reader, told.append)
        observer.watch("ns/a", "shared", ORDERS, settings=True)
        observer.watch("ns/b", "shared", ORDERS)
        observer.watch("ns/c", "c", ORDERS)
        observer.start()
        await asyncio.sleep(0.1)
        seen = {key: (observer.latest(key) or (None,))[0] for key in ("ns/a", "ns/b", "ns/c")}
        assert reader.settings_asked == [{"shared"}]
        assert [getattr(view, "settings", None) for view in seen.values()] == [{}, None, None]

        told.clear()
        reader.settings = {"consumer.session.timeout.ms": "50000"}
        await observer.observe_now("ns/a")
        await observer.observe_now("ns/a")
        await observer.close()
        assert told == ["ns/a"]

    run_skipping(scenario())


def test_a_watch_that_comes_to_want_settings_keeps_what_was_seen() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        observer = Observer(reader, lambda key: None)
        observer.watch("ns/a", "a", ORDERS)
        observer.start()
        await asyncio.sleep(5)
        before = observer.latest("ns/a")
        observer.watch("ns/a", "a", ORDERS, settings=True)
        assert observer.latest("ns/a") == before
        await asyncio.sleep(0.1)
        after = observer.latest("ns/a")
        await observer.close()

        assert before is not None
        assert after is not None
        assert (before[0].settings, after[0].settings) == (None, {})  # type: ignore[union-attr]
        assert after[1].unchanged_since == before[1].unchanged_since

    run_skipping(scenario())


def test_facts_about_the_brokers_are_kept_and_told_to_every_group() -> None:
    async def scenario() -> None:
        told: list[str] = []
        brokers = FakeFacts()
        observer = Observer(FakeReader(), told.append, brokers=brokers)
        assert observer.broker is None
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        observer.watch("ns/b", "b", ORDERS)
        await asyncio.sleep(6)
        assert observer.broker is not None
        told.clear()
        brokers.facts = replace(brokers.facts, group_version=0)
        observer.refresh_broker()
        await asyncio.sleep(0.1)
        await observer.close()

        assert observer.broker.group_version == 0
        assert sorted(told) == ["ns/a", "ns/b"]

    run_skipping(scenario())


def test_silent_brokers_hold_up_no_group() -> None:
    async def scenario() -> None:
        brokers = FakeFacts()
        brokers.failure = KafkaUnreachable("no broker answers")
        observer = Observer(FakeReader(), lambda key: None, brokers=brokers)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        assert isinstance(await observer.observe_now("ns/a"), GroupObservation)
        assert observer.broker is None
        await observer.close()

    run_skipping(scenario())


def test_a_bug_in_reading_the_brokers_ends_the_observer_as_well() -> None:
    async def scenario() -> None:
        brokers = FakeFacts()
        brokers.failure = ZeroDivisionError("a bug")
        observer = Observer(FakeReader(), lambda key: None, brokers=brokers)
        observer.start()
        with pytest.raises(ZeroDivisionError):
            await observer.wait_failed()
        await observer.close()

    run_skipping(scenario())


def test_a_group_that_is_no_longer_watched_is_not_asked_about() -> None:
    async def scenario() -> None:
        reader = FakeReader(takes_s=0.5)
        observer = Observer(reader, lambda key: None)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        waiting = asyncio.ensure_future(observer.observe_now("ns/a"))
        await asyncio.sleep(0.1)
        observer.unwatch("ns/a")
        with pytest.raises(NotWatched):
            await waiting
        assert observer.latest("ns/a") is None
        with pytest.raises(NotWatched):
            await observer.observe_now("ns/a")
        await observer.close()

    run_skipping(scenario())


def test_a_bug_ends_the_observer_and_its_owner_and_callers_learn_of_it() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        reader.bug = ZeroDivisionError("a bug")
        observer = Observer(reader, lambda key: None)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        with pytest.raises(ObserverStopped):
            await observer.observe_now("ns/a")
        with pytest.raises(ZeroDivisionError):
            await observer.wait_failed()
        await observer.close()

    run_skipping(scenario())


def test_an_error_in_the_callback_ends_the_observer() -> None:
    async def scenario() -> None:
        def broken(key: str) -> None:
            raise ZeroDivisionError(key)

        observer = Observer(FakeReader(), broken)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        with pytest.raises(ZeroDivisionError):
            await observer.wait_failed()
        await observer.close()

    run_skipping(scenario())


def test_closing_ends_the_task_and_the_reader() -> None:
    async def scenario() -> None:
        reader = FakeReader()
        observer = Observer(reader, lambda key: None)
        observer.start()
        observer.watch("ns/a", "a", ORDERS)
        await observer.close()

        assert reader.closed
        await observer.wait_failed()

    run_skipping(scenario())


@pytest.mark.parametrize(("topics", "is_apart"), [(1, False), (1_500, True)])
def test_large_views_are_folded_in_beside_the_event_loop(
    topics: int, is_apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    folded = Watch.folded

    def noted(watch: Watch, seen: KafkaView) -> Folded:
        threads.append(threading.current_thread())
        return folded(watch, seen)

    monkeypatch.setattr(Watch, "folded", noted)

    async def scenario() -> None:
        observer = Observer(FakeReader(), lambda key: None)
        observer.start()
        observer.watch("ns/a", "a", [f"t{number}" for number in range(topics)])
        view = await observer.observe_now("ns/a")
        assert isinstance(view, GroupObservation)
        assert len(view.partitions) == topics
        await observer.close()

    asyncio.run(scenario())
    assert [each is not threading.main_thread() for each in threads] == [is_apart]
