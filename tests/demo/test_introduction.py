"""What is told before the demo begins is about what will be played, and nothing else."""

from __future__ import annotations

from demo import modes
from demo.introduction import sentences


def test_every_mode_that_is_measured_is_named() -> None:
    told = sentences((*modes.MODES, modes.LEARNING), keep=False)
    assert [line.removeprefix("  · ") for line in told if line.startswith("  · ")] == [
        mode.title for mode in modes.MODES
    ]


def test_learning_is_told_where_it_is_played() -> None:
    assert "slackwater pipeline" in " ".join(sentences([modes.LEARNING], keep=False))
    assert "slackwater pipeline" not in " ".join(sentences([modes.SLACKWATER], keep=False))


def test_the_settings_of_others_are_not_told_of_the_group_that_learns() -> None:
    assert "range" not in " ".join(sentences([modes.LEARNING], keep=False))


def test_what_is_left_up_is_told() -> None:
    assert "left up" in sentences([modes.SLACKWATER], keep=True)[-1]
    assert "takes down again" in sentences([modes.SLACKWATER], keep=False)[-1]
