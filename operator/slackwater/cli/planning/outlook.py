"""What `slackwater plan` says: a world with a manifest applied, the plan made of it, and that in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.api.kafka_connection import prefixes_of
from slackwater.api.parsing import parse_kafka_connection
from slackwater.api.timestamps import timestamp
from slackwater.cli.errors import FileUnusable
from slackwater.cli.pictures.view_tables import gate_signs
from slackwater.cli.planning.applying import as_applied, connection_beside
from slackwater.cli.planning.files import Manifests, shown
from slackwater.cli.words.deletion import decide
from slackwater.cli.words.explanation import Explanation, Outcome, explain
from slackwater.cli.words.protocol import protocol_line
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.world.world import World


@dataclass(frozen=True, slots=True)
class Outlook:
    """A world with the manifest applied, what the core plans for it, and that in words."""

    world: World
    plan: Decision
    explanation: Explanation
    remark: str = ""
    """What to bear in mind about it."""


def outlook_on(world: World, remark: str = "") -> Outlook:
    decided = decide(world)
    return Outlook(world, decided, explain(world, decided), remark)


def recorded_outlook(world: World, manifests: Manifests, path: str) -> Outlook:
    """From a recorded world. Raises FileUnusable when it is another group's, and InvalidSpec."""
    metadata = manifests.group["metadata"]
    named = (metadata.get("namespace", world.group.namespace), metadata["name"])
    recorded = (world.group.namespace, world.group.name)
    if named != recorded:
        there, here = "/".join(recorded), "/".join(named)
        raise FileUnusable(
            f"{shown(path)} records ConsumerGroup {there}, not {here}: record that one, or give its manifest"
        )
    group = as_applied(world.group, manifests.group, world.group.namespace)
    connection = connection_beside(group, manifests.connections, None)
    world = replace(world, group=group)
    if connection is not None:
        servers = parse_kafka_connection(connection).spec.bootstrap_servers
        allowed = prefixes_of(connection, group.namespace)
        world = replace(world, bootstrap_servers=servers, allowed_groups=allowed)
    return outlook_on(world, f"judged from {shown(path)}, recorded at {timestamp(int(world.now))}")


def outlook_table(outlook: Outlook, ascii_only: bool) -> RenderableType:
    """The outlook as a person reads it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for label, text in _lines(outlook, ascii_only):
        table.add_row(label, text)
    return table


def _lines(outlook: Outlook, ascii_only: bool) -> Iterator[tuple[str, Text]]:
    explanation, group = outlook.explanation, outlook.world.group
    yield "Group", Text.assemble((group.name, "bold"), f" in namespace {group.namespace}")
    if outlook.remark:
        yield "", Text(outlook.remark, "dim")
    style = "bold yellow" if explanation.outcome is Outcome.HOLD else "bold"
    reason = f"{explanation.reason}: " if explanation.reason else ""
    yield ("Waits" if explanation.outcome is Outcome.HOLD else "Now"), Text(f"{reason}{explanation.words}", style)
    if explanation.afterwards:
        yield "Then", Text(explanation.afterwards)
    yield "Protocol", protocol_line(outlook.world, outlook.plan)
    for number, note in enumerate(outlook.plan.notes):
        yield ("" if number else "Events"), Text(f"{note.reason}: {note.message}", "yellow" if note.warning else "")
    signs = gate_signs(ascii_only)
    if explanation.gates and not explanation.gates_asked:
        yield "Gates", Text(_why_not_asked(outlook.plan), "dim")
    for gate in explanation.gates:
        label = "Gates" if gate.number == 1 and explanation.gates_asked else ""
        sentence = f": {gate.message}" if gate.message else ""
        sign, sign_style = signs[gate.mark]
        yield label, Text.assemble((sign, sign_style), f" {gate.number} {gate.name}{sentence}")


def _why_not_asked(decided: Decision) -> str:
    if isinstance(decided.act, WriteWorkload) and decided.act.purpose is Purpose.DRAIN:
        return "as they stand; a stop of all pods asks the first two only"
    if decided.act is not None and decided.act.disruptive:
        return "as they stand; this pod has nothing to lose, and so they are not asked"
    return "as they stand; what comes now disturbs no pod, and so does not ask them"
