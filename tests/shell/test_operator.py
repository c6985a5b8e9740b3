"""The process: workers outlive what one group does to them, and no part ends without the others."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterRefused, ClusterUnreachable, Forbidden, KindMissing, NotLetIn
from slackwater.adapters.cluster.paths import CLUSTER_KAFKA_CONNECTION, CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.api.errors import SlackwaterError
from slackwater.ports import Kind
from slackwater.shell import operator as module
from slackwater.shell import own_fleets
from slackwater.shell.leadership import Leadership
from slackwater.shell.listing import Behind, VersionsWentBack
from slackwater.shell.operator import LONGEST_PASS_S, Operator, _first_list
from slackwater.shell.parts import until_one_ends
from slackwater.shell.settings import Settings
from slackwater.shell.signals import until_sigterm
from slackwater.shell.store import WATCHED, Key, Store
from tests.shell.fakes import KEY, FakeApi, connection_object, fleet_object, group_object
from tests.shell.leases import LEASE_KEY, Leases


class ListingApi(FakeApi):
    """Fails lists, in this order, before it answers."""

    def __init__(self, *failures: Exception) -> None:
        super().__init__()
        self.list_failures = list(failures)

    async def list_all(self, kind: Kind, namespace: str | None, label_selector: str = "") -> Any:
        if self.list_failures:
            raise self.list_failures.pop(0)
        return await super().list_all(kind, namespace, label_selector)


def operator(*failures: Exception) -> Operator:
    api: Any = ListingApi(*failures)
    api.add(CONSUMER_GROUP, group_object())
    return Operator(api, Settings.model_validate({}))


def test_whoever_takes_from_the_queue_has_the_turns_of_those_who_plan() -> None:
    started = operator()
    assert started.reconciler.turns is started.queue.turns


@asynccontextmanager
async def working(part: Any) -> AsyncIterator[None]:
    task = asyncio.create_task(part)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_it_waits_for_the_api_server_and_for_its_own_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_API_AGAIN_S", 0.0)
    started = operator(ClusterUnreachable("no answer"), KindMissing("install the CRDs"))
    await _first_list(started)
    assert started.store.get(CONSUMER_GROUP, KEY) is not None
    assert len(started.queue) == 1
    assert sum(started.api.requests.values()) == len(WATCHED) - 1  # no ClusterKafkaConnections


async def test_cluster_connections_are_read_where_it_is_known_where_their_secrets_are() -> None:
    everywhere = Settings.model_validate({"pod_namespace": "operations"})
    assert everywhere.watched == WATCHED
    assert everywhere.secrets_namespace == "operations"
    some = Settings.model_validate({"pod_namespace": "operations", "namespace": "team-a"})
    assert (some.secrets_namespace, len(some.watched)) == ("", len(WATCHED) - 1)


async def test_without_the_crd_of_cluster_connections_all_else_is_read() -> None:
    """It is newer than the others, and may be applied by somebody else."""
    api: Any = ListingApi()

    async def missing(kind: Kind, namespace: str | None, label_selector: str = "") -> Any:
        if kind is CLUSTER_KAFKA_CONNECTION:
            raise KindMissing("install the CRDs")
        return await ListingApi.list_all(api, kind, namespace, label_selector)

    api.list_all = missing
    api.add(CONSUMER_GROUP, group_object())
    started = Operator(api, Settings.model_validate({"pod_namespace": "operations"}))
    await started.relist()
    assert started.store.get(CONSUMER_GROUP, KEY) is not None


async def test_a_crd_that_comes_later_is_found_soon_though_nothing_watches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REFUSED_AGAIN_S", 0.01)
    api: Any = ListingApi()
    asked: list[str] = []
    installed = asyncio.Event()
    shared = connection_object() | {"kind": "ClusterKafkaConnection"}
    del shared["metadata"]["namespace"]
    uses_it = group_object(connectionRef={"kind": "ClusterKafkaConnection", "name": shared["metadata"]["name"]})

    async def list_all(kind: Kind, namespace: str | None, label_selector: str = "") -> Any:
        asked.append(kind.name)
        if kind is CLUSTER_KAFKA_CONNECTION:
            if not installed.is_set():
                raise KindMissing("install the CRDs")
            return [shared], 100
        return await ListingApi.list_all(api, kind, namespace, label_selector)

    api.list_all = list_all
    api.add(CONSUMER_GROUP, uses_it)
    started = Operator(api, Settings.model_validate({"pod_namespace": "operations"}))
    await started.relist()
    started.queue.done(await started.queue.take())
    asked.clear()
    async with working(started.keep_listing()), asyncio.timeout(60):
        installed.set()
        assert await started.queue.take() == KEY
    assert set(asked) == {"ClusterKafkaConnection"}, "nothing else is listed for that"


async def test_without_the_crd_of_fleets_all_else_is_read() -> None:
    """It is newer than the others, as that of cluster connections is."""
    api: Any = ListingApi()

    async def missing(kind: Kind, namespace: str | None, label_selector: str = "") -> Any:
        if kind is CONSUMER_FLEET:
            raise KindMissing("install the CRDs")
        return await ListingApi.list_all(api, kind, namespace, label_selector)

    api.list_all = missing
    api.add(CONSUMER_GROUP, group_object())
    started = Operator(api, Settings.model_validate({}))
    await started.relist()
    await started.fleets.begin()
    assert started.store.get(CONSUMER_GROUP, KEY) is not None
    assert started.fleets.fleets.ledger.fleets() == ()


async def test_fleets_of_its_own_namespace_are_known_before_a_pass_and_survive_the_lists_of_others() -> None:
    api: Any = ListingApi()
    api.add(CONSUMER_GROUP, group_object())
    api.add(CONSUMER_FLEET, fleet_object(namespace="operations", namespaces=["*"]))
    started = Operator(api, Settings.model_validate({"pod_namespace": "operations", "namespace": KEY.namespace}))
    await started.relist()
    await started.fleets.begin()
    assert started.fleets.fleets.ledger.fleets_of(str(KEY)) == ("operations/fleet",)
    await started.relist()
    assert started.fleets.fleets.ledger.fleets_of(str(KEY)) == ("operations/fleet",)
    parts = dict(started.fleets.parts())
    assert list(parts) == ["fleets", "fleets-clock", "campaigns", "own-fleets"]
    for part in parts.values():
        part.close()


async def test_the_event_loop_counts_in_fleets_and_any_thread_writes_it() -> None:
    """A thread would meet what the ledger keeps halfway through a change."""
    api: Any = ListingApi()
    api.add(CONSUMER_FLEET, fleet_object())
    started = Operator(api, Settings.model_validate({}))
    await started.relist()
    await started.fleets.begin()
    of_it = f'slackwater_fleet_open{{fleet="fleet",namespace="{KEY.namespace}"}} 1.0'
    assert of_it not in started.metrics.text().decode()
    started.metrics.take_stock()
    assert of_it in (await asyncio.to_thread(started.metrics.text)).decode()


def of_two_namespaces(*failures: Exception) -> Operator:
    """It works in one, and a fleet of its own reaches there. The list of that fleet fails so, the others do not."""
    api: Any = ListingApi()
    fails = list(failures)

    async def list_all(kind: Kind, namespace: str | None, label_selector: str = "") -> Any:
        if namespace == "operations" and fails:
            raise fails.pop(0)
        return await ListingApi.list_all(api, kind, namespace, label_selector)

    api.list_all = list_all
    api.add(CONSUMER_GROUP, group_object())
    api.add(CONSUMER_FLEET, fleet_object(namespace="operations", namespaces=["*"]))
    return Operator(api, Settings.model_validate({"pod_namespace": "operations", "namespace": KEY.namespace}))


async def test_no_group_is_without_a_fleet_because_its_fleets_could_not_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_fleets, "AT_FIRST_AGAIN_S", 0.0)
    started = of_two_namespaces(ClusterUnreachable("no answer"), ClusterUnreachable("no answer"))
    await started.relist()
    await started.fleets.begin()
    assert started.fleets.fleets.ledger.fleets_of(str(KEY)) == ("operations/fleet",)


async def test_an_operator_that_may_ask_nothing_does_not_begin() -> None:
    started = of_two_namespaces(NotLetIn("who are you (401)"))
    await started.relist()
    with pytest.raises(NotLetIn):
        await started.fleets.begin()


async def test_what_fleets_keep_goes_on_as_a_part() -> None:
    api: Any = ListingApi()
    api.add(CONSUMER_GROUP, group_object())
    api.add(CONSUMER_FLEET, fleet_object())
    started = Operator(api, Settings.model_validate({}))
    await started.relist()
    await started.fleets.begin()
    written = asyncio.Event()
    started.store.listener = lambda kind, key, obj: written.set()
    parts = dict(started.fleets.parts())
    assert list(parts) == ["fleets", "fleets-clock", "campaigns"]
    async with working(parts["fleets"]), working(parts["fleets-clock"]), working(parts["campaigns"]):
        async with asyncio.timeout(60):
            await written.wait()
    assert "status" in api.objects["ConsumerFleet", KEY.namespace, "fleet"]


class TwoNamespaces(FakeApi):
    """Between the lists of its two namespaces, a group appears in the first: its watch was quicker than the lists."""

    def __init__(self) -> None:
        super().__init__()
        self.store: Store | None = None

    async def list_all(self, kind: Kind, namespace: str | None, label_selector: str = "") -> Any:
        if kind is not CONSUMER_GROUP:
            return (), self.version
        listed, _ = await super().list_all(kind, namespace, label_selector)
        if namespace == "shop":
            return listed, 100
        if self.store is not None:
            self.store.put(CONSUMER_GROUP, in_namespace("shop", version=150))
        return listed, 200


def in_namespace(namespace: str, version: int) -> dict[str, Any]:
    made = group_object()
    metadata = {**made["metadata"], "namespace": namespace, "resourceVersion": str(version)}
    return {**made, "metadata": metadata}


async def test_an_operator_of_some_namespaces_lists_each_of_them_and_no_other() -> None:
    api: Any = TwoNamespaces()
    for namespace in ("shop", "bank", "elsewhere"):
        api.add(CONSUMER_GROUP, in_namespace(namespace, version=50))
    started = Operator(api, Settings.model_validate({"namespace": "shop,bank"}))
    await started.relist()
    assert sorted(key.namespace for key in started.store.keys(CONSUMER_GROUP)) == ["bank", "shop"]


async def test_what_came_after_the_first_list_is_not_forgotten_for_the_last_ones_sake() -> None:
    api: Any = TwoNamespaces()
    started = Operator(api, Settings.model_validate({"namespace": "shop,bank"}))
    api.store = started.store
    await started.relist()
    assert [key.namespace for key in started.store.keys(CONSUMER_GROUP)] == ["shop"]


async def test_without_the_right_to_list_it_ends_at_once() -> None:
    with pytest.raises(ClusterRefused, match="forbidden"):
        await _first_list(operator(ClusterRefused("consumergroups is forbidden")))


class RefusingApi(FakeApi):
    """May not read these namespaces."""

    def __init__(self, *refused: str | None) -> None:
        super().__init__()
        self.refused = set(refused)

    async def list_all(self, kind: Kind, namespace: str | None, label_selector: str = "") -> Any:
        if namespace in self.refused:
            raise Forbidden(f'cannot list resource "{kind.plural}" in the namespace "{namespace}" (403)')
        return await super().list_all(kind, namespace, label_selector)


async def test_a_namespace_that_may_not_be_read_ends_nobody_else_and_is_not_forgotten() -> None:
    api: Any = RefusingApi(None)
    for namespace in ("shop", "bank"):
        api.add(CONSUMER_GROUP, in_namespace(namespace, version=50))
    started = Operator(api, Settings.model_validate({"namespace": "shop,bank"}))
    await started.relist()
    api.refused.add("shop")
    api.objects.clear()
    await started.relist()
    assert [key.namespace for key in started.store.keys(CONSUMER_GROUP)] == ["shop"]
    assert b'slackwater_namespace_refused{namespace="shop"} 1.0' in started.metrics.text()
    api.refused = {None}
    await started.relist()
    assert started.store.keys(CONSUMER_GROUP) == []
    assert b'slackwater_namespace_refused{namespace="shop"} 0.0' in started.metrics.text()


async def test_a_namespace_that_may_be_read_again_is_found_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REFUSED_AGAIN_S", 0.01)
    api: Any = RefusingApi("shop")
    api.add(CONSUMER_GROUP, in_namespace("shop", version=50))
    started = Operator(api, Settings.model_validate({"namespace": "shop,bank"}))
    await started.relist()
    async with working(started.keep_listing()), asyncio.timeout(60):
        api.refused.clear()
        assert (await started.queue.take()).namespace == "shop"
    assert ("GET", "consumergroups") in api.requests


async def test_an_operator_that_starts_after_the_role_is_gone_knows_whom_to_let_go() -> None:
    """By the right to list ConsumerGroups everywhere, which is all that it has there."""
    api: Any = RefusingApi("shop")
    for namespace in ("shop", "elsewhere"):
        api.add(CONSUMER_GROUP, in_namespace(namespace, version=50))
    started = Operator(api, Settings.model_validate({"namespace": "shop,bank"}))
    await started.relist()
    assert [key.namespace for key in started.store.keys(CONSUMER_GROUP)] == ["shop"]
    api.objects.clear()
    await started.relist()
    assert started.store.keys(CONSUMER_GROUP) == []


async def test_only_what_was_refused_is_listed_sooner() -> None:
    api: Any = RefusingApi("shop")
    api.add(CONSUMER_GROUP, in_namespace("bank", version=50))
    started = Operator(api, Settings.model_validate({"namespace": "shop,bank"}))
    await started.relist()
    api.objects.clear()
    await started.relist(["shop"])
    assert [key.namespace for key in started.store.keys(CONSUMER_GROUP)] == ["bank"]


async def test_an_operator_starts_although_all_its_namespaces_are_refused() -> None:
    """They are being deleted: it has to be there to let their groups go."""
    api: Any = RefusingApi("shop", "bank", None)
    await _first_list(Operator(api, Settings.model_validate({"namespace": "shop,bank"})))


async def test_an_operator_of_all_namespaces_that_may_not_read_them_ends() -> None:
    api: Any = RefusingApi(None)
    with pytest.raises(Forbidden):
        await _first_list(Operator(api, Settings.model_validate({})))


@pytest.mark.parametrize("failure", [ClusterUnreachable("no answer"), KeyError("a bug")])
async def test_a_group_that_fails_stops_no_other_and_is_tried_again(failure: Exception) -> None:
    started, seen = operator(), asyncio.Queue[Key]()
    failures = [failure]

    async def reconcile(key: Key) -> float | None:
        seen.put_nowait(key)
        if failures and key == KEY:
            raise failures.pop()
        return None

    started.reconciler.reconcile = reconcile  # type: ignore[method-assign]
    other = Key("default", "refunds")
    for key in (KEY, other):
        started.queue.add(key)
    async with working(started.work()), asyncio.timeout(60):
        assert [await seen.get() for _ in range(3)] == [KEY, other, KEY]


async def test_a_look_that_was_asked_for_later_comes() -> None:
    started, seen = operator(), asyncio.Queue[Key]()

    async def reconcile(key: Key) -> float | None:
        seen.put_nowait(key)
        return 0.01

    started.reconciler.reconcile = reconcile  # type: ignore[method-assign]
    started.queue.add(KEY)
    async with working(started.work()), asyncio.timeout(60):
        assert [await seen.get() for _ in range(3)] == [KEY, KEY, KEY]


async def test_what_was_deleted_while_nobody_watched_is_found_when_kopf_has_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LISTING_SETTLES_S", 0.0)
    started = operator()
    await started.relist()
    assert await started.queue.take() == KEY
    started.queue.done(KEY)
    api: Any = started.api
    api.objects.clear()
    async with working(started.keep_listing()), asyncio.timeout(60):
        started.listing_wanted.set()
        assert await started.queue.take() == KEY
    assert started.store.get(CONSUMER_GROUP, KEY) is None


async def test_an_api_server_that_is_away_does_not_end_the_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LISTING_SETTLES_S", 0.0)
    started, failed = operator(ClusterUnreachable("no answer")), asyncio.Event()
    relist = started.relist

    async def relist_and_tell(namespaces: Any = None) -> None:
        try:
            await relist(namespaces)
        finally:
            failed.set()

    started.relist = relist_and_tell  # type: ignore[method-assign]
    async with working(started.keep_listing()), asyncio.timeout(60):
        started.listing_wanted.set()
        await failed.wait()
        started.listing_wanted.set()
        assert await started.queue.take() == KEY


async def test_a_pass_that_does_not_end_shows_in_the_health(monkeypatch: pytest.MonkeyPatch) -> None:
    started = operator()
    assert started.problem() == ""
    monkeypatch.setattr(started.queue, "in_hand_for", lambda: LONGEST_PASS_S + 1)
    assert "does not come to an end" in started.problem()


async def for_ever() -> None:
    await asyncio.Event().wait()


async def test_when_kopf_has_ended_after_a_signal_all_is_well() -> None:
    part: asyncio.Task[object] = asyncio.create_task(for_ever())

    async def kopf() -> None:
        part.cancel()
        await asyncio.sleep(0)

    await until_one_ends(asyncio.create_task(kopf()), [part])


async def test_when_a_watch_has_failed_the_process_fails() -> None:
    part: asyncio.Task[object] = asyncio.create_task(for_ever())

    async def kopf() -> None:
        raise SlackwaterError("a watch ended")

    with pytest.raises(SlackwaterError, match="a watch ended"):
        await until_one_ends(asyncio.create_task(kopf()), [part])
    part.cancel()
    await asyncio.gather(part, return_exceptions=True)


async def test_when_a_part_ends_by_itself_kopf_ends_too_and_the_process_fails() -> None:
    watching = asyncio.create_task(for_ever())

    async def observers() -> object:
        return True

    with pytest.raises(SlackwaterError, match="a part of the operator has ended"):
        await until_one_ends(watching, [asyncio.create_task(observers())])
    assert watching.cancelled()


async def test_what_made_a_part_fail_is_what_is_said() -> None:
    async def relist() -> object:
        raise ClusterRefused("pods is forbidden")

    watching = asyncio.create_task(for_ever())
    with pytest.raises(ClusterRefused, match="pods is forbidden"):
        await until_one_ends(watching, [asyncio.create_task(relist())])


def standing_for(leases: Leases) -> Operator:
    api: Any = ListingApi()
    api.add(CONSUMER_GROUP, group_object())
    lease_api: Any = leases
    return Operator(api, Settings.model_validate({}), Leadership(lease_api, LEASE_KEY, 15, "a"))


async def test_one_that_stands_by_is_ready_and_makes_no_pass() -> None:
    started, passes, put_off = standing_for(Leases()), [], asyncio.Event()

    async def reconcile(key: Key) -> float | None:
        passes.append(key)
        return None

    def failed(key: Key) -> float:
        put_off.set()
        return 0.0

    started.reconciler.reconcile = reconcile  # type: ignore[method-assign]
    started.queue.failed = failed  # type: ignore[method-assign]
    assert started.not_ready() == ""
    assert b"slackwater_leading 0.0" in started.metrics.text()
    started.queue.add(KEY)
    async with working(started.work()), asyncio.timeout(60):
        await put_off.wait()
    assert passes == []


async def test_one_that_leads_is_ready_when_it_has_read_the_cluster() -> None:
    leases = Leases()
    leases.held_by("")
    started = standing_for(leases)
    assert started.leadership is not None
    await started.leadership.acquire()
    assert started.not_ready() == "the cluster's objects have not been read yet"
    assert b"slackwater_leading 1.0" in started.metrics.text()
    started.ready.set()
    assert started.not_ready() == ""


@pytest.mark.parametrize(("unanswered", "holder"), [(0, ""), (1, "a")])
async def test_the_lease_is_given_back_unless_a_write_may_still_be_done(unanswered: int, holder: str) -> None:
    leases = Leases()
    leases.held_by("")
    started = standing_for(leases)
    assert started.leadership is not None
    await started.leadership.acquire()
    api: Any = started.api
    api.unanswered_writes = unanswered
    await started.end_leadership()
    assert leases.holder == holder


def test_without_a_lease_the_one_replica_leads() -> None:
    assert b"slackwater_leading 1.0" in operator().metrics.text()


async def test_sigterm_ends_the_preparation() -> None:
    async def prepare() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await for_ever()

    async with asyncio.timeout(60):
        assert not await until_sigterm(prepare())


async def test_a_preparation_that_ends_by_itself_ends_well_or_says_why_not() -> None:
    async def fail() -> None:
        raise ClusterRefused("leases is forbidden")

    assert await until_sigterm(asyncio.sleep(0))
    with pytest.raises(ClusterRefused, match="forbidden"):
        await until_sigterm(fail())


async def test_a_list_that_fails_after_kopfs_own_is_soon_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what was deleted while no watch was there nothing else tells for ten minutes."""
    monkeypatch.setattr(module, "_LISTING_SETTLES_S", 0.0)
    monkeypatch.setattr("slackwater.shell.listing._AGAIN_S", 0.0)
    started = operator()
    await started.relist()
    started.queue.done(await started.queue.take())
    api: Any = started.api
    api.objects.clear()
    api.list_failures = [ClusterUnreachable("too many requests (429)"), Forbidden("forbidden (403)")]
    async with working(started.keep_listing()), asyncio.timeout(60):
        started.listing_wanted.set()
        assert await started.queue.take() == KEY
    assert started.store.get(CONSUMER_GROUP, KEY) is None


async def test_what_the_cluster_refuses_for_minutes_ends_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """An API server that has just started refuses for a moment; a right that was taken away is for somebody to mend."""
    monkeypatch.setattr(module, "_LISTING_SETTLES_S", 0.0)
    monkeypatch.setattr("slackwater.shell.listing._AGAIN_S", 0.0)
    monkeypatch.setattr("slackwater.shell.listing.REFUSED_FOR_S", 0.0)
    started = operator(*[Forbidden("consumergroups is forbidden (403)")] * 2)
    started.listing_wanted.set()
    async with asyncio.timeout(60):
        with pytest.raises(Forbidden):
            await started.keep_listing()


async def test_an_api_server_that_is_behind_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it lists is old; the next list has to come up to what was known when it was first seen to be behind."""
    started = operator()
    api: Any = started.api
    await started.relist()
    first = api.version + 10
    started.store.put(CONSUMER_GROUP, group_object(first))
    with pytest.raises(ClusterUnreachable, match="its list of consumergroups is older"):
        await started.relist()
    monkeypatch.setattr("slackwater.shell.listing.RESTORED_AFTER_S", 0.0)  # much later
    api.version = first
    started.store.put(CONSUMER_GROUP, group_object(first + 10))
    with pytest.raises(ClusterUnreachable, match="its list of consumergroups is older"):
        await started.relist()
    api.version = first + 10
    await started.relist()


LOOKS = {
    "behind for 30 s": ((0.0, 90, 100), (29.0, 90, 100), (30.0, 90, 100)),
    "each list comes up to what was known before it": tuple((10.0 * i, 100 + 50 * i, 150 + 50 * i) for i in range(31)),
}


@pytest.mark.parametrize("case", LOOKS)
def test_the_last_look_is_one_too_many(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """Seconds, the version of the list, and what was known."""
    now, behind = [0.0], Behind()
    monkeypatch.setattr("slackwater.shell.listing.time", SimpleNamespace(monotonic=lambda: now[0]))
    *looks, last = LOOKS[case]
    for now[0], version, known in looks:
        with pytest.raises(ClusterUnreachable):
            behind.judge(CONSUMER_GROUP, version, known)
    now[0], version, known = last
    with pytest.raises(VersionsWentBack):
        behind.judge(CONSUMER_GROUP, version, known)


def test_of_a_pause_without_a_list_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    now, behind = [0.0], Behind()
    monkeypatch.setattr("slackwater.shell.listing.time", SimpleNamespace(monotonic=lambda: now[0]))
    for now[0] in (0.0, 100.0, 120.0):
        with pytest.raises(ClusterUnreachable):
            behind.judge(CONSUMER_GROUP, 90, 100)


async def test_an_etcd_that_was_restored_from_a_backup_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that comes would be taken for old, and watches from the future would tell nothing."""
    monkeypatch.setattr("slackwater.shell.listing.RESTORED_AFTER_S", 0.0)
    started = operator()
    api: Any = started.api
    await started.relist()
    started.store.put(CONSUMER_GROUP, group_object(api.version + 10))
    with pytest.raises(VersionsWentBack, match="consumergroups have older versions than before: etcd was restored"):
        await started.relist()


async def test_where_no_namespace_can_be_listed_no_etcd_was_restored() -> None:
    api: Any = RefusingApi("shop")
    started = Operator(api, Settings.model_validate({"namespace": "shop"}))
    started.store.put(CONSUMER_GROUP, group_object(10))
    await started.relist()


@pytest.mark.parametrize("problem", [None, SlackwaterError("refused")])
async def test_passes_that_wait_for_nobody_let_others_have_their_turns(problem: Exception | None) -> None:
    """Probes, the Lease and the watches among them: as after a Lease is lost, when each pass fails at once."""
    started, turns = operator(), 0
    keys = [Key("default", f"group-{number}") for number in range(500)]

    async def passed_at_once(key: Key) -> None:
        left.remove(key)
        if problem is not None:
            raise problem

    async def somebody_else() -> None:
        nonlocal turns
        while left:
            turns += 1
            await asyncio.sleep(0)

    started.reconciler.reconcile = passed_at_once  # type: ignore[method-assign]
    left = set(keys)
    for key in keys:
        started.queue.add(key)
    async with working(started.work()), asyncio.timeout(60):
        await somebody_else()
    assert turns >= len(keys)
