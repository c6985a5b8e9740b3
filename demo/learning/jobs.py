"""`slackwater pipeline`, run as a person would run it: one command after the other, each with what it prints."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from demo.manifests import RECOMMENDATIONS, TELEMETRY
from sandbox import toolchain
from sandbox.commands import run
from sandbox.layout import Layout

ROOT = Path(__file__).parents[2]
FOLDER = Path("build/demo")
"""Below ROOT. Made again each time, so that the report is of this demo."""
REPORT = FOLDER / "report.html"
_ENDED_WITHIN_S = 900.0
"""They take a quarter of a minute each, where nothing else needs the machine."""


def commands(bootstrap_servers: str) -> Iterator[tuple[str, ...]]:
    """What comes after `slackwater pipeline`, in order."""
    lake = ("--lake", str(FOLDER / "lake"))
    servers = ("--bootstrap-servers", bootstrap_servers)
    yield ("ingest", "--once", *lake, *servers, "--topic", TELEMETRY)
    yield ("audit", *lake, *servers)
    yield ("recommend", *lake, *servers, "--out-topic", RECOMMENDATIONS, "--least-days", "0")
    yield ("report", *lake, "--out", str(REPORT))


def run_jobs(layout: Layout, bootstrap_servers: str, console: Console) -> None:
    """Raises CommandFailed with what a job said when it failed."""
    shutil.rmtree(ROOT / FOLDER, ignore_errors=True)
    (ROOT / FOLDER).mkdir(parents=True)
    environment = {"JAVA_HOME": _java_home(layout), "COLUMNS": "116"}
    for words in commands(bootstrap_servers):
        console.print(f"  $ slackwater pipeline {escape(shlex.join(words))}", soft_wrap=True)
        argv: list[str | Path] = [Path(sys.executable).with_name("slackwater"), "pipeline", *words]
        said = run(argv, cwd=ROOT, env=environment, deadline_s=_ENDED_WITHIN_S).stdout
        for line in said.rstrip().splitlines():
            console.print(f"    [dim]{escape(line)}[/dim]", soft_wrap=True)


def _java_home(layout: Layout) -> str:
    return os.environ.get("JAVA_HOME") or str(toolchain.java(layout).resolve().parents[1])
