"""The StatefulSet of a group that has none."""

from __future__ import annotations

from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.decision.acts import Purpose
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import workload_note
from slackwater.core.fleet.turn import given, start_refusal
from slackwater.core.manifests.template import Template
from slackwater.core.manifests.writes import shape
from slackwater.core.protocol import cutover
from slackwater.core.rollout.volumes import cannot_be_made
from slackwater.core.world.world import World


def first_pods(world: World, template: Template) -> Decision:
    """A new group may have to wait for its turn. Of one that ran before, everything is made again at once."""
    if hold := cannot_be_made(world) or start_refusal(world):
        return Decision(world.memory, hold=hold)
    note, made = workload_note(Purpose.CREATE, world), shape(world, template, Purpose.CREATE)
    memory = given(world, world.memory, {MoveReason.START})
    return Decision(memory, act=cutover.made_again(world, made, template), notes=(note,))
