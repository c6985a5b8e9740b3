"""The plan of a group of which fleets say something: what it is run by, what a rollout takes along, what is ordered.

Around `plan`, so that without fleets nothing is another. What is pinned changes where a rollout begins, whatever it is
for: it is planned once more, with what fleets say by now. Where that leaves nothing to roll out, none begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.decision import Decision
from slackwater.core.fleet.defaults import Own, Renewed, in_force, with_next_rollout, without_own
from slackwater.core.fleet.held_defaults import HeldDefaults, held_fields
from slackwater.core.fleet.layers import Given
from slackwater.core.fleet.order import Order
from slackwater.core.fleet.orders import obeyed
from slackwater.core.fleet.records import with_done
from slackwater.core.fleet.turn import is_new
from slackwater.core.plan.chapters import ends_before_anything_begins, plan
from slackwater.core.world.inherited import Pins
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.world import World


@dataclass(frozen=True, slots=True)
class SaidByFleets:
    """Of one group, at the moment of a look."""

    own: Own
    given: Mapping[str, Given] = field(default_factory=dict)
    living: frozenset[str] = frozenset()
    """All fleets that there are, by `namespace/name`."""
    order: Order | None = None
    """Of the campaign that has called the group; None: it was not called, or by none."""
    held: tuple[HeldDefaults, ...] = ()
    """Of campaigns that take defaults through its fleets, and select it."""

    def coming(self, memory: RolloutMemory) -> Renewed:
        """What a rollout that begins now takes along."""
        held = held_fields(self.held, self.given, memory.commands)
        return with_next_rollout(self.own, self.given, memory.inherited, self.living, held)


def run_by(group: ConsumerGroup, said: SaidByFleets, pins: Pins) -> ConsumerGroup:
    """The group with what it inherits, as everything that decides reads it."""
    spec = in_force(said.own, said.given, pins).spec
    return group if spec is said.own.spec else group.model_copy(update={"spec": spec})


def defaults_refused(said: SaidByFleets, pins: Pins) -> str:
    """Why not all that fleets give holds, or will with the next rollout; empty: it does."""
    coming = with_next_rollout(said.own, said.given, pins, said.living)
    return in_force(said.own, said.given, without_own(said.own, pins)).refused or coming.refused


def plan_in_fleets(world: World, said: SaidByFleets) -> tuple[World, Decision]:
    """`world`: with the group as it was written. Returns the one that was decided about, for whoever reports on it."""
    given, before = world, world.memory
    memory = _ordered(world, said)
    world = _inheriting(world, said, replace(memory, inherited=without_own(said.own, memory.inherited)))
    decided = plan(world)
    if memory is not before and decided.memory.phase.at_rest and ends_before_anything_begins(world):
        world = _inheriting(given, said, replace(before, inherited=without_own(said.own, before.inherited)))
        decided = plan(world)  # it cannot be taken up now, as without a connection: nothing was ordered yet
    stays = world.turn.unread and world.memory.inherited  # what the nearest fleet says by now is not known
    if _begins(world, decided) and not stays:
        is_held = () if is_new(world) else said.held  # its first pods disturb nobody
        coming = replace(said, held=is_held).coming(world.memory)
        if coming.pins != world.memory.inherited:
            world = _inheriting(world, said, replace(world.memory, inherited=coming.pins))
            decided = plan(world)
    return world, _noting_what_is_done(world, decided)


def _ordered(world: World, said: SaidByFleets) -> RolloutMemory:
    if said.order is None:
        return world.memory
    return obeyed(world.memory, said.order, said.own, said.given, world.group.metadata.annotations)


def _inheriting(world: World, said: SaidByFleets, memory: RolloutMemory) -> World:
    group = run_by(world.group, said, memory.inherited)
    return replace(world.remembering(memory), group=group) if group is not world.group else world.remembering(memory)


def _begins(world: World, decided: Decision) -> bool:
    """Another version than before goes forward from now on."""
    goes_forward = decided.memory.phase is RolloutPhase.PROGRESSING
    return goes_forward and decided.memory.target_hash != world.memory.target_hash


def _noting_what_is_done(world: World, decided: Decision) -> Decision:
    """Whoever is at rest has all that campaigns have ordered of it."""
    memory = decided.memory
    if not memory.phase.at_rest or memory.upgrade is not None or (memory.turn is not None and memory.turn.asks):
        return decided
    commands = with_done(memory.commands, world.now)
    return decided if commands == memory.commands else replace(decided, memory=replace(memory, commands=commands))
