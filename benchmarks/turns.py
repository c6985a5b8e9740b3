"""`python -m benchmarks turns`: what ten thousand groups of a fleet cost whoever leads. A minute, nothing but Python.

The ledger stands in the one event loop of all groups: while it works out who is next, nobody else has a turn.
"""

from __future__ import annotations

import gc
import json
import random
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import quantiles
from time import process_time
from typing import Any, Final

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.plan import Outset, Pace, Wave, run

GROUPS, BROKERS, TOPICS, RELEASES = 10_000, 12, 400, 5_000
TO_STAY_BELOW_MS, TO_STAY_BELOW_MIB, TO_STAY_BELOW_S = 1.0, 15.0, 2.0
BUDGETS: Final[list[dict[str, Any]]] = [
    {"name": "all", "max": "2%"},
    {"name": "coordinators", "per": "Coordinator", "max": 20},
    {"name": "topics", "per": "Topic", "max": 2},
    {"name": "teams", "per": "Namespace", "max": "10%"},
]
_T0: Final = 1_800_000_000.0
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """Of one core, with as many groups as are named."""

    groups: int
    next_p50_ms: float
    """From the end of one group's turn until the ledger has said who is next, while all others wait."""
    next_p99_ms: float
    next_worst_ms: float
    called: int
    """Groups that those turns were given to."""
    began_s: float
    """What a leader that has just listed them takes to say who may go first."""
    learns_worst_ms: float
    """The longest piece while a leader learns the coordinators one after another, with all groups at rest."""
    memory_mib: float
    """Of all that is kept of them for that."""
    plan_s: float
    """One run of `fleet plan` over all of them."""


def measure(groups: int = GROUPS, releases: int = RELEASES) -> TurnFigures:
    began_s, memory_mib = _cpu_s(lambda: _began(_asking(groups))), _memory_mib(groups)
    took_ms, called = _released(groups, releases)
    cut = quantiles(took_ms, n=100, method="inclusive")
    return TurnFigures(
        groups,
        round(cut[49], 4),
        round(cut[98], 4),
        round(max(took_ms), 3),
        called,
        round(began_s, 2),
        round(max(_learned(groups)), 2),
        round(memory_mib, 1),
        round(_cpu_s(_plan(groups)), 2),
    )


def _asking(groups: int) -> list[GroupFacts]:
    draw, topics = random.Random(1), [f"t{n}" for n in range(TOPICS)]
    return [
        GroupFacts(
            f"team{n % 50}",
            f"g{n}",
            f"g{n}",
            replicas=3,
            topics=tuple(sorted(draw.sample(topics, k=draw.choice([1, 1, 1, 2, 5])))),
            cluster="k",
            coordinator=draw.randrange(BROKERS),
            standing=Standing.ASKS,
            asked_at=_T0 - draw.random() * 600,
            takes_s=draw.choice([60.0, 300.0, 1800.0]),
        )
        for n in range(groups)
    ]


def _fleet() -> Fleet:
    spec = ConsumerFleetSpec.model_validate({"selector": {}, "namespaces": ["*"], "budgets": BUDGETS})
    return Fleet("slackwater", "platform", spec, is_of_the_operator=True)


def _began(facts: list[GroupFacts]) -> tuple[Ledger, tuple[str, ...]]:
    ledger = Ledger()
    return ledger, ledger.began([_fleet()], facts, _T0)


def _released(groups: int, releases: int) -> tuple[list[float], int]:
    """Each group whose turn is over asks again at once, so that as many wait as before."""
    facts = {each.key: each for each in _asking(groups)}
    ledger, called = _began(list(facts.values()))
    draw, moving, now, given, took_ms = random.Random(2), [*called], _T0, 0, []
    for key in called:
        facts[key] = replace(facts[key], standing=Standing.HAS)
        ledger.changed(facts[key], now)
    gc.collect()
    gc.disable()
    for _ in range(releases):
        now += 1.0
        key = moving.pop(draw.randrange(len(moving)))
        rests = replace(facts[key], standing=Standing.RESTS)
        began = process_time()
        called = ledger.changed(rests, now)
        took_ms.append((process_time() - began) * 1000)
        facts[key] = replace(rests, standing=Standing.ASKS, asked_at=now)
        called = (*called, *ledger.changed(facts[key], now))
        for each in called:
            facts[each] = replace(facts[each], standing=Standing.HAS)
            ledger.changed(facts[each], now)
        moving += called
        given += len(called)
    gc.enable()
    return took_ms, given


def _learned(groups: int) -> list[float]:
    """In ms, for each group that is looked at for the first time; half of them are."""
    facts = [replace(each, standing=Standing.RESTS) for each in _asking(groups)]
    ledger, _ = _began([replace(each, coordinator=None) for each in facts])
    took_ms = []
    gc.collect()
    gc.disable()
    for each in facts[: groups // 2]:
        began = process_time()
        ledger.changed(each, _T0)
        took_ms.append((process_time() - began) * 1000)
    gc.enable()
    return took_ms


def _memory_mib(groups: int) -> float:
    gc.collect()
    tracemalloc.start()
    ledger, called = _began(_asking(groups))
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ledger.fleets()
    assert called
    return kept / _MIB


def _plan(groups: int) -> Callable[[], object]:
    facts = [replace(each, standing=Standing.RESTS) for each in _asking(groups)]
    paces = {each.key: Pace(each.takes_s or 0.0, each.takes_s or 0.0) for each in facts}
    outset = Outset((_fleet(),), tuple(facts), paces)
    return lambda: run(outset, [Wave("all", tuple(each.key for each in facts))], _T0)


def _cpu_s(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


def write(found: TurnFigures, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(found), indent=2) + "\n")


def table(found: TurnFigures) -> str:
    """For people, with the figures to stay below."""
    rows = (
        (
            "a turn ends → who is next, p50 / p99",
            f"{found.next_p50_ms * 1000:.0f} / {found.next_p99_ms * 1000:.0f} µs ({TO_STAY_BELOW_MS * 1000:.0f})",
        ),
        ("  the longest", f"{found.next_worst_ms:.2f} ms"),
        ("a leader begins", f"{found.began_s:.2f} s ({TO_STAY_BELOW_S:.0f})"),
        ("  learns a coordinator, the longest", f"{found.learns_worst_ms:.2f} ms"),
        ("memory", f"{found.memory_mib:.1f} MiB ({TO_STAY_BELOW_MIB:.0f})"),
        ("one plan of all", f"{found.plan_s:.2f} s"),
    )
    head = f"{found.groups} groups, and the figure to stay below"
    return "\n".join([head, *(f"  {name:<40}{value}" for name, value in rows)])
