"""How long the member of a process that has ended is still listed."""

from __future__ import annotations

from slackwater.core.members.clocks import CONSUMER_SESSION_TIMEOUT_S, SESSION_MARGIN_S
from slackwater.core.timeouts.classic import classic_timeouts
from slackwater.core.world.observation import GroupType
from slackwater.core.world.world import World


def session_left_s(world: World, observed_at: float, died_at: float) -> float:
    """Seconds until a member that died then would be gone: a whole session under one coordinator, the last one or one
    before. `observed_at`: the newest look at the group."""
    session_s = world.once(longest_session_s)
    before, after = world.history.disturbed or (observed_at, died_at)
    if before - died_at >= session_s:
        return 0.0
    return max(0.0, session_s - (observed_at - max(after, died_at)))


def longest_session_s(world: World) -> float:
    """Seconds after which a dead member is certainly out of the group, whichever version it ran."""
    spec, memory = world.timeouts, world.memory
    classic_s = max(memory.session_timeout_ms, classic_timeouts(spec, memory.session_bounds).session_ms) / 1000
    if world.seen is not None and world.seen.type is GroupType.CLASSIC:
        return classic_s + SESSION_MARGIN_S
    bounds = world.broker.consumer_session if world.broker is not None else None
    consumer_s = max(CONSUMER_SESSION_TIMEOUT_S, bounds.max_ms / 1000 if bounds is not None else 0.0)
    return max(classic_s, consumer_s) + SESSION_MARGIN_S  # a migrating group has members of both kinds
