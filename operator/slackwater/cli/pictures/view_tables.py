"""The tables of the view: pods, gates, conditions. Pure; see `view`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.cli.pictures.pod_rows import PodRow, compact, other_members
from slackwater.cli.words.gates import GateVerdict, Mark
from slackwater.cli.words.protocol import is_refusal
from slackwater.core.decision.words import shown as shorter
from slackwater.core.members.presence import Presence
from slackwater.core.world.world import World
from slackwater.terminal import one_line

MOST_PODS: Final = 16
"""Rows for pods; with more of them, only those that something is to be said about."""
_SIGNS: Final = {Mark.PASS: "✓", Mark.REFUSE: "✗", Mark.UNKNOWN: "?", Mark.NOT_ASKED: "·"}
_ASCII_SIGNS: Final = {Mark.PASS: "+", Mark.REFUSE: "x", Mark.UNKNOWN: "?", Mark.NOT_ASKED: "-"}
_SIGN_STYLES: Final = {Mark.PASS: "green", Mark.REFUSE: "bold red", Mark.UNKNOWN: "yellow", Mark.NOT_ASKED: "dim"}
_JOINED: Final = {Presence.YES: "yes", Presence.NO: "no", Presence.UNKNOWN: "?", None: ""}
_GOOD_WHEN_TRUE: Final = ("Ready", "GroupStable", "StaticMembership")
_BAD_WHEN_TRUE: Final = ("Degraded", "RolloutGated", "Lagging", "Oversized", "Paused", "ScalingHeld", "TimeoutsClamped")


def gate_signs(ascii_only: bool) -> Mapping[Mark, tuple[str, str]]:
    """A sign and its style for what a gate says."""
    return {mark: ((_ASCII_SIGNS if ascii_only else _SIGNS)[mark], _SIGN_STYLES[mark]) for mark in Mark}


def pod_table(rows: Sequence[PodRow], only_topic: str) -> Table:
    """A row for each pod. `only_topic`: its name is left out of the partitions; empty where there are several."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("Pod", no_wrap=True)
    table.add_column("Version", no_wrap=True)
    table.add_column("Ready", no_wrap=True)
    table.add_column("Joined", no_wrap=True)
    table.add_column("Restarts", no_wrap=True, justify="right")
    table.add_column("Partitions")
    table.add_column("Lag", no_wrap=True, justify="right")
    table.add_column("")
    shown = rows if len(rows) <= MOST_PODS else [row for row in rows if row.notable][:MOST_PODS]
    for row in shown:
        table.add_row(
            Text(row.name, "" if row.ready else "yellow"),
            Text(row.version, "cyan" if row.version == "new" else ""),
            Text("yes" if row.ready else "no", "green" if row.ready else "bold red"),
            Text(_JOINED[row.joined], "green" if row.joined is Presence.YES else "yellow"),
            str(row.restarts or ""),
            _clipped(f"{len(row.partitions)}: {compact(row.partitions, only_topic)}" if row.partitions else ""),
            "" if row.lag is None else f"{row.lag:,}",
            _clipped(row.note, "yellow"),
        )
    if rest := len(rows) - len(shown):
        table.add_row(Text(f"and {rest} more", "dim"))
    return table


def _clipped(text: str, style: str = "") -> Text:
    """One line, and the part of the row that gives way where there is no room (rich narrows such columns first)."""
    return Text(text, style, no_wrap=True, overflow="ellipsis")


def strangers(world: World) -> Iterator[Text]:
    for member in other_members(world)[:MOST_PODS]:
        by, host = member.instance_id or member.member_id, member.host.lstrip("/")
        who = f"{shorter(by)}, client {shorter(member.client_id)} at {shorter(host)}"
        owned = f", owns {compact(member.assignment)}" if member.assignment else ""
        yield Text(one_line(f"! a member that runs in no pod of this group: {who}{owned}"), "bold yellow")


def gate_table(gates: Sequence[GateVerdict], title: str, ascii_only: bool) -> Table:
    signs = gate_signs(ascii_only)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=False, title=title, title_justify="left")
    table.title_style = "dim"
    for gate in gates:
        table.add_row(Text(*signs[gate.mark]), Text(f"{gate.number} {gate.name}"))
    if not gates:
        table.add_row("asked once it has pods")
    return table


def gate_messages(gates: Sequence[GateVerdict], said: str) -> Iterator[Text]:
    """Why a gate does not pass, where that was not said already: a line each, whatever stands in an annotation."""
    for gate in gates:
        if gate.message and gate.message != said:
            yield Text.assemble((f"Gate {gate.number}: ", "yellow"), one_line(gate.message))


def condition_table(conditions: Sequence[Mapping[str, Any]], wide: bool) -> RenderableType:
    title = "Conditions, as the operator says" if conditions else "The operator has reported nothing: does it run?"
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=False, title=title, title_justify="left")
    table.title_style = "dim"
    for _ in range(3):
        table.add_column(no_wrap=True)
    if wide:
        table.add_column()
    for condition in conditions:
        style = "yellow" if _is_bad(condition) else ""
        cells = [Text(str(condition.get(key, "")), style) for key in ("type", "status", "reason")]
        table.add_row(*cells, *([_clipped(str(condition.get("message", "")))] if wide else []))
    return table


def condition_messages(conditions: Sequence[Mapping[str, Any]], said: set[str]) -> Iterator[Text]:
    """Where the table has no room for them: what is not as one would wish, each sentence once."""
    for condition in conditions:
        message = str(condition.get("message") or "")
        if _is_bad(condition) and message and not any(message in words for words in said):
            said.add(message)
            yield Text.assemble((f"{condition['type']}: ", "yellow"), one_line(message))


def _is_bad(condition: Mapping[str, Any]) -> bool:
    kind, status = condition.get("type"), condition.get("status")
    wrong = (kind in _GOOD_WHEN_TRUE and status != "True") or (kind in _BAD_WHEN_TRUE and status == "True")
    return wrong or is_refusal(condition)
