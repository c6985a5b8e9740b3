"""What a group is run by: what it says itself, and what fleets give where it says nothing. They restart nobody.

What needs no restart is in force at once. What changes pods or their protocol is pinned: it comes with the group's next
rollout, or by a campaign, and stays when the fleet is deleted. The whole is judged by the group's own rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue, ValidationError

from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.durations import WIRE_CONTEXT
from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.model import ApiModel, refusals
from slackwater.api.protocol import Protocol
from slackwater.api.rollout import Rollout
from slackwater.api.sentences import sentences
from slackwater.api.timeouts import Timeouts
from slackwater.core.decision.words import listing
from slackwater.core.fleet.layers import PINNED, Given, Said, said_by
from slackwater.core.fleet.records import Values
from slackwater.core.world.inherited import Pin, Pins

_PARTS: Final[Mapping[str, type[ApiModel]]] = {"protocol": Protocol, "timeouts": Timeouts, "rollout": Rollout}


@dataclass(frozen=True, slots=True)
class Own:
    """A group's spec as it was written, and what is said there."""

    spec: ConsumerGroupSpec
    says: Said

    @staticmethod
    def of(spec: ConsumerGroupSpec) -> Own:
        return Own(spec, said_by(spec))


@dataclass(frozen=True, slots=True)
class InForce:
    """`refused`: why not all that fleets give is in force, as a sentence; empty: all of it is."""

    spec: ConsumerGroupSpec
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Renewed:
    """What is pinned from now on; `refused`: why that is what was pinned before."""

    pins: Pins
    refused: str = ""


def in_force(own: Own, given: Mapping[str, Given], pins: Pins) -> InForce:
    """What the group is run by now. Where the whole is refused, less of it: pins first, since pods run by them."""
    pinned: Said = {name.value: pin.value for name, pin in pins.items()}
    at_once: Said = {path: each.value for path, each in given.items() if path not in PINNED}
    refused = ""
    for values in ({**at_once, **pinned}, pinned, at_once):
        union = with_values(own, values)
        if not isinstance(union, str):
            return InForce(union, refused)
        refused = refused or f"{_from(given, pins)} does not go with what the group says itself: {union}"
    return InForce(own.spec, refused)


def _from(given: Mapping[str, Given], pins: Pins) -> str:
    fleets = sorted({each.by.key for each in given.values()} | {pin.fleet for pin in pins.values()})
    return f"what is given by ConsumerFleet {listing(fleets)}"


def with_next_rollout(
    own: Own,
    given: Mapping[str, Given],
    pins: Pins,
    living: frozenset[str],
    held: frozenset[PinnedField] = frozenset(),
) -> Renewed:
    """A rollout is about to begin, for whatever reason: it takes along what fleets say by now.

    `living`: all fleets that there are, by `namespace/name`: what one gave that was deleted stays.
    `held`: what a campaign has yet to bring, and stays as it is until then.
    """
    gone = {name: pin for name, pin in pins.items() if pin.fleet not in living and name not in given}
    kept = gone | {name: pin for name, pin in pins.items() if name in held}
    new = {
        name: Pin(given[name].value, given[name].by.key) for name in PinnedField if name in given and name not in held
    }
    return _renewed(own, given, pins, {**kept, **new})


def by_campaign(own: Own, given: Mapping[str, Given], pins: Pins, applies: Values, fleet: str) -> Renewed:
    """What a campaign orders of the group, of `fleet` (`namespace/name`). Others of its pins stay as they are."""
    return _renewed(own, given, pins, {**pins, **{name: Pin(value, fleet) for name, value in applies.items()}})


def without_own(own: Own, pins: Pins) -> Pins:
    """What the group says itself by now is not inherited, and does not come back when it stops saying it."""
    return {name: pin for name, pin in pins.items() if name not in own.says} if own.says.keys() & pins.keys() else pins


def _renewed(own: Own, given: Mapping[str, Given], before: Pins, wanted: Pins) -> Renewed:
    wanted = without_own(own, wanted)
    judged = in_force(own, given, wanted)
    return Renewed(without_own(own, before), judged.refused) if judged.refused else Renewed(wanted)


def to_take_up(own: Own, given: Mapping[str, Given], applies: Values, fleet: str) -> Values:
    """What of a campaign's defaults concerns the group: what neither it says itself, nor a fleet that goes first."""
    return {
        name: value for name, value in applies.items() if name not in own.says and not is_nearer(given, name, fleet)
    }


def is_nearer(given: Mapping[str, Given], name: PinnedField, fleet: str) -> bool:
    """Another fleet than `fleet` (`namespace/name`) has the say of the field."""
    return name in given and given[name].by.key != fleet


def with_values(own: Own, values: Said) -> ConsumerGroupSpec | str:
    """The spec with `values` where it says nothing; or why the two do not go together."""
    parts: dict[str, ApiModel] = {}
    for name, model in _PARTS.items():
        ours = {path: value for path, value in values.items() if path.startswith(f"{name}.") and path not in own.says}
        if ours:
            union = _with(getattr(own.spec, name), model, name, ours)
            if isinstance(union, str):
                return union
            parts[name] = union
    spec = own.spec.model_copy(update=parts) if parts else own.spec
    broken = refusals(spec)
    return f"spec.{broken[0][0]}: {broken[0][1]}" if broken else spec


def _with(part: ApiModel, model: type[ApiModel], name: str, values: Said) -> ApiModel | str:
    written: dict[str, Any] = part.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for path, value in values.items():
        _put(written, path.split(".")[1:], value)
    try:
        return model.model_validate(written, by_alias=True, by_name=False, context=WIRE_CONTEXT)
    except ValidationError as error:
        return f"spec.{name}.{sentences(model, error)[0].removesuffix('.')}"


def _put(node: dict[str, Any], path: list[str], value: JsonValue) -> None:
    *parents, last = path
    for parent in parents:
        node = node.setdefault(parent, {})
    node[last] = value
