"""What time adds to the modelled coordinator: sessions, rebalances that wait for the dead, processes that come back."""

from __future__ import annotations

from slackwater.core.world.observation import GroupObservation, GroupState, refs
from tests.core.coordinator.model import Error
from tests.core.simulation.broker import Broker, Process

SESSION_S = 12


class Clock:
    """A broker whose seconds pass."""

    def __init__(self) -> None:
        self.broker, self.now = Broker(6, SESSION_S), 0.0

    def passes(self, seconds: int) -> GroupObservation:
        for _ in range(seconds):
            self.now += 1.0
            self.broker.tick(self.now, 1.0)
        seen = self.broker.observe(self.now)
        assert isinstance(seen, GroupObservation)
        return seen

    def started(self, name: str, address: str = "", protocols: tuple[str, ...] = ("range",)) -> Process:
        process = Process(name, address or name, protocols=protocols)
        self.broker.join(process, self.now)
        return process


def test_a_rebalance_waits_for_a_dead_static_member_until_its_session_ends() -> None:
    clock = Clock()
    clock.started("a")
    second = clock.started("b")
    clock.passes(3)
    second.alive = False
    clock.started("c")
    assert clock.passes(10).state is GroupState.PREPARING_REBALANCE
    after = clock.passes(4)
    assert after.state is GroupState.STABLE
    assert [member.instance_id for member in after.members] == ["a", "c"]


def test_a_static_member_that_returns_in_time_costs_no_rebalance_and_keeps_the_first_ones_host() -> None:
    clock = Clock()
    first = clock.started("a", "10.0.0.1")
    clock.passes(3)
    first.alive = False
    clock.passes(5)
    second = clock.started("a", "10.0.0.2")
    seen = clock.passes(24)
    assert clock.broker.rebalances == 1
    assert [(member.member_id, member.host) for member in seen.members] == [(second.member_id, "/10.0.0.1")]


def test_a_kip_848_process_that_meets_a_held_id_never_joins() -> None:
    clock = Clock()
    clock.started("a", protocols=()).alive = False
    clock.passes(1)
    second = clock.started("a", protocols=())
    clock.passes(20)
    clock.broker.join(second, clock.now)
    assert second.refused is Error.UNRELEASED_INSTANCE_ID
    assert clock.passes(1).members == ()


def test_a_process_that_was_taken_out_of_the_group_joins_again() -> None:
    clock = Clock()
    process = clock.started("a")
    member = clock.passes(3).members[0]
    clock.broker.remove(refs([member]), clock.now)
    clock.broker.join(process, clock.now)
    back = clock.passes(3).members
    assert [each.instance_id for each in back] == ["a"]
    assert back[0].member_id != member.member_id


def test_a_fenced_process_does_not_take_its_id_back() -> None:
    clock = Clock()
    first = clock.started("a", "10.0.0.1")
    clock.passes(3)
    second = clock.started("a", "10.0.0.2")
    clock.broker.join(first, clock.now)
    assert clock.broker.has_fenced(first)
    assert clock.passes(3).members[0].member_id == second.member_id
