"""`slackwater pipeline` on the command line: quick without Spark, and plain where Spark is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from slackwater.pipeline import session
from tests.cli.command import typed

Capsys = pytest.CaptureFixture[str]


def test_help_needs_no_spark() -> None:
    """The operator's image has none; and it takes seconds to import."""
    look = "import sys, slackwater.cli.main; print(sorted({'pyspark', 'numpy', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "words", [("pipeline", "ingest", "--files", "events"), ("pipeline", "report"), ("report",)], ids=" ".join
)
def test_without_spark_it_says_what_to_install(
    words: tuple[str, ...], capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None if name == "pyspark" else name)
    sentence = typed(capsys, *words, "--lake", "lake").sentence
    assert sentence == (
        "the pipeline needs pyspark, which the operator does without and which is not installed here: run pip install"
        " 'slackwater[pipeline]'."
    )


def test_without_a_job_its_help_is_shown(capsys: Capsys) -> None:
    """As `slackwater` itself does it."""
    bare, asked = typed(capsys, "pipeline"), typed(capsys, "pipeline", "--help")
    assert (bare.code, bare.err, bare.out) == (0, "", asked.out)
    assert "Usage: slackwater pipeline [OPTIONS] COMMAND [ARGS]...\n\n  Learn from the fleet's telemetry" in bare.out


MISTYPED = {
    "no lake": (["--files", "events"], "Missing option '--lake'"),
    "no source": (["--lake", "lake"], "give either --bootstrap-servers or --files"),
    "two sources": (
        ["--lake", "l", "--files", "e", "--bootstrap-servers", "b:1"],
        "give either --bootstrap-servers or",
    ),
    "once and for ever": (["--lake", "l", "--files", "e", "--once", "--every", "1m"], "give either --once or --every"),
    "a number for a duration": (["--lake", "l", "--files", "e", "--every", "60"], "write a duration in whole h, m, s"),
    "half a setting": (["--lake", "l", "--files", "e", "--kafka", "acks"], "--kafka takes NAME=VALUE, not 'acks'"),
    "no such file": (
        ["--lake", "l", "--files", "e", "--kafka-config", "nowhere"],
        "the file nowhere cannot be read",
    ),
}


@pytest.mark.parametrize("mistake", MISTYPED)
def test_a_mistyped_command_line(mistake: str, capsys: Capsys) -> None:
    arguments, expected = MISTYPED[mistake]
    assert expected in typed(capsys, "pipeline", "ingest", *arguments).sentence
