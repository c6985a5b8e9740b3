"""Histories: edits, commands and strikes, drawn from a seed and written down as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

FEWEST, MOST = 5, 30
WAITS: Final = ("", "", "", "", "", "seen", "seen", "moving")
"""For what the next step waits: nothing, that the operator has seen the edit, or that a pod is about to go."""

Draw = Callable[[Random], Any]


@dataclass(frozen=True, slots=True)
class Step:
    """`name` is one of FIELDS, COMMANDS or STRIKES; `wait`: see WAITS."""

    name: str
    value: Any = None
    wait: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """`narrow`: nothing in it but a rollout, and pods that the history itself takes away, makes pods go."""

    seed: int
    replicas: int
    narrow: bool
    steps: tuple[Step, ...]


def _one_of(*values: Any) -> Draw:
    return lambda random: random.choice(values)


FIELDS: Final[Mapping[str, Draw]] = {
    "version": _one_of("1", "2", "3", "4"),
    "bad": _one_of(None),
    "team": _one_of("a", "b", "c"),
    "poll": _one_of("5m", "6m"),
    "stableFor": _one_of("0s", "1s"),
    "onFailure": _one_of("Pause", "Rollback"),
    "canary": _one_of([{"replicas": 1}], [{"replicas": 1, "hold": "2s"}], None, None),
    "maxLag": _one_of({"absolute": 100_000}, None),
}
COMMANDS: Final = ("pause", "resume", "restart", "promote", "abort", "retry", "force")
STRIKES: Final[Mapping[str, Draw]] = {
    "evict": lambda random: random.randrange(2),
    "delete pod": lambda random: random.randrange(2),
    "kill operator": _one_of(None),
    "break connection": _one_of(None),
    "mend connection": _one_of(None),
    "orphan pods": _one_of(None),
}
WIDE: Final[Mapping[str, Draw]] = {
    "replicas": _one_of(0, 1, 2, 3),
    "strategy": _one_of("InPlace", "WarmHandover"),
    "delete set": _one_of(None),
    "delete group": _one_of(None),
    "scale set": _one_of(0, 1, 3),
    "restart set": _one_of(None),
}
"""What else makes pods go, several at once."""
_WEIGHTS: Final = {"version": 5, "bad": 1, "kill operator": 0.25, "delete group": 0.5, "orphan pods": 0.5}


def draw(seed: int) -> History:
    random = Random(seed)
    narrow = random.random() < 0.5
    draws: dict[str, Draw] = {**FIELDS, **dict.fromkeys(COMMANDS, _one_of(None)), **STRIKES}
    if not narrow:
        draws |= WIDE
    names = tuple(draws)
    drawn = random.choices(names, [_WEIGHTS.get(name, 1.0) for name in names], k=random.randint(FEWEST, MOST))
    steps = tuple(Step(name, draws[name](random), random.choice(WAITS)) for name in drawn)
    return History(seed, random.choice((2, 2, 2, 3)), narrow, steps)
