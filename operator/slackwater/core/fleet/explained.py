"""Each default of a group, and whose it is: what `explain --defaults` shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from slackwater.api.durations import format_duration
from slackwater.api.protocol import Protocol
from slackwater.api.rollout import Rollout
from slackwater.api.timeouts import Timeouts
from slackwater.core.fleet.defaults import Own
from slackwater.core.fleet.layers import FIELDS, PINNED, Given, Said, value_at
from slackwater.core.world.inherited import Pin, Pins


class Layer(StrEnum):
    """Who says what is in force."""

    GROUP = "Group"
    FLEET = "Fleet"
    KEPT = "Kept"
    """A fleet said it when the pods were made. It says something else by now, or nothing, or is gone."""
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
    """What the next rollout brings along."""
    over: tuple[tuple[str, JsonValue], ...] = ()
    """Fleets that say something else and do not count, by `namespace/name`."""


def lines(own: Own, given: Mapping[str, Given], pins: Pins) -> tuple[Line, ...]:
    """Of each field of which some fleet says something, or did."""
    named = {name.value: pin for name, pin in pins.items()}
    concerned = [path for path in FIELDS if path in given or path in named]
    return tuple(_line(path, own, given.get(path), named.get(path)) for path in concerned)


def _line(path: str, own: Own, given: Given | None, pin: Pin | None) -> Line:
    if path in own.says:
        value = own.says[path]
        says = () if given is None else ((given.by, given.value), *given.over)
        return Line(path, value, Layer.GROUP, over=tuple((giver.key, said) for giver, said in says if said != value))
    over = () if given is None else tuple((giver.key, said) for giver, said in given.over)
    if given is not None and (path not in PINNED or (pin is not None and pin.value == given.value)):
        return Line(path, given.value, Layer.FLEET, given.by.key, given.by.generation, over=over)
    if pin is not None:
        return Line(path, pin.value, Layer.KEPT, pin.fleet, comes=given, over=over)
    return Line(path, built_in(path), Layer.BUILT_IN, comes=given, over=over)


def built_in(path: str) -> JsonValue:
    """What holds where nobody says anything; None: nothing does, or the client library's own."""
    value = _SAID_ELSEWHERE.get(path, value_at(_BUILT_IN, path))
    return None if value == [] else value


_MODELS: Final = {"protocol": Protocol(), "timeouts": Timeouts(), "rollout": Rollout()}
_BUILT_IN: Final[Said] = {name: model.model_dump(mode="json", by_alias=True) for name, model in _MODELS.items()}
_SAID_ELSEWHERE: Final[Mapping[str, JsonValue]] = {
    "timeouts.session": format_duration(Timeouts().classic_session_timeout_ms),
    "timeouts.heartbeat": format_duration(Timeouts().classic_heartbeat_interval_ms),
    "timeouts.maxPollInterval": format_duration(Timeouts().given_max_poll_interval_ms),
}
"""What the models leave open, and code fills in."""
