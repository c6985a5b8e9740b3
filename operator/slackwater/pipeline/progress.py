"""What a long job shows while it works: a moving bar on a terminal, lines elsewhere.

    with stage("Decode the offsets topic", spark):
        rows.write.parquet(...)

On a terminal the bar counts Spark's tasks. Elsewhere (a log, a pipe) there is one line when the stage is done, and one
every half minute before that. All of it goes to standard error; standard output is for results.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from slackwater.terminal import Terminal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REDRAW_EVERY_S: Final = 0.5
_LINE_EVERY_S: Final = 30.0


@contextmanager
def stage(title: str, spark: SparkSession, console: Console | None = None) -> Iterator[None]:
    """Show that the stage is under way while the body runs. A stage that fails says nothing: its error will."""
    shown_on = console or Terminal(stderr=True)
    began = time.monotonic()
    watch = _on_terminal if shown_on.is_terminal else _in_lines
    over = threading.Event()
    watcher = threading.Thread(target=watch, args=(title, spark, shown_on, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    tell(f"{title}: {time.monotonic() - began:.1f} s", shown_on)


def tell(line: str, console: Console | None = None) -> None:
    """One line of progress, as it is: nothing in it is markup, and it is never wrapped."""
    (console or Terminal(stderr=True)).print(line, markup=False, highlight=False, soft_wrap=True)


def _on_terminal(title: str, spark: SparkSession, console: Console, over: threading.Event) -> None:
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        while not over.wait(_REDRAW_EVERY_S):
            done, total = tasks_of(spark)
            bar.update(task, completed=done, total=total or None)


def _in_lines(title: str, spark: SparkSession, console: Console, over: threading.Event) -> None:
    waited_s = 0.0
    while not over.wait(_LINE_EVERY_S):
        waited_s += _LINE_EVERY_S
        done, total = tasks_of(spark)
        tell(f"{title}: {done} of {total} tasks of this step after {waited_s:.0f} s", console)


def tasks_of(spark: SparkSession) -> tuple[int, int]:
    """Tasks done and tasks in all of the Spark stages that run now."""
    tracker = spark.sparkContext.statusTracker()
    stages = [info for each in tracker.getActiveStageIds() if (info := tracker.getStageInfo(each)) is not None]
    return sum(each.numCompletedTasks for each in stages), sum(each.numTasks for each in stages)
