"""What metrics show of a group after a decision: everything that is so now, and needs no memory of earlier passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from slackwater.api.timeouts import TimeoutsMode
from slackwater.core.decision.decision import Decision
from slackwater.core.status.conditions import TRUE, degraded
from slackwater.core.timeouts.judgement import ranges_by_setting, values_now
from slackwater.core.world.memory import Upgrade
from slackwater.core.world.observation import GroupState
from slackwater.core.world.settings import HEARTBEAT_OF, Setting, session_of
from slackwater.core.world.world import World


@dataclass(frozen=True, slots=True)
class Figures:
    """None: not known now."""

    expected_members: int
    members: int | None
    state: GroupState
    lag: int | None
    """Records behind, over all partitions."""
    degraded: bool
    held: str
    """Why nothing is done although there is work; empty: nothing holds."""
    upgrade: Upgrade | None
    actual: Mapping[Setting, int]
    """What the members are given, of the settings that the group's protocol has; milliseconds, or records."""
    recommended: Mapping[Setting, int]


def figures_of(world: World, decided: Decision) -> Figures:
    """`world`: as it was decided upon."""
    spec, memory = world.group.spec, decided.memory
    kafka = world.seen
    after = world.remembering(memory)
    return Figures(
        expected_members=world.replicas * spec.members_per_pod,
        members=len(kafka.members) if kafka is not None else None,
        state=kafka.state if kafka is not None else GroupState.UNKNOWN,
        lag=kafka.lag if kafka is not None else None,
        degraded=degraded(after, decided.hold).status is TRUE,
        held=decided.hold.reason.value if decided.hold is not None else "",
        upgrade=memory.upgrade,
        actual=_actual(after),
        recommended=_recommended(after),
    )


def _actual(world: World) -> Mapping[Setting, int]:
    session = session_of(world.memory.protocol)
    given = values_now(world)
    return {setting: given[setting] for setting in (session, HEARTBEAT_OF[session], *_POLLING)}


def _recommended(world: World) -> Mapping[Setting, int]:
    if world.advice is None or world.group.spec.timeouts.mode is TimeoutsMode.OFF:
        return {}
    ranges = ranges_by_setting(world.advice, world.memory.protocol)
    return {setting: recommended.target for setting, recommended in ranges.items()}


_POLLING: Final = (Setting.MAX_POLL_INTERVAL, Setting.MAX_POLL_RECORDS)
