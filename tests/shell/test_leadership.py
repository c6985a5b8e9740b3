"""Who may act: the holder of the Lease, by its own clock; nobody else, and it no longer than that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from slackwater.adapters.cluster.errors import ClusterRefused, ClusterUnreachable, Conflict, Forbidden, WebhookFailed
from slackwater.shell import leadership as module
from slackwater.shell.leadership import Leadership, NotLeading, own_identity
from tests.adapters.kafka.skipping_loop import run_skipping
from tests.core.parameters import first_of
from tests.shell.leases import LEASE_KEY, Leases, Unruly

LEASE_S = 15


def replica(leases: Leases, name: str = "a", lease_s: int = LEASE_S) -> Leadership:
    api: Any = leases
    return Leadership(api, LEASE_KEY, lease_s, name, asyncio.get_running_loop().time)


def may_write(leadership: Leadership) -> bool:
    try:
        return leadership.before_write() > 0
    except NotLeading:
        return False


async def seconds_until(condition: Callable[[], bool], within_s: float = 120.0) -> float:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while not condition():
        assert loop.time() - began < within_s, "waited in vain"
        await asyncio.sleep(0.05)
    return loop.time() - began


class Running:
    """A replica that stands for the Lease, and leads until it has lost it."""

    def __init__(self, leadership: Leadership) -> None:
        self.leadership = leadership
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        await self.leadership.acquire()
        await self.leadership.keep()

    def kill(self) -> None:
        self.task.cancel()


async def one_that_leads() -> tuple[Leases, Leadership]:
    leases = Leases()
    leases.held_by("")
    leader = replica(leases)
    await leader.acquire()
    return leases, leader


async def one_that_runs() -> tuple[Leases, Running]:
    leases = Leases()
    leases.held_by("")
    leader = Running(replica(leases))
    await seconds_until(lambda: may_write(leader.leadership))
    return leases, leader


def test_a_lease_that_nobody_holds_is_taken_at_once() -> None:
    async def scenario() -> None:
        leases = Leases()
        leases.held_by("")
        leader = replica(leases)
        assert not may_write(leader)
        await asyncio.wait_for(leader.acquire(), 0.1)
        assert leases.holder == "a"
        assert leader.before_write() == pytest.approx(LEASE_S * 0.8, abs=0.1)

    run_skipping(scenario())


def test_a_lease_that_a_chart_made_without_a_spec_is_free() -> None:
    async def scenario() -> None:
        leases = Leases()
        leases.held_by("")
        assert leases.lease is not None
        del leases.lease["spec"]
        await asyncio.wait_for(replica(leases).acquire(), 0.1)
        assert leases.holder == "a"

    run_skipping(scenario())


def test_where_the_lease_is_missing_its_leader_may_still_be_at_work() -> None:
    async def scenario() -> None:
        leases = Leases()
        running = Running(replica(leases))
        waited_s = await seconds_until(lambda: may_write(running.leadership))
        assert LEASE_S <= waited_s < LEASE_S * 1.3
        assert leases.writes[:2] == ["unknown", "a"]
        running.kill()

    run_skipping(scenario())


def test_a_lease_is_renewed_for_as_long_as_it_is_held_and_another_waits() -> None:
    async def scenario() -> None:
        leases = Leases(latency_s=0.1)
        leases.held_by("")
        leader = Running(replica(leases))
        await seconds_until(lambda: may_write(leader.leadership))
        other = Running(replica(leases, "b"))
        for _ in range(200):
            await asyncio.sleep(1)
            assert leader.leadership.seconds_left() > LEASE_S / 2
            assert not may_write(other.leadership)
        assert set(leases.writes) == {"", "a"}
        leader.kill()
        other.kill()

    run_skipping(scenario())


def test_the_lease_of_a_killed_leader_is_taken_when_it_has_run_out_and_not_before() -> None:
    async def scenario() -> None:
        leases, leader = await one_that_runs()
        other = Running(replica(leases, "b"))
        await asyncio.sleep(20)
        leader.kill()
        await seconds_until(lambda: not may_write(leader.leadership))
        assert not may_write(other.leadership)
        waited_s = await seconds_until(lambda: may_write(other.leadership))
        assert waited_s < LEASE_S * 0.5
        other.kill()

    run_skipping(scenario())


def test_the_holder_says_how_long_it_holds_even_where_the_newcomer_is_set_to_less() -> None:
    async def scenario() -> None:
        leases = Leases()
        leases.held_by("old", leaseDurationSeconds=60)
        newcomer = Running(replica(leases, "new", lease_s=3))
        assert await seconds_until(lambda: may_write(newcomer.leadership)) >= 60
        newcomer.kill()

    run_skipping(scenario())


def test_whoever_can_write_the_lease_for_a_moment_stops_nobody_for_years() -> None:
    async def scenario() -> None:
        leases = Leases()
        leases.held_by("old", leaseDurationSeconds=2**31 - 1)
        newcomer = Running(replica(leases, "new", lease_s=3))
        assert 600 <= await seconds_until(lambda: may_write(newcomer.leadership), within_s=700) < 610
        newcomer.kill()

    run_skipping(scenario())


def test_a_lease_that_is_missing_and_may_not_be_made_is_waited_for_and_said_once() -> None:
    async def scenario() -> None:
        leases = Leases(no_creation=Forbidden("leases is forbidden"))
        standing = Running(replica(leases))
        with capture_logs() as logs:
            await asyncio.sleep(5 * LEASE_S)
        assert not standing.task.done()
        (said,) = [each for each in logs if each["event"] == "lease_missing"]
        assert "helm upgrade" in said["what_to_do"]
        leases.held_by("")  # the chart makes one
        await seconds_until(lambda: may_write(standing.leadership), within_s=LEASE_S * 1.3)
        standing.kill()

    run_skipping(scenario())


@pytest.mark.parametrize("is_seen_missing", [True, False])
def test_one_that_was_deleted_and_made_again_without_a_holder_is_not_taken_while_its_leader_may_act(
    is_seen_missing: bool,
) -> None:
    async def scenario() -> None:
        leases, leader = await one_that_runs()
        other = Running(replica(leases, "b"))
        await asyncio.sleep(20)
        leader.kill()  # it acts on, as one does of which the API server hears nothing
        leases.lease = None
        leases.no_creation = Forbidden("leases is forbidden")
        await asyncio.sleep(LEASE_S / 4 if is_seen_missing else 0)
        leases.held_by("")  # the chart makes one
        while may_write(leader.leadership):
            assert not may_write(other.leadership)
            await asyncio.sleep(0.1)
        await seconds_until(lambda: may_write(other.leadership))
        other.kill()

    run_skipping(scenario())


def test_release_lets_another_one_take_it_at_its_next_look() -> None:
    async def scenario() -> None:
        leases, leader = await one_that_leads()
        other = Running(replica(leases, "b"))
        await asyncio.sleep(1)
        await leader.release()
        assert not may_write(leader)
        assert await seconds_until(lambda: may_write(other.leadership)) <= LEASE_S / 5 + 0.1
        other.kill()

    run_skipping(scenario())


def test_what_another_one_holds_is_not_released() -> None:
    async def scenario() -> None:
        leases, leader = await one_that_leads()
        leases.held_by("b")
        await leader.release()
        assert leases.holder == "b"

    run_skipping(scenario())


@pytest.mark.parametrize("trouble", [{"hangs": True}, {"failure": ClusterUnreachable("no answer")}])
def test_a_release_that_is_not_answered_does_not_hold_up_the_end(trouble: dict[str, Any]) -> None:
    async def scenario() -> None:
        leases, leader = await one_that_leads()
        for name, value in trouble.items():
            setattr(leases, name, value)
        await asyncio.wait_for(leader.release(), 2)
        assert not may_write(leader)

    run_skipping(scenario())


@pytest.mark.parametrize("trouble", [{"hangs": True}, {"failure": ClusterUnreachable("no answer")}])
def test_nothing_is_written_any_more_before_another_one_can_take_the_lease(trouble: dict[str, Any]) -> None:
    async def scenario() -> None:
        leases, leader = await one_that_runs()
        for name, value in trouble.items():
            setattr(leases, name, value)
        assert await seconds_until(lambda: not may_write(leader.leadership)) <= LEASE_S * 0.8 + 0.1
        with pytest.raises(NotLeading, match=r"nothing is written.*slackwater-system/slackwater"):
            leader.leadership.before_write()
        assert not leader.task.done()
        leader.kill()

    run_skipping(scenario())


def test_time_counts_from_before_the_renewal_was_sent() -> None:
    async def scenario() -> None:
        leases = Leases()
        leases.held_by("")
        leader = replica(leases)
        leases.latency_s = 0.9  # read there and back, then the write there and back
        await leader.acquire()
        assert leader.seconds_left() == pytest.approx(LEASE_S * 0.8 - 1.8, abs=0.1)

    run_skipping(scenario())


def test_after_an_outage_it_goes_on_if_the_lease_is_still_its_own() -> None:
    async def scenario() -> None:
        leases, leader = await one_that_runs()
        leases.hangs = True
        await asyncio.sleep(100)
        assert not may_write(leader.leadership)
        leases.hangs = False
        await seconds_until(lambda: may_write(leader.leadership), within_s=LEASE_S / 2)
        leader.kill()

    run_skipping(scenario())


@pytest.mark.parametrize(("holder", "said"), [("b", "b does"), ("", "nobody does"), (None, "it was deleted")])
def test_it_ends_when_the_lease_is_no_longer_its_own(holder: str | None, said: str) -> None:
    async def scenario() -> None:
        leases, leader = await one_that_leads()
        if holder is None:
            leases.lease = None
        else:
            leases.held_by(holder)
        with pytest.raises(NotLeading, match=said):
            await leader.keep()
        assert not may_write(leader)

    run_skipping(scenario())


def test_who_was_slower_waits_on() -> None:
    async def scenario() -> None:
        leases = Leases(latency_s=0.1)
        leases.held_by("")
        first, second = Running(replica(leases, "a")), Running(replica(leases, "b"))
        await asyncio.sleep(60)
        assert sorted([may_write(first.leadership), may_write(second.leadership)]) == [False, True]
        first.kill()
        second.kill()

    run_skipping(scenario())


@pytest.mark.parametrize(
    "failure", [ClusterUnreachable("no answer"), Conflict("somebody was quicker"), WebhookFailed("it is down")]
)
def test_it_waits_while_the_lease_cannot_be_seen(failure: Exception) -> None:
    async def scenario() -> None:
        leases = Leases(failure=failure)
        leases.held_by("")
        standing = Running(replica(leases))
        await asyncio.sleep(60)
        leases.failure = None
        await seconds_until(lambda: may_write(standing.leadership), within_s=LEASE_S / 2)
        standing.kill()

    run_skipping(scenario())


def test_without_the_right_to_a_lease_it_ends_at_once() -> None:
    async def scenario() -> None:
        leases = Leases(failure=ClusterRefused("leases is forbidden"))
        with pytest.raises(ClusterRefused, match="forbidden"):
            await replica(leases).acquire()

    run_skipping(scenario())


def test_the_clocks_that_people_set_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A year forth and back at each look: neither the leader's time nor that of the one who waits changes."""

    class Jumping(datetime):
        year_now = 2030

        @classmethod
        def now(cls, tz: Any = None) -> Jumping:
            cls.year_now = 4060 - cls.year_now - 1
            return cls(cls.year_now, 1, 1, tzinfo=tz)

    monkeypatch.setattr(module, "datetime", Jumping)

    async def scenario() -> None:
        leases, leader = await one_that_runs()
        other = Running(replica(leases, "b"))
        for _ in range(100):
            await asyncio.sleep(1)
            assert may_write(leader.leadership)
            assert not may_write(other.leadership)
        leader.kill()
        other.kill()

    run_skipping(scenario())


@pytest.mark.parametrize("seed", first_of(*range(10)))
def test_never_may_two_act_whatever_is_lost_or_late(seed: int) -> None:
    """Four replicas; each is killed and started again now and then, as Kubernetes does it, and one leads in the end."""

    async def scenario() -> None:
        dice = Random(seed)
        leases = Unruly(dice=dice)
        running = [Running(replica(leases, f"{n}-0", lease_s=3)) for n in range(4)]
        terms = 0
        leading = ""
        for moment in range(2000):
            await asyncio.sleep(0.1)
            acting = [each.leadership.identity for each in running if may_write(each.leadership)]
            assert len(acting) <= 1, f"{acting} at once"
            terms += acting not in ([], [leading])
            leading = acting[0] if acting else leading
            for n, each in enumerate(running):
                if each.task.done() or dice.random() < 0.002:
                    # Killed, it may still act by the clock: of that one nothing more comes, which is all that differs.
                    each.kill()
                    running[n] = Running(replica(leases, f"{n}-{moment}", lease_s=3))
        assert terms > 2
        leases.losing = 0.0
        await seconds_until(lambda: any(may_write(each.leadership) for each in running), within_s=60)
        for each in running:
            each.kill()

    run_skipping(scenario())


def test_a_process_that_is_started_again_is_another_one() -> None:
    assert own_identity("operator-0").startswith("operator-0_")
    assert own_identity("operator-0") != own_identity("operator-0")
