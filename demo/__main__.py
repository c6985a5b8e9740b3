"""`python -m demo`: plays the modes one after the other and reports."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from confluent_kafka import KafkaException
from kafka.errors import KafkaError
from rich.console import Console
from rich.markup import escape

from demo import figures, introduction, modes, report
from demo.figures import Result
from demo.learning import lesson
from demo.learning.jobs import REPORT
from demo.learning.lesson import Learned
from demo.manifests import NAMESPACE
from demo.modes import LEARNING, MODES, Mode
from demo.rollout import Player
from demo.stage import Stage
from sandbox.console import console, note
from sandbox.errors import SandboxError
from sandbox.layout import Layout

FIGURES = Path(__file__).parents[1] / "build" / "demo.json"


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave sandbox, operator and the good group up.")] = False,
    only: Annotated[list[str] | None, typer.Option(help="Play only this mode; can be given several times.")] = None,
) -> None:
    """Roll the same new version out in five ways and a bad one in two, take two groups to another protocol, and
    compare what it costs; then let a group learn from its own history. Needs root."""
    chosen = _chosen(only or ())
    keep = keep or bool(os.environ.get("KEEP"))
    for sentence in introduction.sentences(chosen, keep=keep):
        note(sentence)
    stage = Stage(Layout.from_environment())
    signal.signal(signal.SIGTERM, _as_if_interrupted)
    try:
        stage.set_up()
        if any(mode.runs_on_operator for mode in chosen):
            stage.install_operator()
        results = _play_all(stage, [mode for mode in chosen if not mode.learns], keep=keep)
        learned = _learn(stage) if LEARNING in chosen else None
    except KeyboardInterrupt as error:
        note("Interrupted.")
        stage.clear()
        raise typer.Exit(130) from error
    except BaseException:
        stage.clear()
        raise
    try:
        _leave(stage, _kept(chosen), keep=keep)
    finally:
        _report(results, learned)  # last, so that it is what stands on the screen; even if something would not go away
    if not all(result.ok for result in results) or (learned is not None and not learned.ok):
        raise typer.Exit(1)


def _play_all(stage: Stage, chosen: Sequence[Mode], *, keep: bool) -> list[Result]:
    player = Player(stage.cluster, stage.kafka, stage.view)
    results = []
    for number, mode in enumerate(chosen, start=1):
        console.print(f"[bold]{number} of {len(chosen)}: {mode.title}[/bold]")
        results.append(_play(player, stage.kafka.bootstrap_servers, mode))
        if not (keep and mode is _kept(chosen)):
            stage.retire(mode)
    return results


def _learn(stage: Stage) -> Learned:
    """The last part: a group whose history is made here, and what the operator makes of it."""
    console.print(f"[bold]{LEARNING.title}[/bold]")
    began_s = time.monotonic()
    learned = stage.learning_loop().play()
    _say_ended(LEARNING, began_s, learned.problem, ok=learned.ok)
    return learned


def _say_ended(mode: Mode, began_s: float, problem: str, *, ok: bool) -> None:
    mark = "[green]✓[/green]" if ok else "[red]✗[/red]"
    console.print(f"{mark} {mode.title} [dim]{time.monotonic() - began_s:.0f} s[/dim] {escape(problem)}")


def _kept(chosen: Sequence[Mode]) -> Mode | None:
    """Whose group is worth to be left up: Slackwater's good rollout or, if it was not played, a good one of others."""
    good = [mode for mode in chosen if mode.runs_on_operator and not mode.bad_version]
    return modes.SLACKWATER if modes.SLACKWATER in good else next(iter(good), None)


def _play(player: Player, bootstrap_servers: str, mode: Mode) -> Result:
    """A mode that fails is a row that says so; the others are played all the same."""
    began_s = time.monotonic()
    try:
        played = player.play(mode)
        measured = figures.measure(played, bootstrap_servers)
    except (SandboxError, KafkaException, KafkaError, TimeoutError) as error:
        result = Result(mode, None, str(error))
    else:
        result = Result(mode, measured, figures.judge(played, measured))
    _say_ended(mode, began_s, result.problem, ok=result.ok)
    return result


def _leave(stage: Stage, kept: Mode | None, *, keep: bool) -> None:
    if not keep:
        stage.clear()
        return
    note(f"All is left up. export KUBECONFIG={stage.cluster.kubeconfig}, then for example:")
    if kept is not None:
        change = "VERSION" if kept.upgrade is None else f"protocol.target back to {kept.upgrade.origin}"
        note(f"  .venv/bin/slackwater status {kept.workload} --namespace {NAMESPACE} --watch")
        note(f"  kubectl --namespace {NAMESPACE} edit consumergroup {kept.workload}   (change {change}, and watch)")
    note("End it: make sandbox-down")


def _report(results: Sequence[Result], learned: Learned | None) -> None:
    FIGURES.parent.mkdir(exist_ok=True)
    told = report.as_json(results) | ({"learning": lesson.as_json(learned)} if learned is not None else {})
    FIGURES.write_text(json.dumps(told, indent=2) + "\n")
    out = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    out.print()
    if results:
        out.print(report.table(results))
    for sentence in (*report.notes(results), *(lesson.notes(learned) if learned is not None else ())):
        out.print(f"· {escape(sentence)}")
    problems = {result.mode.title: result.problem for result in results}
    problems |= {LEARNING.title: learned.problem} if learned is not None else {}
    for title, problem in problems.items():
        if problem:
            out.print(f"[red]✗ {escape(title)}:[/red] {escape(problem)}")
    out.print(f"The same figures: {FIGURES.relative_to(FIGURES.parents[1])}")
    if learned is not None and learned.lesson is not None:
        out.print(f"What was learned, as a page for your browser: {REPORT}", soft_wrap=True)


def _chosen(names: Sequence[str]) -> tuple[Mode, ...]:
    every = (*MODES, LEARNING)
    known = {mode.name: mode for mode in every}
    if unknown := [name for name in names if name not in known]:
        raise SandboxError(f"There is no mode {unknown[0]!r}.", todo=f"There are: {', '.join(known)}.")
    return tuple(mode for mode in every if not names or mode.name in names)


def _as_if_interrupted(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Run; every expected failure is one message and exit code 1."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(demo)
    try:
        app()
    except (SandboxError, KafkaException, KafkaError) as error:
        console.print(f"[red]Error:[/red] {escape(str(error))}")
        sys.exit(1)


if __name__ == "__main__":
    main()
