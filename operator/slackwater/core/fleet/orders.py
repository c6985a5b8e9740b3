"""What a campaign orders of a group that was called, as the group remembers it from then on.

Written in the write that gives the turn. What was ordered is a rollout like any other, behind all gates, and goes on
whatever becomes of the campaign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from slackwater.api.annotations import RESTART
from slackwater.core.fleet.defaults import Own, by_campaign, to_take_up
from slackwater.core.fleet.layers import Given
from slackwater.core.fleet.order import Order
from slackwater.core.fleet.records import record_of, with_begun, with_called
from slackwater.core.world.memory import RolloutMemory


def obeyed(
    memory: RolloutMemory,
    order: Order,
    own: Own,
    given: Mapping[str, Given],
    annotations: Mapping[str, str],
) -> RolloutMemory:
    """The same memory where nothing is to be ordered: it was already, or a rollout is under way or has failed."""
    if record_of(memory.commands, order.campaign) is not None:
        return memory
    with_record = replace(memory, commands=with_begun(memory.commands, order.campaign, order.wave))
    if not order.restart and not order.applies:
        commands = with_called(with_record.commands, order.named)
        return replace(with_record, commands=commands)  # the group's own change, which has waited for this
    if not memory.phase.at_rest or memory.upgrade is not None:
        return memory
    if order.restart:
        return replace(with_record, restart=order.restart, restart_refused=_settled(memory, annotations))
    renewed = by_campaign(own, given, memory.inherited, to_take_up(own, given, order.applies, order.fleet), order.fleet)
    return memory if renewed.refused else replace(with_record, inherited=renewed.pins)


def _settled(memory: RolloutMemory, annotations: Mapping[str, str]) -> str:
    """A token that people gave before does not count again because a campaign's took its place."""
    return annotations.get(RESTART, memory.restart_refused)
