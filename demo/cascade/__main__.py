"""`python -m demo.cascade`: plays each mode several times and reports. RUNS says how many times; five by default."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Annotated, Any, Final

import typer
from confluent_kafka import KafkaException
from kafka.errors import KafkaError
from rich.console import Console
from rich.markup import escape
from urllib3.exceptions import HTTPError

from demo.cascade import modes, report
from demo.cascade.figures import Run
from demo.cascade.modes import MODES, Mode
from demo.cascade.page import FIGURES
from demo.cascade.play import Player
from demo.cascade.report import Played
from demo.cascade.stage import CascadeStage
from sandbox.console import console, note
from sandbox.errors import SandboxError
from sandbox.layout import Layout

_FAILS_A_RUN: Final = (SandboxError, KafkaException, KafkaError, HTTPError, OSError, AssertionError)
"""What the stage and its clients raise: the other runs are played all the same. TimeoutError is an OSError."""


@dataclass
class Book:
    """What was played so far of a mode."""

    mode: Mode
    wanted: int
    runs: list[Run] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def played(self) -> Played:
        return Played(self.mode, self.wanted, tuple(self.runs), tuple(self.failed))


def demo_fleet(
    runs: Annotated[int, typer.Option(min=1, envvar="RUNS", help="How many times each mode is played.")] = 5,
    only: Annotated[list[str] | None, typer.Option(help="Play only this mode; can be given several times.")] = None,
) -> None:
    """Deploy twelve applications at once in seven ways, beside groups that nobody touches, and compare what it costs
    them all. Needs root, and two cores that have nothing else to do. Modes that are not played keep the figures that
    they have."""
    chosen = _chosen(only or ())
    for sentence in _introduction(chosen, runs):
        note(sentence)
    stage, books = CascadeStage(Layout.from_environment()), [Book(mode, runs) for mode in chosen]
    signal.signal(signal.SIGTERM, _as_if_interrupted)
    try:
        stage.set_up()
        if any(mode.runs_on_operator for mode in chosen):
            stage.install_operator()
        _play_all(stage, books, runs)
    except KeyboardInterrupt as error:
        note("Interrupted.")
        raise typer.Exit(130) from error
    finally:
        try:
            stage.clear()
        finally:
            _report(books)
    if not all(book.played.ok for book in books):
        raise typer.Exit(1)


def _play_all(stage: CascadeStage, books: Sequence[Book], runs: int) -> None:
    """One run of each mode, then another one: what changes on the machine meanwhile changes for all of them."""
    player = Player(stage.cluster, stage.brokers(), _say)
    before = _figures()
    for number in range(1, runs + 1):
        for book in books:
            console.print(f"[bold]{book.mode.title}, run {number} of {runs}[/bold]")
            _play(player, book, number)
            _write([each for each in books if each.runs or each.failed], before)


def _play(player: Player, book: Book, number: int) -> None:
    began_s, problem = time.monotonic(), ""
    try:
        run = player.play(book.mode, number)
    except _FAILS_A_RUN as error:
        problem = f"Run {number} has no figures: {error or type(error).__name__}"
        book.failed.append(problem)
    else:
        problem = run.problem
        book.runs.append(run)
    mark = "[red]✗[/red]" if problem else "[green]✓[/green]"
    took_s = time.monotonic() - began_s
    console.print(f"{mark} {book.mode.title} [dim]{took_s:.0f} s[/dim] {escape(problem)}", soft_wrap=True)


def _report(books: Sequence[Book]) -> None:
    played = [book.played for book in books if book.runs or book.failed]
    if not played:
        return
    out = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    out.print()
    out.print(report.table(played))
    for each in played:
        for problem in each.problems:
            out.print(f"[red]✗ {escape(each.mode.title)}:[/red] {escape(problem)}")
    out.print(f"The same figures, and every single run: {FIGURES.relative_to(FIGURES.parents[1])}")


def _figures() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    return found


def _write(books: Sequence[Book], before: dict[str, Any]) -> None:
    """After each run: what was played is kept, however the rest ends."""
    FIGURES.parent.mkdir(exist_ok=True)
    content = report.as_json([book.played for book in books], before)
    FIGURES.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _introduction(chosen: Sequence[Mode], runs: int) -> list[str]:
    pods = modes.GROUPS * modes.MEMBERS
    return [
        f"{modes.GROUPS} groups of {modes.MEMBERS} Java consumers on {modes.TOPICS} topics and {modes.BROKERS} brokers"
        f" get new templates by one apply, beside {modes.BYSTANDERS} groups that nobody touches.",
        *(f"  · {mode.name}: {mode.title}" for mode in chosen),
        f"{runs} times each. A run starts {pods} Java processes and replaces them: several minutes each.",
    ]


def _chosen(names: Sequence[str]) -> tuple[Mode, ...]:
    known = {mode.name: mode for mode in MODES}
    if unknown := [name for name in names if name not in known]:
        raise SandboxError(f"There is no mode {unknown[0]!r}.", todo=f"There are: {', '.join(known)}.")
    return tuple(mode for mode in MODES if not names or mode.name in names)


def _say(line: str) -> None:
    console.print(f"  [dim]{escape(line)}[/dim]", soft_wrap=True)


def _as_if_interrupted(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Run; every expected failure is one message and exit code 1."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(demo_fleet)
    try:
        app()
    except (SandboxError, KafkaException, KafkaError) as error:
        console.print(f"[red]Error:[/red] {escape(str(error))}")
        sys.exit(1)


if __name__ == "__main__":
    main()
