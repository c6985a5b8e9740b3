"""Several pods at a time in place, in every order in which things can go: no more are away because of the operator than
may be, no member is lost, and the group gets where it should be."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from slackwater.core.rollout import together
from tests.core.coordinator.events import CHANGES
from tests.core.coordinator.exploring import (
    as_asked,
    as_asked_or_rolled_back,
    explore,
    settled_fleet,
    with_another_version,
)
from tests.core.coordinator.fleet import Client, Fleet
from tests.core.coordinator.pilot import Broken
from tests.core.coordinator.test_strategies import JAVA, _render_once, generation, judge, rebalances

__all__ = ["_render_once"]
MODERN: Final = Client("Librdkafka", "2.12.1")


@pytest.fixture(autouse=True, params=[0.0, float("inf")], ids=["the controller's pace", "at once"])
def _haste(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Between two events ten minutes pass: the operator has always just let them go, or never."""
    monkeypatch.setattr(together, "AT_ONCE_S", request.param)


def begun(client: Client, replicas: int, at_once: int, faults: int = 0, changes: int = 0) -> Fleet:
    fleet = with_another_version(replace(client, at_once=at_once), replicas, faults)
    return replace(fleet, changes=changes)


@pytest.mark.slow
def test_three_pods_two_at_a_time() -> None:
    found = explore(begun(JAVA, 3, 2), as_asked, apart=generation)
    judge(found)
    assert rebalances(found) == {0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replicas", "at_once"), [(3, 1), (3, 3), (4, 1), (4, 2), pytest.param(4, 3, marks=pytest.mark.long)]
)
def test_every_order_of_things(replicas: int, at_once: int) -> None:
    judge(explore(begun(JAVA, replicas, at_once), as_asked_or_rolled_back))


@pytest.mark.slow
def test_every_order_of_things_of_kip_848() -> None:
    fleet = settled_fleet(replace(MODERN, at_once=2), "Consumer", 3)
    judge(explore(replace(fleet, spec=replace(fleet.spec, version=2)), as_asked))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(0)
@pytest.mark.parametrize(("replicas", "at_once"), [(3, 1), (3, 2), (3, 3), (4, 2), (4, 3)])
def test_one_fault_at_any_moment(replicas: int, at_once: int) -> None:
    judge(explore(begun(JAVA, replicas, at_once, faults=1), as_asked_or_rolled_back, limit=5_000_000))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(0)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("replicas", "at_once"), [(3, 2), (4, 2), (4, 3)])
def test_people_change_their_minds_at_any_moment(replicas: int, at_once: int, change: str) -> None:
    start = begun(JAVA, replicas, at_once, changes=1)
    judge(explore(start, as_asked_or_rolled_back, CHANGES[change], limit=5_000_000))


def test_one_too_many_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "amount_of", lambda *_: 2)
    with pytest.raises(Broken, match="are down because of it"):
        explore(begun(JAVA, 3, 1), as_asked)
