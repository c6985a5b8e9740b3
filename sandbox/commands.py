"""Call another program and turn its failure into a sentence."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandbox.errors import CommandFailed, MissingPrerequisite

LOG_LINES = 15


def run(
    argv: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    text: str | None = None,
    check: bool = True,
    deadline_s: float | None = 60,
) -> subprocess.CompletedProcess[str]:
    """Run `argv` to its end and return it with its output; `text` goes to its standard input,
    `env` is added to this process' environment.

    Raises CommandFailed when it ends with an error (unless `check` is false) or not within `deadline_s` seconds,
    MissingPrerequisite when there is no such program.
    """
    words = [str(word) for word in argv]
    shown = shlex.join(words)
    try:
        done = subprocess.run(
            words,
            check=False,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=deadline_s,
        )
    except FileNotFoundError as error:
        raise MissingPrerequisite(
            f"The program {words[0]!r} is not on this machine.", todo=f"It is needed for: {shown}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise CommandFailed(f"`{shown}` did not end within {deadline_s:.0f} s.") from error
    if check and done.returncode != 0:
        output = (done.stdout + done.stderr).strip().splitlines()
        raise CommandFailed(f"`{shown}` ended with exit code {done.returncode}.", log=output[-LOG_LINES:])
    return done
