"""More ConsumerFleets than count, as the cluster shows them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.seen import FleetSeen
from slackwater.core.fleet.surplus import MOST, Surplus, surplus_of
from slackwater.core.fleet.times import Gates

SPEC: Final = ConsumerFleetSpec.model_validate({"selector": {}})


def fleet(name: str, reason: str = "", namespace: str = "team", **said: Any) -> FleetSeen:
    conditions = [{"type": "Accepted", "reason": reason}] if reason else []
    return FleetSeen(Fleet(namespace, name, SPEC, **said), Gates(), 1, {"conditions": conditions})


def some(number: int, reason: str = "") -> list[FleetSeen]:
    return [fleet(f"f{each}", reason) for each in range(number)]


@pytest.mark.parametrize(
    ("fleets", "expected"),
    [
        ([], None),
        (some(MOST), None),
        (some(MOST + 1), Surplus("team", MOST + 1, MOST, is_told=False)),
        ([*some(MOST, "Accepted"), fleet("new")], Surplus("team", MOST + 1, MOST, is_told=False)),
        (some(MOST + 1, "Accepted"), None),  # the operator counts more
        ([*some(3, "Accepted"), fleet("over", "TooManyFleets")], Surplus("team", 4, 3, is_told=True)),
        ([*some(MOST), *(fleet(f"o{n}", "TooManyFleets", "other") for n in range(9))], None),
        ([*some(MOST), fleet("own", is_of_the_operator=True)], None),
    ],
)
def test_what_is_said_of_a_namespace(fleets: list[FleetSeen], expected: Surplus | None) -> None:
    assert surplus_of("team", fleets) == expected
