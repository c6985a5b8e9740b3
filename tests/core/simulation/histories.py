"""Histories: sequences of deeds that are drawn from a seed, written down as data, and played as often as one likes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.deeds import DEEDS, Args, calm_down
from tests.core.simulation.life import Life, LifesRun
from tests.core.simulation.operator import ChanceCrashes

FEWEST, MOST = 5, 30
GAPS_S: Final = (0.0, 0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 15.0)
"""Between two deeds."""


@dataclass(frozen=True, slots=True)
class Step:
    """`after_s`: the step before it."""

    after_s: float
    name: str
    args: Args = ()


@dataclass(frozen=True, slots=True)
class History:
    options: Mapping[str, Any]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        """As Python, to be played again by hand."""
        steps = "".join(f"\n    Step({step.after_s}, {step.name!r}, {step.args!r})," for step in self.steps)
        return f"History({dict(self.options)!r}, ({steps}\n))"


def draw(seed: int) -> History:
    random = Random(seed)
    options: dict[str, Any] = {
        "replicas": random.choice((1, 2, 3, 3, 3)),
        "static": random.random() < 0.8,
        "counts_unavailable": random.random() < 0.2,
        "onFailure": random.choice(("Pause", "Rollback")),
    }
    options["strategy"] = random.choice(("InPlace", "WarmHandover")) if options["static"] else "InPlace"
    names, weights = tuple(DEEDS), [deed.weight for deed in DEEDS.values()]
    drawn = random.choices(names, weights, k=random.randint(FEWEST, MOST))
    return History(options, tuple(Step(random.choice(GAPS_S), name, DEEDS[name].draw(random)) for name in drawn))


def play(history: History, timing: int) -> LifesRun:
    """Until nothing happens any more. `timing`: how the parts of the world alternate, and when the operator dies."""
    random = Random(timing)
    crashes = ChanceCrashes(random=Random(timing), probability=0.1 if timing % 3 == 2 else 0.0)
    run = LifesRun(Life(**history.options), random, crashes=crashes)
    run.until(RolloutPhase.COMPLETE, within_s=120)
    for step in history.steps:
        run.for_seconds(step.after_s)
        run.operator.say(f"-- {step.name} {step.args or ''}")
        DEEDS[step.name].do(run, *step.args)
    run.operator.say("-- nothing happens any more")
    calm_down(run)
    return run
