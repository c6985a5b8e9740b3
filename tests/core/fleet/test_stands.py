"""Where a group stands in line, in words."""

from __future__ import annotations

import pytest

from slackwater.api.telemetry.words import HeldBy
from slackwater.core.fleet.claim import CAMPAIGN, Cell
from slackwater.core.fleet.claims import GATES, HELD, gate_of, sick_place
from slackwater.core.fleet.stands import stand_at
from slackwater.core.world.turn import Stand

PLATFORM = "slackwater/platform"


@pytest.mark.parametrize(
    ("cell", "stand"),
    [
        (Cell(PLATFORM, "all"), Stand(HeldBy.BUDGET, PLATFORM, "all")),
        (Cell(PLATFORM, "coordinators", "lkc-7f/2"), Stand(HeldBy.BUDGET, PLATFORM, "coordinators", "lkc-7f/2")),
        (Cell(f"{CAMPAIGN}slackwater/kip-848", "canary"), Stand(HeldBy.WAVE, "slackwater/kip-848", "canary")),
        (HELD, Stand(HeldBy.ORDER)),
        (gate_of(PLATFORM, "windows"), Stand(HeldBy.WINDOW, PLATFORM)),
        (sick_place(PLATFORM, "lkc-7f/2"), Stand(HeldBy.HALT, PLATFORM, place="lkc-7f/2")),
    ],
)
def test_each_cell_has_words(cell: Cell, stand: Stand) -> None:
    assert stand_at(cell) == stand


def test_so_has_everything_that_shuts_a_fleet() -> None:
    stands = [stand_at(gate_of(PLATFORM, gate)) for gate in GATES]
    assert {stand.by for stand in stands if stand is not None} == set(HeldBy) - {
        HeldBy.BUDGET,
        HeldBy.WAVE,
        HeldBy.ORDER,
    }
