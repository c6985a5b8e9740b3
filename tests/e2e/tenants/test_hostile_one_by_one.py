"""Each attack alone, so that one cannot hide what another costs: the neighbour is rolled out, the operator stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any, Final

import pytest

from tests.conftest import ROOT
from tests.e2e.stage.groups import CONNECTION
from tests.e2e.stage.stage import Stage
from tests.e2e.tenants.attacks import NAMES, attacks
from tests.e2e.tenants.evil_servers import servers
from tests.e2e.tenants.neighbours import (
    CROWDED,
    DEEP,
    GOOD,
    MEMORY_MIB,
    Hostile,
    apply_attack,
    crowd,
    holds_nobody_up,
    longest_stall_s,
    meanwhile,
    neighbours,
    peak_mib,
    put,
    remove_all,
    roll_out,
    started,
    wait_met,
)

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.quiet, pytest.mark.minutes(15), pytest.mark.timeout(1200)]

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
    stage, evil, twin = hostile.stage, hostile.evil, hostile.twin
    stage.operator.kill()
    started(stage, twin)
    process = stage.operator.process
    with servers() as at, crowd(stage, evil) if name == CROWDED else nullcontext():
        made = attacks(evil, at, stage.kafka.bootstrap_servers, GOOD, stage.group_id(GOOD))
        put(evil, *made[CONNECTION])

        def attacked() -> None:
            apply_attack(evil, name, made.get(name, []))
            wait_met(stage, evil, name)

        before = meanwhile(stage, attacked) if name != PEACE else None
        cost = roll_out(stage, str(number))
        remove_all(evil)
    assert process is not None
    stall_s, twin_stall_s, peak = longest_stall_s(stage), twin.longest_stall_s(), peak_mib(stage)
    figures[name] = {
        "operator_restarts": int(process.poll() is not None),
        "neighbour_rebalances": cost.rebalances,
        "neighbour_idle_partition_seconds": cost.idle_s + (before.idle_s if before is not None else 0.0),
        "longest_stall_seconds": stall_s,
        "longest_stall_seconds_of_the_twin": twin_stall_s,
        "peak_mib": peak,
    }
    assert figures[name]["operator_restarts"] == 0
    assert holds_nobody_up(stall_s, twin_stall_s), figures[name]
    assert peak < MEMORY_MIB, figures[name]
