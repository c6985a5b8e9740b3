"""What fleets and campaigns say of a group, and the plan of it with that: the shell's side of `core/plan/in_fleets`.

Of a group of which nobody says anything, and which has nothing of a fleet, the plan is the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.core.decision.decision import Decision
from slackwater.core.fleet.defaults import Own
from slackwater.core.fleet.held_defaults import HeldDefaults, selecting
from slackwater.core.fleet.layers import Given, Giver, nearest
from slackwater.core.fleet.records import has_open_record
from slackwater.core.plan import plan
from slackwater.core.plan.in_fleets import SaidByFleets, defaults_refused, plan_in_fleets
from slackwater.core.world.turn import TurnStanding
from slackwater.core.world.world import World
from slackwater.shell.fleets import Fleets
from slackwater.shell.store import Key

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Known:
    spec: ConsumerGroupSpec
    givers: tuple[Giver, ...]
    own: Own
    given: Mapping[str, Given] = field(default_factory=dict)


class Sayings:
    def __init__(self, fleets: Fleets | None) -> None:
        self._fleets = fleets
        self._known: dict[Key, _Known] = {}

    def plan(self, key: Key, world: World) -> tuple[World, Decision]:
        """`world`: with the group as it was written. Returns the one that was decided about, for whoever reports."""
        said = self.of(key, world)
        if said is None:
            return world, plan(world)
        planned, decided = plan_in_fleets(world, said)
        refused = defaults_refused(said, decided.memory.inherited)
        return (replace(planned, defaults_refused=refused) if refused else planned), decided

    def of(self, key: Key, world: World) -> SaidByFleets | None:
        """None: nothing is said, was said or was ordered."""
        if self._fleets is None:
            return None
        name, memory = str(key), world.memory
        is_called = world.turn.standing is TurnStanding.CALLED
        order = self._fleets.orders.by_group.get(name) if is_called else None
        givers = self._fleets.givers_of(name)
        if not givers and order is None and not memory.inherited and not has_open_record(memory.commands):
            return None
        known = self._of(key, world.group.spec, givers)
        return SaidByFleets(known.own, known.given, self._fleets.known.living, order, self._held(name, world))

    def _held(self, name: str, world: World) -> tuple[HeldDefaults, ...]:
        if self._fleets is None:
            return ()
        fleets, labels = self._fleets.ledger.fleets_of(name), world.group.metadata.labels
        return tuple(selecting(self._fleets.orders.held, fleets, labels))

    def pruned(self, status: Json, before: Json) -> Json:
        """A group's status, that is to be written, without its records of campaigns that are gone."""
        commands = status.get("commands") or {}
        if self._fleets is None or status == before or (kept := self._fleets.without_gone(commands)) == commands:
            return status
        return {key: each for key, each in {**status, "commands": dict(kept)}.items() if each != {}}

    def forget(self, key: Key) -> None:
        self._known.pop(key, None)

    def _of(self, key: Key, spec: ConsumerGroupSpec, givers: tuple[Giver, ...]) -> _Known:
        """Each version of a group is taken apart once."""
        known = self._known.get(key)
        if known is None or known.spec is not spec or known.givers != givers:
            known = _Known(spec, givers, Own.of(spec), nearest(key.namespace, givers))
            self._known[key] = known
        return known
