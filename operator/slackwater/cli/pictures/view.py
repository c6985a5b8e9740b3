"""The view of one group: pods, members, partitions, gates, conditions and the step in hand, on 80 columns or more.

`render_view(world, plan)` is pure: the same values give the same picture. It says everything in words and signs, so
that nothing is lost without colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from slackwater.api.timestamps import moment
from slackwater.cli.pictures.pod_rows import compact, pod_rows
from slackwater.cli.pictures.view_tables import (
    condition_messages,
    condition_table,
    gate_messages,
    gate_table,
    pod_table,
    strangers,
)
from slackwater.cli.words.conditions import conditions_of
from slackwater.cli.words.explanation import Explanation, explain
from slackwater.cli.words.gates import GateVerdict, gates_by_reason
from slackwater.cli.words.protocol import protocol_line, refused
from slackwater.cli.words.standing import (
    Standing,
    alarms,
    rollout_in_words,
    standing_of,
    taken_up,
    told_by_the_operator,
    where_to_read,
)
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import count, seconds
from slackwater.core.world.observation import GroupObservation, GroupState
from slackwater.core.world.world import World
from slackwater.terminal import one_line

WIDE: Final = 110
"""Columns from which conditions are shown with their messages beside the gates."""

_PHASE_STYLES: Final = {"Ready": "green", "Failed": "bold red", "RollingBack": "red", "RolledBack": "red"}


def render_view(world: World, plan: Decision, width: int | None = None, trouble: str = "") -> RenderableType:
    """The picture of `world`, of which `plan` is the plan. Print it with rich, or put it into a `rich.live.Live`.

    `width`: columns to lay it out for; the console's when None. `trouble`: a sentence to show on top, such as why the
    picture is not of now.
    """
    return _View(world, plan, explain(world, plan), width, trouble)


@dataclass(frozen=True)
class _View:
    world: World
    plan: Decision
    explanation: Explanation
    width: int | None
    trouble: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = self.width or options.max_width
        for part in self._parts(wide=width >= WIDE, ascii_only=options.ascii_only):
            yield from console.render(part, options.update(width=width))

    def _parts(self, wide: bool, ascii_only: bool) -> Iterator[RenderableType]:
        yield self._title()
        if self.trouble:
            yield Text(one_line(self.trouble), style="bold yellow")
        yield self._head()
        yield Text()
        if (theirs := self.world.foreign) is not None:
            yield Text(f"Pods of StatefulSet {theirs.name}, which is not this group's, are not shown.", "yellow")
        else:
            yield pod_table(pod_rows(self.world, self.plan, self.explanation), self._only_topic())
        yield from strangers(self.world)
        yield Text()
        gates, whose = self._gates()
        below = Table.grid(padding=(0, 3))
        below.add_row(gate_table(gates, whose, ascii_only), condition_table(conditions_of(self.world), wide))
        yield below
        yield from gate_messages(gates, said=self._standing.words)
        if not wide:
            yield from condition_messages(conditions_of(self.world), self._said())

    def _said(self) -> set[str]:
        refusal = refused(self.world, self.plan)
        shown = {message for _, message in alarms(self.world, self.explanation)}
        return {self._standing.words, *shown, refusal.message if refusal else ""}

    @property
    def _standing(self) -> Standing:
        return standing_of(self.world, self.explanation)

    def _only_topic(self) -> str:
        topics = self.world.group.spec.topics
        return topics[0] if len(topics) == 1 else ""

    def _title(self) -> Text:
        group = self.world.group
        phase = one_line(str(group.status.get("phase") or "not taken up yet"))
        title = Text.assemble((group.name, "bold"), f"  in namespace {group.namespace}  ")
        if group.group_id != group.name:
            title.append(f"group {group.group_id}  ")
        return title.append(phase, _PHASE_STYLES.get(phase, "yellow"))

    def _head(self) -> Table:
        lines = Table.grid(padding=(0, 2))
        lines.add_column(style="dim", no_wrap=True)
        lines.add_column()
        for label, text in self._head_lines():
            lines.add_row(label, text)
        return lines

    def _head_lines(self) -> Iterator[tuple[str, Text]]:
        world = self.world
        if world.group.status and not taken_up(world.group):
            yield "Operator", Text(f"has not taken up generation {world.group.metadata.generation} yet", "yellow")
        yield "Rollout", Text(rollout_in_words(world, self.plan))
        yield "Protocol", protocol_line(world, self.plan)
        if refusal := refused(world, self.plan):
            yield "", Text(where_to_read(refusal.reason), "dim")
        standing = self._standing
        reason = f"{standing.reason}: " if standing.reason else ""
        yield "Waits" if standing.holds else "Next", Text.assemble((reason, "bold yellow"), standing.words)
        if of := standing.reason or standing.unready:
            yield "", Text(where_to_read(of), "dim")
        if self.explanation.afterwards:
            yield "Then", Text(self.explanation.afterwards)
        yield "Group", _group(world)
        for kind, message in alarms(self.world, self.explanation):
            yield kind, Text(message, "bold yellow")

    def _gates(self) -> tuple[Sequence[GateVerdict], str]:
        """Our own judgement; where Kafka cannot be asked from here, the operator's word."""
        if gated := told_by_the_operator(self.world, self.explanation):
            told = gates_by_reason(self.world, Reason.parse(gated.get("reason")), str(gated.get("message")))
            if told is not None:
                return told, "Gates, by the operator"
        return self.explanation.gates, "Gates"


def _group(world: World) -> Text:
    kafka = world.kafka
    if isinstance(kafka, GroupObservation):
        if kafka.state is GroupState.DEAD:
            return Text(kafka.state_in_words, "yellow")
        kinds = ", ".join(filter(None, (kafka.state.value, kafka.type.value, kafka.assignor)))
        lag = "lag not known" if kafka.lag is None else f"lag {kafka.lag:,}"
        unowned = kafka.partitions - {p for member in kafka.members for p in member.assignment}
        alone = f" ({len(unowned)} without an owner: {compact(unowned)})" if unowned else ""
        size = f"{count(len(kafka.members), 'member')}, {count(len(kafka.partitions), 'partition')}"
        text = f"{kinds}: {size}{alone}, {lag}"
        return Text(text, "" if kafka.calm else "yellow")
    told = world.group.status.get("group")
    if not isinstance(told, Mapping) or "observedAt" not in told:
        return Text(f"cannot be seen from here: {kafka.message}", "yellow")
    age = seconds(max(0.0, world.now - moment(str(told["observedAt"]))))
    sizes = ((told.get(f"{what}s"), what) for what in ("member", "partition"))
    figures = ", ".join(f"{size} {what}" if size == 1 else f"{size} {what}s" for size, what in sizes)
    seen = f"{told.get('state')}, {told.get('type')}: {figures}"
    return Text(f"{seen}, as the operator saw {age} ago; from here: {kafka.message}", "yellow")
