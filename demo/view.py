"""What a person sees while a mode is played: a live table on a terminal, one line for each change elsewhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from demo.fleet import Pod
from demo.group import Group as ConsumerGroup
from demo.modes import FIRST, PARTITIONS, Mode
from demo.operator_view import OperatorView


@dataclass(frozen=True, slots=True)
class Moment:
    """One look at a mode: pods, group, deliveries."""

    mode: Mode
    stage: str
    elapsed_s: float
    phase: str
    pods: tuple[Pod, ...]
    group: ConsumerGroup
    served: int
    """Partitions that were delivered from just now."""
    protocol: str = ""
    """What the operator says about it, if there is one."""


class View:
    """Shows one moment after another; a context manager."""

    def __init__(self, console: Console, operator: OperatorView | None = None) -> None:
        """`operator`: its own view, to be shown in place of the demo's table of pods."""
        self._console = console
        self._operator = operator if console.is_terminal else None
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._line = ""

    def __enter__(self) -> View:
        if self._operator is not None:
            self._operator.__enter__()
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()
        if self._operator is not None:
            self._operator.__exit__(kind, error, at)

    def show(self, moment: Moment) -> None:
        if self._live is not None:
            below = self._operator.latest if self._operator is not None else None
            self._live.update(picture(moment, below), refresh=True)
            return
        line = summary(moment)
        if line != self._line:
            self._console.print(f"  [dim]{moment.elapsed_s:5.1f} s[/dim]  {escape(line)}", soft_wrap=True)
            self._line = line


def picture(moment: Moment, below: RenderableType | None = None) -> RenderableType:
    """The live picture; `below` stands in place of the table of pods."""
    served = Text(f"{moment.served} of {PARTITIONS}", "green" if moment.served == PARTITIONS else "bold red")
    head = Text.assemble((f"{moment.mode.title}: {moment.stage}", "bold"), f"  {moment.elapsed_s:.0f} s")
    group = Text.assemble(
        f"group {_described(moment)}, {len(moment.group.members)} members, partitions served: ", served
    )
    if moment.mode.upgrade is not None:
        group = Text("\n").join((Text(moment.protocol, "magenta"), group))
    own = (Text(moment.phase, "dim"), _pod_table(moment))
    return Group(head, group, *(own if below is None else (Text(), below)))


def _pod_table(moment: Moment) -> Table:
    made = "Version" if moment.mode.upgrade is None else "Made for"
    table = Table("Pod", made, "State", "In the group", "Restarts", box=None, padding=(0, 3, 0, 0))
    for pod in moment.pods:
        version = Text(_made_as(moment.mode, pod), "cyan" if _is_first(moment.mode, pod) else "magenta")
        state = Text(pod.state, "green" if pod.state == "Ready" else "yellow")
        membership = _membership(moment.mode, pod, moment.group.members)
        table.add_row(pod.name, version, state, membership, str(pod.restarts))
    return table


def summary(moment: Moment) -> str:
    """The same in one line, without what changes all the time."""
    counts = Counter(f"{_made_as(moment.mode, pod)} {pod.state}" for pod in moment.pods)
    pods = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    line = f"{pods}; group {_described(moment)}; {moment.served} of {PARTITIONS} partitions served"
    if moment.mode.upgrade is None:
        return line
    return f"{moment.protocol} · {moment.phase} | {line}"


def _described(moment: Moment) -> str:
    group = moment.group
    if moment.mode.upgrade is None or not group.members:
        return group.state
    return f"{group.state} ({', '.join(filter(None, (group.protocol, group.assignor)))})"


def _made_as(mode: Mode, pod: Pod) -> str:
    """What makes one pod differ from another in this mode."""
    return pod.version if mode.upgrade is None else pod.profile or "?"


def _is_first(mode: Mode, pod: Pod) -> bool:
    return pod.version == FIRST if mode.upgrade is None else pod.profile == mode.upgrade.origin


def _membership(mode: Mode, pod: Pod, members: tuple[str, ...]) -> str:
    """A static member stands in the broker's books under its pod's name, whether it lives or not (F10)."""
    if not mode.is_static:
        return "dynamic"
    return "listed" if pod.name in members else "no"
