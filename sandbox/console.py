"""What the person sees while the sandbox works: one line a step, with its reason and how long it took.

All progress goes to standard error, so that `sandbox kubeconfig` can be used in a pipe.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

console = Console(stderr=True, highlight=False)


@contextmanager
def step(what: str, why: str = "") -> Iterator[None]:
    """Show `what` with a spinner while the block runs, then one line with the seconds it took.

    `why` is shown after it: for what is slow or changes the machine, a person should not have to guess.
    """
    line = escape(what) + (f" [dim]({escape(why)})[/dim]" if why else "")
    started = time.monotonic()
    try:
        with console.status(line):
            yield
    except BaseException:
        console.print(f"[red]✗[/red] {line} [dim]{_seconds_since(started)}[/dim]", soft_wrap=True)
        raise
    console.print(f"[green]✓[/green] {line} [dim]{_seconds_since(started)}[/dim]", soft_wrap=True)


def note(text: str) -> None:
    """Show one line that is not a step."""
    console.print(escape(text), soft_wrap=True)


def _seconds_since(started: float) -> str:
    return f"{time.monotonic() - started:.1f} s"
