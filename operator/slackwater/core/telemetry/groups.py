"""How a group is: `group_observed` events, when anything in it has changed, and lag at most once a minute.

A restarted operator tells once how it finds each group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slackwater.api.owned_settings import OwnedSetting
from slackwater.api.telemetry.bodies import GroupObserved
from slackwater.api.telemetry.events import GroupObservedEvent
from slackwater.api.telemetry.words import EventType, GroupType, RebalanceProtocol
from slackwater.core.telemetry.given_settings import kafka_name, milliseconds, settings_in_template
from slackwater.core.telemetry.sight import Sight
from slackwater.core.telemetry.warming import WarmUp
from slackwater.core.timeouts.classic import classic_timeouts
from slackwater.core.timeouts.group_settings import HEARTBEAT, SESSION, settings_wanted
from slackwater.core.world.broker import Bounds
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.profile import Profile, profile_shown
from slackwater.core.world.world import World

LAG_EVERY_S: Final = 60.0

_Range = tuple[int | None, int | None]
_NOT_KNOWN: Final[_Range] = (None, None)


@dataclass(frozen=True, slots=True)
class Observed:
    body: GroupObserved | None = None
    """What was told last."""
    told_at: float = 0.0


def follow_group(
    observed: Observed, sight: Sight, warm_up: WarmUp | None = None
) -> tuple[Observed, tuple[GroupObservedEvent, ...]]:
    """Fold one more sight in. `warm_up`: the last one that was measured."""
    if (kafka := sight.world.seen) is None:
        return observed, ()
    body = _describe(sight.world, kafka, warm_up)
    if not _is_news(observed, body, sight.world.now):
        return observed, ()
    event = GroupObservedEvent(
        **sight.envelope("group_observed", kafka.observed_at, body.model_dump_json()),
        type=EventType.GROUP_OBSERVED,
        group_observed=body,
    )
    return Observed(body, sight.world.now), (event,)


def _is_news(observed: Observed, body: GroupObserved, now: float) -> bool:
    if observed.body is None:
        return True
    but_for_lag = body.model_copy(update={"lag": observed.body.lag})
    return but_for_lag != observed.body or (body != observed.body and now - observed.told_at >= LAG_EVERY_S)


def _describe(world: World, kafka: GroupObservation, warm_up: WarmUp | None) -> GroupObserved:
    spec = world.group.spec
    owned = {partition for member in kafka.members for partition in member.assignment}
    session, heartbeat, max_poll_interval, max_poll_records = _settings(world, kafka)
    session_bounds, heartbeat_bounds = _bounds(world, kafka)
    objective = spec.timeouts.objective
    return GroupObserved(
        state=kafka.state.value,
        group_type=GroupType(kafka.type.value),
        assignor=kafka.assignor,
        members=len(kafka.members),
        partitions=len(kafka.partitions),
        unowned_partitions=len(kafka.partitions - owned),
        lag=kafka.lag,
        replicas=world.replicas,
        members_per_pod=spec.members_per_pod,
        membership=spec.membership,
        rollout_strategy=spec.rollout.strategy,
        library=spec.client.library,
        library_version=spec.client.version,
        protocol=_protocol(kafka),
        timeouts_mode=spec.timeouts.mode,
        session_timeout_ms=session,
        heartbeat_interval_ms=heartbeat,
        max_poll_interval_ms=max_poll_interval,
        max_poll_records=max_poll_records,
        recover_within_ms=objective.recover_within_ms if objective else None,
        needless_rebalances_per_month=objective.needless_rebalances_per_month if objective else None,
        session_min_ms=session_bounds[0],
        session_max_ms=session_bounds[1],
        heartbeat_min_ms=heartbeat_bounds[0],
        heartbeat_max_ms=heartbeat_bounds[1],
        spec_generation=world.group.metadata.generation,
        warm_up_ms=spec.timeouts.warm_up_ms,
        warmed_up_s=warm_up.took_s if warm_up else None,
        warmed_up_after=warm_up.rebalance_at if warm_up else None,
    )


def _protocol(kafka: GroupObservation) -> RebalanceProtocol:
    if kafka.type.value == GroupType.CONSUMER.value:
        return RebalanceProtocol.CONSUMER
    shown = profile_shown(kafka.assignor)
    return RebalanceProtocol(shown.value) if shown is not None else RebalanceProtocol.UNKNOWN


def _settings(world: World, kafka: GroupObservation) -> tuple[int | None, int | None, int | None, int | None]:
    """Session, heartbeat, max poll interval and max poll records that the members have, as far as it is known."""
    written = settings_in_template(world)
    poll = (OwnedSetting.MAX_POLL_INTERVAL_MS, OwnedSetting.MAX_POLL_RECORDS)
    interval, records = (milliseconds(written, kafka_name(setting)) for setting in poll)
    interval = interval if interval is not None else world.group.spec.timeouts.given_max_poll_interval_ms
    if _is_modern(world, kafka):
        own = kafka.settings if kafka.settings is not None else settings_wanted(world)
        return milliseconds(own, SESSION), milliseconds(own, HEARTBEAT), interval, records
    wanted = classic_timeouts(world.group.spec.timeouts, world.memory.session_bounds)
    session = milliseconds(written, kafka_name(OwnedSetting.SESSION_TIMEOUT_MS))
    heartbeat = milliseconds(written, kafka_name(OwnedSetting.HEARTBEAT_INTERVAL_MS))
    return session or wanted.session_ms, heartbeat or wanted.heartbeat_ms, interval, records


def _bounds(world: World, kafka: GroupObservation) -> tuple[_Range, _Range]:
    """What the brokers allow a session and a heartbeat to be, for the protocol in force."""
    if world.broker is None:
        return _NOT_KNOWN, _NOT_KNOWN
    if _is_modern(world, kafka):
        return _ends(world.broker.consumer_session), _ends(world.broker.consumer_heartbeat)
    return _ends(world.broker.classic_session), _NOT_KNOWN


def _ends(bounds: Bounds | None) -> _Range:
    return (bounds.min_ms, bounds.max_ms) if bounds is not None else _NOT_KNOWN


def _is_modern(world: World, kafka: GroupObservation) -> bool:
    """KIP-848: by the group itself; by what its pods are given while nobody is in it."""
    if kafka.members:
        return kafka.type.value == GroupType.CONSUMER.value
    return world.memory.protocol is Profile.CONSUMER
