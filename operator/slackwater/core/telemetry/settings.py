"""New settings of members: `settings_changed` events, by a rollout that has ended or in the group's configs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slackwater.api.telemetry.bodies import SettingChange, SettingsChanged
from slackwater.api.telemetry.events import SettingsChangedEvent
from slackwater.api.telemetry.words import ChangedBy, EventType
from slackwater.core.decision.acts import AlterGroupSettings
from slackwater.core.telemetry.given_settings import settings_in_template
from slackwater.core.telemetry.sight import Sight
from slackwater.core.world.memory import RolloutPhase


@dataclass(frozen=True, slots=True)
class Settings:
    in_pods: Mapping[str, str] | None = None
    """What all pods were last known to have."""


def follow_settings(settings: Settings, sight: Sight) -> tuple[Settings, tuple[SettingsChangedEvent, ...]]:
    """Fold one more sight in."""
    events = [_event(sight, ChangedBy.GROUP_CONFIG, changes) for changes in (_in_kafka(sight),) if changes]
    if not _all_pods_have_the_template(sight):
        return settings, tuple(events)
    now = settings_in_template(sight.world)
    changes = _differences(settings.in_pods, now) if settings.in_pods is not None else ()
    if changes:
        events.append(_event(sight, ChangedBy.ROLLOUT, changes))
    return Settings(now), tuple(events)


def _all_pods_have_the_template(sight: Sight) -> bool:
    world, phase = sight.world, sight.decided.memory.phase
    at_rest = phase in (RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK)
    return at_rest and bool(world.sets) and world.settled and not world.outdated


def _in_kafka(sight: Sight) -> tuple[SettingChange, ...]:
    if not isinstance(sight.acted, AlterGroupSettings):
        return ()
    seen = sight.world.seen
    before = (seen.settings if seen is not None else None) or {}
    asked = sight.acted.values
    kept = {name: value for name, value in before.items() if name not in asked}
    after = kept | {name: value for name, value in asked.items() if value is not None}
    return _differences(before, after)


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[SettingChange, ...]:
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return tuple(SettingChange(name=name, before=before.get(name), after=after.get(name)) for name in names)


def _event(sight: Sight, how: ChangedBy, changes: tuple[SettingChange, ...]) -> SettingsChangedEvent:
    body = SettingsChanged(how=how, changes=changes, spec_generation=sight.world.group.metadata.generation)
    return SettingsChangedEvent(
        **sight.envelope("settings_changed", sight.world.now, body.model_dump_json()),
        type=EventType.SETTINGS_CHANGED,
        settings_changed=body,
    )
