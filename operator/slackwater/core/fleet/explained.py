"""Each setting that a fleet may give a group, and whose it is: what `why --defaults` shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from slackwater.api.durations import format_duration
from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.protocol import Protocol
from slackwater.api.rollout import Rollout
from slackwater.api.timeouts import Timeouts
from slackwater.core.fleet.defaults import Own, in_force, with_next_rollout, without_own
from slackwater.core.fleet.held_defaults import HeldDefaults
from slackwater.core.fleet.layers import FIELDS, Given, Said, said_by, value_at
from slackwater.core.world.inherited import Pin, Pins
from slackwater.core.world.settings import Values, with_adopted


class Layer(StrEnum):
    """Who says what is in force."""

    GROUP = "Group"
    FLEET = "Fleet"
    KEPT = "Kept"
    """A fleet said it when the pods were made. It says something else by now, or nothing, or is gone."""
    RECOMMENDED = "Recommended"
    """A recommendation that was adopted: neither the group nor a fleet says anything."""
    BUILT_IN = "BuiltIn"


@dataclass(frozen=True, slots=True)
class Line:
    field: str
    """Path below `spec`."""
    value: JsonValue
    """In force now; None: what the client library has, or nothing."""
    layer: Layer
    fleet: str = ""
    """`namespace/name` of the fleet that says so, or said so."""
    generation: int = 0
    comes: Given | None = None
    """What the next rollout brings along, or `campaign` before that."""
    campaign: str = ""
    """The FleetCampaign, by `namespace/name`, that has yet to bring what fleets say: no rollout of the group's own
    brings it before."""
    goes: bool = False
    """The next rollout takes it away: its fleet is there, and no longer says so."""
    over: tuple[tuple[str, JsonValue], ...] = ()
    """Fleets that say something else and do not count, by `namespace/name`."""


@dataclass(frozen=True, slots=True)
class Origins:
    lines: tuple[Line, ...]
    """One for each of `layers.FIELDS`, part by part."""
    refused: str = ""
    """Why not all that fleets give holds, or will with the next rollout; empty: it does."""


@dataclass(frozen=True, slots=True)
class Around:
    """What there is beside the group, and what fleets say to it."""

    living: frozenset[str] = frozenset()
    """Fleets that there are, by `namespace/name`."""
    held: Mapping[PinnedField, HeldDefaults] = field(default_factory=dict)
    """What campaigns have yet to bring (`held_defaults.holders`)."""


@dataclass(frozen=True, slots=True)
class _Known:
    own: Own
    given: Mapping[str, Given]
    pins: Mapping[str, Pin]
    now: Said
    """What the group is run by, of what it or a fleet says."""
    coming: Mapping[str, Pin]
    """Its pins after the next rollout, and with what campaigns have yet to bring."""
    held: Mapping[str, HeldDefaults]
    adopted: Said
    timeouts: Timeouts


def origins(
    own: Own,
    given: Mapping[str, Given],
    pins: Pins,
    around: Around,
    adopted: Values | None = None,
) -> Origins:
    """`adopted`: recommended timeouts that are in force."""
    pins = without_own(own, pins)
    force = in_force(own, given, pins)
    coming = with_next_rollout(own, given, pins, around.living)
    timeouts = with_adopted(force.spec.timeouts, adopted or {})
    tuned = said_by(force.spec.model_copy(update={"timeouts": timeouts}))
    held = {name.value: by for name, by in around.held.items()}
    known = _Known(own, given, _by_path(pins), said_by(force.spec), _by_path(coming.pins), held, tuned, timeouts)
    return Origins(tuple(_line(path, known) for path in _PART_BY_PART), force.refused or coming.refused)


def _by_path(pins: Pins) -> dict[str, Pin]:
    return {PinnedField(name).value: pin for name, pin in pins.items()}


def _line(path: str, known: _Known) -> Line:
    given, pin, coming = known.given.get(path), known.pins.get(path), known.coming.get(path)
    says = () if given is None else ((given.by.key, given.value), *((giver.key, said) for giver, said in given.over))
    if path in known.own.says:
        value = known.own.says[path]
        return Line(path, value, Layer.GROUP, over=tuple(each for each in says if each[1] != value))
    comes = given if coming is not None and coming.value != known.now.get(path) else None
    held = known.held.get(path)
    if comes is not None and held is not None:
        comes = replace(comes, value=held.applies.get(PinnedField(path), comes.value))
    campaign = held.named if held is not None and (comes is not None or given is None) else ""
    if path not in known.now:  # nobody says anything of it, or what fleets say is refused, or comes later
        value, layer = _of_nobody(path, known)
        said = () if comes is not None else says
        return Line(path, value, layer, comes=comes, campaign=campaign if comes is not None else "", over=said)
    value, over = known.now[path], says[1:]
    if given is not None and given.value == value:
        return Line(path, value, Layer.FLEET, given.by.key, given.by.generation, over=over)
    goes = given is None and coming is None and not campaign
    fleet = pin.fleet if pin is not None else ""
    return Line(path, value, Layer.KEPT, fleet, comes=comes, campaign=campaign, goes=goes, over=over)


def _of_nobody(path: str, known: _Known) -> tuple[JsonValue, Layer]:
    if path in known.adopted:
        return known.adopted[path], Layer.RECOMMENDED
    return built_in(path, known.timeouts), Layer.BUILT_IN


def built_in(path: str, timeouts: Timeouts | None = None) -> JsonValue:
    """What holds where nobody says anything; None: nothing does, or the client library's own. `timeouts`: the others,
    where one follows from another."""
    if (filled := _FILLED.get(path)) is not None:
        return format_duration(filled(timeouts or Timeouts()))
    value = value_at(_BUILT_IN, path)
    return None if value == [] else value


_MODELS: Final = {"protocol": Protocol(), "timeouts": Timeouts(), "rollout": Rollout()}
_BUILT_IN: Final[Said] = {name: model.model_dump(mode="json", by_alias=True) for name, model in _MODELS.items()}
_PART_BY_PART: Final = sorted(FIELDS, key=lambda path: [*_MODELS].index(path.partition(".")[0]))
_FILLED: Final[Mapping[str, Callable[[Timeouts], int]]] = {
    "timeouts.session": lambda timeouts: timeouts.classic_session_timeout_ms,
    "timeouts.heartbeat": lambda timeouts: timeouts.classic_heartbeat_interval_ms,
    "timeouts.maxPollInterval": lambda timeouts: timeouts.given_max_poll_interval_ms,
}
"""What the models leave open, and code fills in."""
