"""Scenarios of requests, each about one thing that the strategies rely on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from tests.core.coordinator.play import LONG_REBALANCE_MS, SHORT_REBALANCE_MS, Player

RANGE, BOTH, COOPERATIVE = "range", "range,cooperative-sticky", "cooperative-sticky"


async def _formed(play: Player, offers: str, *, static: bool = True, short: bool = False) -> None:
    await play.start("a", "b", "c", offers=offers, static=static, short=short)
    await play.settle()


async def _replaced(play: Player, who: str, by: str, offers: str) -> None:
    """The process ends without leaving, and another one starts under its instance id."""
    await play.kill(who)
    await play.start(by, offers=offers, instance=by[0])
    await play.settle()


async def static_member_returns_unchanged(play: Player) -> None:
    await _formed(play, RANGE)
    await _replaced(play, "b", "b2", RANGE)
    await play.heartbeat("b")


async def static_leader_returns_unchanged(play: Player) -> None:
    await _formed(play, RANGE)
    await _replaced(play, "a", "a2", RANGE)
    await play.heartbeat("a")


async def static_member_returns_with_another_list_and_the_same_choice(play: Player) -> None:
    await _formed(play, RANGE)
    await _replaced(play, "c", "c2", BOTH)


async def static_member_returns_with_a_list_that_changes_the_choice(play: Player) -> None:
    await _formed(play, BOTH)
    await _replaced(play, "c", "c2", COOPERATIVE)


async def newcomer_without_a_common_protocol(play: Player) -> None:
    await _formed(play, RANGE)
    await play.start("d", offers=COOPERATIVE)
    await play.start("e", offers=COOPERATIVE, static=False)
    await play.settle()


async def two_bounces_of_static_members(play: Player) -> None:
    await _formed(play, RANGE)
    for offers, number in ((BOTH, 2), (COOPERATIVE, 3)):
        for name in "cba":
            before = name if number == 2 else f"{name}2"
            await _replaced(play, before, f"{name}{number}", offers)


async def two_bounces_of_static_members_back(play: Player) -> None:
    await _formed(play, COOPERATIVE)
    for offers, number in ((BOTH, 2), (RANGE, 3)):
        for name in "cba":
            before = name if number == 2 else f"{name}2"
            await _replaced(play, before, f"{name}{number}", offers)


async def two_bounces_of_dynamic_members(play: Player) -> None:
    await _formed(play, RANGE, static=False)
    for offers, number in ((BOTH, 2), (COOPERATIVE, 3)):
        for name in "cba":
            await play.leave(name if number == 2 else f"{name}2")
            await play.settle()
            await play.start(f"{name}{number}", offers=offers, static=False)
            await play.settle()


async def first_bounce_skipped(play: Player) -> None:
    await _formed(play, RANGE)
    await _replaced(play, "c", "c2", COOPERATIVE)
    await play.heartbeat("a", "b", "c")


async def first_bounce_skipped_by_dynamic_members(play: Player) -> None:
    await _formed(play, RANGE, static=False)
    await play.leave("c")
    await play.settle()
    await play.start("c2", offers=COOPERATIVE, static=False)
    await play.settle()


async def only_member_changes_to_another_protocol(play: Player) -> None:
    """Even a static member that is alone is compared with what it offered before."""
    await play.start("a", offers=RANGE)
    await play.settle()
    await _replaced(play, "a", "a2", COOPERATIVE)
    await play.remove("a")
    await play.start("a3", offers=COOPERATIVE, instance="a")
    await play.settle()


async def removal_by_both_ids(play: Player) -> None:
    await _formed(play, RANGE)
    await _replaced(play, "b", "b2", RANGE)
    await play.remove("b", as_seen="b")
    await play.kill("c")
    await play.remove("c", as_seen="c")
    await play.remove("c", as_seen="c")
    await play.remove("nobody")
    await play.settle()
    await play.remove("b")
    await play.heartbeat("b2")


async def drained(play: Player) -> None:
    await _formed(play, RANGE)
    for name in "cba":
        await play.kill(name)
        await play.remove(name, as_seen=name)
    for name in "abc":
        await play.start(f"{name}2", offers=COOPERATIVE, instance=name)
    await play.settle()


async def session_of_a_static_member_ends(play: Player) -> None:
    await play.start("a", "b", offers=RANGE)
    await play.settle()
    await play.start("c", offers=RANGE, short=True)
    await play.settle()
    await play.kill("c")
    await play.session_ends("c")
    await play.settle()
    await play.start("c2", offers=RANGE, instance="c")
    await play.settle()


async def static_member_is_away_during_a_rebalance(play: Player) -> None:
    """The rebalance waits for it as long as members may take; who has not come back for the sync then is out."""
    play.rebalance_ms = SHORT_REBALANCE_MS
    await play.start("a", "b", offers=RANGE)
    await play.settle()
    await play.kill("b")
    await play.start("c", offers=BOTH)
    await play.rejoin("a")
    await play.rebalance_timeout()
    await play.settle()
    await play.rebalance_timeout()
    await play.settle()
    play.rebalance_ms = LONG_REBALANCE_MS
    await play.start("b2", offers=RANGE, instance="b")
    await play.settle()


async def replaced_while_the_group_rebalances(play: Player) -> None:
    await _formed(play, RANGE)
    await play.start("d", offers=RANGE)
    await play.start("b2", offers=RANGE, instance="b")
    await play.kill("b")
    await play.start("d2", offers=RANGE, instance="d")
    await play.settle()


async def classic_to_consumer_and_back(play: Player) -> None:
    await _formed(play, RANGE)
    await play.kill("c")
    await play.start("c2", instance="c")
    await play.start("d", offers=COOPERATIVE)
    await play.kill("b")
    await play.start("b2", instance="b")
    await play.consumer_leave("b2", -2)
    await play.start("b3", offers=RANGE, instance="b")
    await play.consumer_leave("c2", -2)
    await play.start("c3", offers=RANGE, instance="c")
    await play.settle()


async def all_the_way_to_consumer(play: Player) -> None:
    await _formed(play, RANGE)
    for name in "cba":
        await play.kill(name)
        await play.start(f"{name}2", instance=name)
    await play.start("d", offers=COOPERATIVE)


async def crashed_consumer_member(play: Player) -> None:
    await play.start("a", "b")
    await play.kill("b")
    await play.start("b2", instance="b")
    await play.consumer_leave("b", -2)
    await play.start("b3", instance="b")
    await play.consumer_leave("b", -2)
    await play.kill("b3")
    await play.remove("b", as_seen="b3")
    await play.remove("b", as_seen="b3")
    await play.start("b4", instance="b")


async def last_consumer_member_is_removed(play: Player) -> None:
    await _formed(play, RANGE)
    await play.kill("c")
    await play.start("c2", instance="c")
    await play.kill("c2")
    await play.remove("c", as_seen="c2")
    await play.settle()


async def classic_member_takes_a_crashed_consumer_members_place(play: Player) -> None:
    await play.start("a", "b")
    await play.kill("b")
    await play.start("b2", offers=RANGE, instance="b")
    await play.consumer_leave("a", -2)
    await play.start("a2", offers=RANGE, instance="a")
    await play.settle()


SCENARIOS: Final[Mapping[str, Callable[[Player], Awaitable[None]]]] = {
    scenario.__name__.replace("_", "-"): scenario
    for scenario in (
        static_member_returns_unchanged,
        static_leader_returns_unchanged,
        static_member_returns_with_another_list_and_the_same_choice,
        static_member_returns_with_a_list_that_changes_the_choice,
        newcomer_without_a_common_protocol,
        two_bounces_of_static_members,
        two_bounces_of_static_members_back,
        two_bounces_of_dynamic_members,
        first_bounce_skipped,
        first_bounce_skipped_by_dynamic_members,
        only_member_changes_to_another_protocol,
        removal_by_both_ids,
        drained,
        session_of_a_static_member_ends,
        static_member_is_away_during_a_rebalance,
        replaced_while_the_group_rebalances,
        classic_to_consumer_and_back,
        all_the_way_to_consumer,
        crashed_consumer_member,
        last_consumer_member_is_removed,
        classic_member_takes_a_crashed_consumer_members_place,
    )
}
