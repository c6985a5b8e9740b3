"""`slackwater why --defaults`: whose each setting of a group is, layer by layer. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.core.decision.words import shown
from slackwater.core.fleet.explained import Layer, Line, Origins
from slackwater.core.fleet.layers import PINNED, Given

Json = dict[str, Any]

_OF_CONSUMER: Final = ("timeouts.consumer.session", "timeouts.consumer.heartbeat")
_OF_CLASSIC: Final = ("timeouts.session", "timeouts.heartbeat")
_OF_ADVICE: Final = (
    "timeouts.objective.recoverWithin",
    "timeouts.objective.needlessRebalancesPerMonth",
    "timeouts.warmUp",
)
_OF_HANDOVER: Final = ("rollout.handover", "rollout.surgeTimeout")
_OF_IN_PLACE: Final = ("rollout.maxUnavailable",)
_NOBODYS: Final = {
    "protocol.target": "the consumers' own",
    "timeouts.maxPollRecords": "the library's own",
    **dict.fromkeys(_OF_CONSUMER, "the brokers' own"),
}
_SAID: Final = (Layer.GROUP, Layer.FLEET, Layer.KEPT)
_WIDTH: Final = 1024


@dataclass(frozen=True, slots=True)
class DefaultsLook:
    namespace: str
    name: str
    origins: Origins
    unread: frozenset[str] = frozenset()
    """Fleets, by `namespace/name`, of which the group has something, and that whoever looks may not read."""
    is_partial: bool = False
    """There may be fleets, or campaigns, that whoever looks may not list."""


def defaults_picture(look: DefaultsLook) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for header in ("Setting", "Value"):
        table.add_column(header, no_wrap=True)
    table.add_column("Whose it is", overflow="fold")
    for line in _that_count(look):
        style = "dim" if line.layer is Layer.BUILT_IN and line.comes is None and not line.over else ""
        table.add_row(
            Text(line.field, style), Text(_in_words(line.field, line.value), style), _whose(line, look, style)
        )
    return Group(table, *(Text(words, style) for words, style in _remarks(look)))


def defaults_document(look: DefaultsLook) -> Json:
    """Fields are added to it, never renamed. `value`: null where the client library has its own, or nothing holds."""
    return {
        "version": 1,
        "namespace": look.namespace,
        "name": look.name,
        "partial": look.is_partial,
        "refused": look.origins.refused,
        "settings": [_document(line) for line in look.origins.lines],
    }


def _document(line: Line) -> Json:
    comes = line.comes
    return {
        "field": line.field,
        "value": line.value,
        "layer": line.layer.value,
        "fleet": line.fleet or None,
        "generation": line.generation or None,
        "needsRollout": line.field in PINNED,
        "pinned": line.field in PINNED and line.layer in (Layer.FLEET, Layer.KEPT),
        "next": None
        if comes is None
        else {
            "value": comes.value,
            "fleet": comes.by.key,
            "generation": comes.by.generation,
            "campaign": line.campaign or None,
        },
        "endsWithNextRollout": line.goes,
        "over": [{"fleet": fleet, "value": value} for fleet, value in line.over],
    }


def _that_count(look: DefaultsLook) -> Iterator[Line]:
    """Without those that concern another protocol, strategy or mode than the group's, where nobody says anything of
    them."""
    values = {line.field: line.value for line in look.origins.lines}
    idle = set(_OF_CLASSIC if values["protocol.target"] == "Consumer" else _OF_CONSUMER)
    idle.update(_OF_IN_PLACE if values["rollout.strategy"] == "WarmHandover" else _OF_HANDOVER)
    idle.update(_OF_ADVICE if values["timeouts.mode"] == "Off" else ())
    for line in look.origins.lines:
        if line.field not in idle or line.layer is not Layer.BUILT_IN or line.comes is not None or line.over:
            yield line


def _in_words(field: str, value: JsonValue) -> str:
    if value is None:
        return _NOBODYS.get(field, "none")
    return value if isinstance(value, str) else json.dumps(value)


def _whose(line: Line, look: DefaultsLook, style: str) -> Text:
    return Text("; ".join(_sayings(line, look)), style)


def _sayings(line: Line, look: DefaultsLook) -> Iterator[str]:
    yield f"{_who(line)}{_over(line)}"
    if line.comes is not None:
        yield _what_comes(line, line.comes)
    elif line.layer is Layer.KEPT:
        yield _what_becomes(line, look)


def _what_comes(line: Line, given: Given) -> str:
    value, fleet = _in_words(line.field, given.value), f"ConsumerFleet {given.by.key}"
    if line.campaign and given.by.says.get(line.field) != given.value:
        return f"{value} comes with FleetCampaign {line.campaign}, as {fleet} said it when that began"
    how = f"FleetCampaign {line.campaign}" if line.campaign else "the next rollout"
    return f"{value} of {fleet} (generation {given.by.generation}) comes with {how}"


def _who(line: Line) -> str:
    match line.layer:
        case Layer.GROUP:
            return "the group itself"
        case Layer.FLEET:
            pinned = ", pinned" if line.field in PINNED else ""
            return f"ConsumerFleet {line.fleet} (generation {line.generation}){pinned}"
        case Layer.KEPT:
            return f"pinned, as ConsumerFleet {line.fleet} said it at the last rollout"
        case Layer.RECOMMENDED:
            return "a recommendation that was adopted"
        case _:
            return "Slackwater's own" if line.value is not None else "not set"


def _over(line: Line) -> str:
    others = ", ".join(f"{_in_words(line.field, value)} of ConsumerFleet {fleet}" for fleet, value in line.over)
    if not others:
        return ""
    return f", over {others}" if line.layer in _SAID else f"; refused: {others}"


def _what_becomes(line: Line, look: DefaultsLook) -> str:
    if line.campaign:
        return f"this stays until FleetCampaign {line.campaign} is over, or has called the group"
    if line.fleet in look.unread:
        return "you may not read what it says by now"
    return "it no longer does, so the next rollout takes it away" if line.goes else "it is gone, so this stays"


def _remarks(look: DefaultsLook) -> Iterator[tuple[str, str]]:
    lines = look.origins.lines
    if look.origins.refused:
        yield shown(f"Not all that fleets give counts: {look.origins.refused.rstrip('.')}.", _WIDTH), "red"
    for key in sorted({line.comes.by.key for line in lines if line.comes is not None and not line.campaign}):
        namespace, _, fleet = key.partition("/")
        start = f"slackwater campaign start NAME --fleet {fleet} -n {namespace} --apply-defaults"
        yield f"All groups of {key} take it up, wave by wave, with a campaign: {start}", ""
    if not any(line.fleet or line.comes is not None or line.over for line in lines):
        yield "No ConsumerFleet gives it any defaults.", "dim"
    if look.is_partial:
        words = "Fleets of other namespaces may give it defaults as well, and campaigns may have yet to bring them"
        yield f"{words}: you may not list all of them.", "yellow"
