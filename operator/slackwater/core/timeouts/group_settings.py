"""Session and heartbeat of a group's members: what the spec asks for, held within what the brokers allow (F22, F23).

Classic members have them in their pods; under KIP-848 they are settings of the group, and no pod restarts for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from slackwater.api.protocol import ProtocolTarget
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import AlterGroupSettings
from slackwater.core.decision.decision import Decision
from slackwater.core.timeouts.classic import within
from slackwater.core.world.broker import Bounds
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World

SESSION: Final = "consumer.session.timeout.ms"
HEARTBEAT: Final = "consumer.heartbeat.interval.ms"


@dataclass(frozen=True, slots=True)
class Timeout:
    """One timeout, as asked for and as it is set, in milliseconds."""

    name: str
    asked_ms: int
    set_ms: int
    bounds: Bounds | None

    @property
    def clamped(self) -> bool:
        return self.asked_ms != self.set_ms


def kept_in_kafka(group: ConsumerGroup, memory: RolloutMemory) -> bool:
    """Whether session and heartbeat are settings of the group itself, by the protocol that it has or is to have.

    A group whose target was taken out of the spec keeps the protocol that is remembered.
    """
    return memory.protocol is Profile.CONSUMER or group.spec.protocol.target is ProtocolTarget.CONSUMER


def note_bounds(world: World) -> Decision:
    """What the brokers allow classic sessions to be, where it is known and changes what is asked for."""
    known = world.broker.classic_session if world.broker is not None else world.memory.session_bounds
    if world.broker is not None and world.broker.classic_session is None:
        known = world.memory.session_bounds
    asked_ms = world.timeouts.classic_session_timeout_ms
    binding = known if known is not None and known.clamp(asked_ms) != asked_ms else None
    is_known = binding == world.memory.session_bounds
    return Decision(world.memory if is_known else replace(world.memory, session_bounds=binding))


def note_settings(world: World) -> Decision:
    """The group's own settings that the operator made: one that is neither wanted nor in Kafka is forgotten."""
    there = world.seen.settings if world.seen is not None else None
    if there is None:
        return Decision(world.memory)
    kept = {*there, *settings_wanted(world)}
    made = {name: value for name, value in world.memory.group_settings.items() if name in kept}
    return Decision(replace(world.memory, group_settings=made))


def timeouts_in_force(world: World) -> tuple[Timeout, ...]:
    """Those of the protocol that the group is being given."""
    spec, broker = world.timeouts, world.broker
    if world.memory.protocol is not Profile.CONSUMER:
        asked_ms, bounds = spec.classic_session_timeout_ms, world.memory.session_bounds
        return (Timeout("timeouts.session", asked_ms, within(asked_ms, bounds), bounds),)
    asked = spec.consumer
    wanted = (
        ("session", asked.session_timeout_ms if asked else None, broker.consumer_session if broker else None),
        ("heartbeat", asked.heartbeat_interval_ms if asked else None, broker.consumer_heartbeat if broker else None),
    )
    return tuple(
        Timeout(f"timeouts.consumer.{name}", asked_ms, within(asked_ms, bounds), bounds)
        for name, asked_ms, bounds in wanted
        if asked_ms is not None
    )


def change_due(world: World) -> AlterGroupSettings | None:
    """What is not yet as it should be in Kafka; None while that, or what the brokers allow, is not known."""
    settings = world.seen.settings if world.seen is not None else None
    if world.memory.protocol is not Profile.CONSUMER or settings is None or world.broker is None:
        return None
    wanted = settings_wanted(world)
    changed: dict[str, str | None] = {n: value for n, value in wanted.items() if settings.get(n) != value}
    stale = [name for name in world.memory.group_settings if name not in wanted and name in settings]
    changed |= dict.fromkeys(stale)
    return AlterGroupSettings(changed) if changed else None


def settings_wanted(world: World) -> Mapping[str, str]:
    """The group's own settings by Kafka's names; those that the spec leaves out are left to the brokers."""
    names = {"timeouts.consumer.session": SESSION, "timeouts.consumer.heartbeat": HEARTBEAT}
    return {names[each.name]: str(each.set_ms) for each in timeouts_in_force(world) if each.name in names}
