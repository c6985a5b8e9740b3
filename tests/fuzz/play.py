"""Plays one target, from examples that are real."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import atheris

FOUND: Final = Path("build") / "fuzz"
LIMITS: Final = ("-rss_limit_mb=1024", "-timeout=20", "-print_final_stats=1")
"""One input may take neither a gibibyte nor 20 seconds."""


def play(name: str, target: Callable[[bytes], None], examples: Iterable[bytes]) -> None:
    """Until the options of the command line say that it is enough; the process ends with status 77 for a find."""
    corpus = FOUND / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, example in enumerate(examples):
        (corpus / f"example-{number}").write_bytes(example)
    atheris.Setup([sys.argv[0], str(corpus), f"-artifact_prefix={FOUND}/{name}-", *LIMITS, *sys.argv[1:]], target)
    atheris.Fuzz()
