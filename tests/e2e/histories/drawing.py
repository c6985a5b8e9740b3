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
    """`name` is one of FIELDS, COMMANDS, STRIKES or WIDE; `wait`: see WAITS."""

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
    "container": _one_of("consumer", "worker"),
    "memory": _one_of("128Mi", "192Mi", None),
    "grace": _one_of(10, 12),
    "topics": _one_of("shared", "own", "both", "both"),
    "membership": _one_of("Static", "Static", "Dynamic"),
    "membersPerPod": _one_of(1, 1, 2, 3),
    "client": _one_of("2.16.1", "2.12.1"),
    "names container": _one_of(True, False),
    "metrics": _one_of({"port": 9102, "path": "/m"}, None),
    "connection": _one_of("own", "main"),
    "target": _one_of("Eager", "Consumer"),
    "poll": _one_of("5m", "6m"),
    "session": _one_of("20s", "30s", "45s"),
    "heartbeat": _one_of("2s", "4s", None),
    "consumer": _one_of({"session": "50s"}, {"session": "60s", "heartbeat": "6s"}, None),
    "mode": _one_of("Off", "Recommend", "Auto"),
    "maxPollRecords": _one_of(100, None),
    "objective": _one_of({"recoverWithin": "30s", "needlessRebalancesPerMonth": 1}, None),
    "stableFor": _one_of("0s", "1s"),
    "onFailure": _one_of("Pause", "Rollback"),
    "canary": _one_of([{"replicas": 1}], [{"replicas": 1, "hold": "2s"}], [{"percent": 50}], None, None),
    "maxLag": _one_of({"absolute": 100_000}, {"growth": 100_000}, None),
    "strategy": _one_of("InPlace", "WarmHandover"),
    "handover": _one_of("Overlapping", "Predictive"),
    "surgeTimeout": _one_of("5s", None),
    "enabled": _one_of(True, False),
    "maxUnavailable": _one_of(0, 1, 2),
    "unhealthyPodEvictionPolicy": _one_of("AlwaysAllow", "IfHealthyBudget"),
    "readinessGate": _one_of(True, False),
    "deletionPolicy": _one_of("Retain", "DeleteGroup"),
}
NEVER_EDITED: Final[Mapping[str, str]] = {
    "groupId": "it cannot be changed",
    "client.library": "the sandbox's consumer has one: tests/core/simulation plays the others",
    "client.envPrefix": "the sandbox's consumer reads KAFKA_ only",
    "connectionRef.kind": "tests/e2e/rights",
    "protocol.upgradeFrom": "of Kafka Streams only",
    "protocol.profiles": "of library Other only",
    "rollout.maxUnavailable": "its two pods go one after the other: tests/core/simulation/test_several.py",
    "timeouts.warmUp": "tests/core/simulation plays it: no pod differs by it",
    "volumeClaimTemplates": "the sandbox's consumer keeps nothing: tests/core/simulation/test_volumes.py",
    "persistentVolumeClaimRetentionPolicy": "likewise",
    "rollout.rejoinTimeout": "as long as this machine takes to start a pod",
}
"""Path in the spec → why no history edits it, or what is below it."""
COMMANDS: Final = ("pause", "resume", "restart", "promote", "abort", "retry", "force")
_OF_THE_FIRST_TWO: Final = _one_of(0, 1)
STRIKES: Final[Mapping[str, Draw]] = {
    "evict": _OF_THE_FIRST_TWO,
    "delete pod": _OF_THE_FIRST_TWO,
    "lose pod": _OF_THE_FIRST_TWO,
    "kill consumer": _OF_THE_FIRST_TWO,
    "stop consumer": _OF_THE_FIRST_TWO,
    "remove member": _OF_THE_FIRST_TWO,
    "foreign member": _one_of(None),
    "grow topic": _one_of(2, 4),
    "kill operator": _one_of(None),
    "freeze node": _one_of(None),
    "freeze broker": _one_of(None),
    "break connection": _one_of(None),
    "mend connection": _one_of(None),
    "orphan pods": _one_of(None),
}
WIDE: Final[Mapping[str, Draw]] = {
    "replicas": _one_of(0, 1, 2, 3),
    "stop and upgrade": _one_of("Cooperative", "Eager"),
    "delete set": _one_of(None),
    "delete group": _one_of(None),
    "scale set": _one_of(0, 1, 3),
    "restart set": _one_of(None),
}
"""What else makes pods go, several at once."""
_WEIGHTS: Final = {
    "version": 5,
    "bad": 1.5,
    "target": 2,
    "replicas": 2,
    "kill operator": 0.3,
    "freeze node": 0.5,
    "freeze broker": 0.5,
    "delete group": 0.5,
    "orphan pods": 0.5,
}


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
