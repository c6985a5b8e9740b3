"""Each attack alone, so that one cannot hide what another costs: the neighbour is rolled out, the operator stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any, Final

import pytest

from tests.conftest import ROOT
from tests.e2e.stage.groups import CONNECTION
from tests.e2e.stage.stage import Stage, remove_groups
from tests.e2e.tenants.attacks import NAMES, attacks, servers
from tests.e2e.tenants.neighbours import (
    CROWDED,
    DEEP,
    GOOD,
    Hostile,
    apply_attack,
    crowd,
    longest_stall_s,
    neighbours,
    peak_mib,
    roll_out,
    started,
    wait_met,
)

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.quiet, pytest.mark.minutes(8), pytest.mark.timeout(1200)]

FIGURES: Final = ROOT / "build" / "bench" / "hostile-one-by-one.json"
PEACE: Final = "none"


@pytest.fixture(scope="module")
def hostile(stage: Stage) -> Iterator[Hostile]:
    with neighbours(stage) as made:
        stage.kafka.make_topic(made.evil.namespace, 1)
        yield made


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, Mapping[str, Any]]]:
    kept: dict[str, Mapping[str, Any]] = {}
    yield kept
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps(kept, indent=2) + "\n")


@pytest.mark.parametrize(("number", "name"), list(enumerate((PEACE, DEEP, *NAMES), start=2)))
def test_the_neighbour_is_rolled_out(
    hostile: Hostile, figures: dict[str, Mapping[str, Any]], number: int, name: str
) -> None:
    """By an operator that started for this attack: what it stood still is of this one."""
    stage, evil = hostile.stage, hostile.evil
    stage.operator.kill()
    started(stage)
    process = stage.operator.process
    with servers() as at, crowd(stage, evil) if name == CROWDED else nullcontext():
        made = attacks(evil, at, stage.kafka.bootstrap_servers, stage.group_id(GOOD))
        evil.apply(*made[CONNECTION])
        if name != PEACE:
            apply_attack(evil, name, made.get(name, []))
            wait_met(stage, evil, name)
        cost = roll_out(stage, str(number))
        remove_groups(evil)
    assert process is not None
    figures[name] = {
        "operator_restarts": int(process.poll() is not None),
        "neighbour_rebalances": cost.rebalances,
        "neighbour_idle_partition_seconds": cost.idle_s,
        "longest_stall_seconds": longest_stall_s(stage),
        "peak_mib": peak_mib(stage),
    }
    assert figures[name]["operator_restarts"] == 0
