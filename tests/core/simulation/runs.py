"""Running a simulation: in fixed order for the golden logs, in random order for the invariants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.invariants import Invariants
from tests.core.simulation.operator import Crashes, SimulatedOperator
from tests.core.simulation.outside import START, Outside

OFTEN, SELDOM = 0.85, 0.25
"""How probably the operator looks at each tick of a random run: groups at rest are looked at less often."""
Doing = Callable[[Outside], None]
"""What somebody does to the world."""


@dataclass
class Run:
    outside: Outside
    random: Random | None = None
    """None: every part of the world steps in the same order."""
    tick_s: float = 1.0
    crashes: Crashes = field(default_factory=Crashes)
    invariants: Invariants = field(init=False)
    operator: SimulatedOperator = field(init=False)
    happened: Callable[[str], None] = lambda what: None
    """Hears of what somebody does."""

    def __post_init__(self) -> None:
        self.invariants = Invariants(self.outside)
        for each in self.outside.sets.values():
            each.before_update = self.invariants.taken_down
        self.operator = SimulatedOperator(self.outside, self.invariants)

    @property
    def now(self) -> float:
        return self.outside.now - START

    @property
    def phase(self) -> RolloutPhase:
        return self.outside.memory.phase

    @property
    def acting(self) -> bool:
        return self.operator.last is not None and self.operator.last.act is not None

    def do(self, what: str, doing: Doing) -> None:
        """Somebody does something, which the log tells."""
        self.operator.say(f"-- {what}")
        self.happened(what)
        doing(self.outside)

    def step(self) -> None:
        random = self.random
        self.outside.tick(self.tick_s, random)
        self.invariants.watch()
        if random is None or random.random() < (OFTEN if self.phase.under_way else SELDOM):
            self.operator.run_pass(self.crashes)

    def for_seconds(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            self.step()

    def until(self, *phases: RolloutPhase, within_s: float = 400.0) -> None:
        """Run until the rollout is in one of the phases and nothing is left to do; AssertionError when it never is."""
        self.until_it_is(f"in {phases}", lambda _: self.phase in phases and not self.acting, within_s)

    def until_it_is(self, what: str, so: Callable[[Outside], bool], within_s: float = 400.0) -> None:
        """Run until it is so; AssertionError when it never is."""
        until = self.now + within_s
        while self.now < until:
            self.step()
            if so(self.outside):
                return
        log = "\n".join(self.operator.log[-40:])
        raise AssertionError(f"not {what} but {self.phase} after {within_s} s:\n{log}")
