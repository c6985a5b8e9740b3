"""Rows of sights that a simulated operator had, and what is told of them by operators that begin anywhere in a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from slackwater.api.telemetry.events import Event
from slackwater.core.telemetry.sight import Sight
from slackwater.core.telemetry.tracker import Tracker, follow
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation
from tests.core.simulation import chance
from tests.core.simulation.broker import Broker, Process
from tests.core.simulation.operator import Crashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.scenarios import SCENARIOS


@dataclass
class Row:
    """What one run's operator saw, pass by pass; and the truth about its members, of which it saw only signs."""

    sights: list[Sight] = field(default_factory=list)
    died_after: set[int] = field(default_factory=set)
    """Passes at whose end the operator was killed: of these nothing was told."""
    joins: list[tuple[float, str, str]] = field(default_factory=list)
    """When which instance id was taken by which member."""

    def watch(self, run: Run) -> None:
        """Have every pass of the run written down."""
        operator, run_pass = run.operator, run.operator.run_pass

        def pass_written_down(crashes: Crashes) -> None:
            acts = operator.acts
            run_pass(crashes)
            assert operator.last is not None
            assert operator.last_world is not None
            act = operator.last.act if operator.acts > acts else None
            if operator.history == GroupHistory():
                self.died_after.add(len(self.sights))
            self.sights.append(Sight(operator.last_world, operator.last, act))

        operator.run_pass = pass_written_down  # type: ignore[method-assign]
        self._watch_joins(run.outside.broker)

    def _watch_joins(self, broker: Broker) -> None:
        join = broker.join

        def join_written_down(process: Process, now: float) -> None:
            before = process.member_id
            join(process, now)
            if process.member_id != before and process.instance_id is not None:
                self.joins.append((now, process.instance_id, process.member_id))

        broker.join = join_written_down  # type: ignore[method-assign]

    def told(self) -> list[Event]:
        """By the operator of the run, and by those that came after it when it was killed."""
        tracker, events = Tracker(), list[Event]()
        for number, sight in enumerate(self.sights):
            if number in self.died_after:
                tracker = Tracker()
                continue
            tracker, new = follow(tracker, sight)
            events += new
        return events


def row_of(name: str) -> Row:
    """Of one of the named rollouts."""
    scenario = SCENARIOS[name]
    run, row = Run(Outside(**scenario.options), crashes=scenario.crashes()), Row()
    row.watch(run)
    run.until(RolloutPhase.COMPLETE)
    scenario.happens(run)
    return row


def row_by_chance(seed: int) -> Row:
    run, row = chance.draw_run(seed), Row()
    row.watch(run)
    chance.trouble(run, seed)
    return row


def begun_again(sights: Sequence[Sight]) -> list[Sight]:
    """As an operator that was started just then sees them: it knows nothing of what it did not see itself."""
    history, seen = GroupHistory(), []
    for sight in sights:
        kafka = sight.world.kafka
        history = advance(history, kafka) if isinstance(kafka, GroupObservation) else interrupted(history)
        seen.append(replace(sight, world=replace(sight.world, history=history)))
    return seen


def told_of(sights: Iterable[Sight]) -> list[Event]:
    tracker, events = Tracker(), list[Event]()
    for sight in sights:
        tracker, new = follow(tracker, sight)
        events += new
    return events
