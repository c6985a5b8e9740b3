"""A step of several pods: which of them were made, and which of them leads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.world.memory import RolloutMemory, read_memory, write_memory
from slackwater.core.world.step import Step

BATCH = Step(5, 100.0, also=(4, 3))


@pytest.mark.parametrize(
    ("step", "unmade"),
    [
        (Step(5, 100.0), {5}),
        (Step(5, 100.0, made=True), set()),
        (BATCH, {5, 4, 3}),
        (replace(BATCH, made=True), {4, 3}),
        (replace(BATCH, made_also=(4,)), {5, 3}),
        (replace(BATCH, made=True, made_also=(4, 3)), set()),
    ],
)
def test_who_was_not_made_yet(step: Step, unmade: set[int]) -> None:
    assert step.unmade == unmade


def test_those_that_are_made_stay_made() -> None:
    step = BATCH.with_made({3}).with_made({5}).with_made(set())
    assert step == replace(BATCH, made=True, made_also=(3,))
    assert step.with_made({4, 9}) == replace(BATCH, made=True, made_also=(4, 3))


@pytest.mark.parametrize(
    ("step", "led"),
    [
        (BATCH, Step(4, 100.0, also=(5, 3))),
        (replace(BATCH, made=True), Step(4, 100.0, also=(5, 3), made_also=(5,))),
        (replace(BATCH, made_also=(4,)), Step(4, 100.0, made=True, also=(5, 3))),
        (replace(BATCH, made=True, made_also=(4, 3)), Step(4, 100.0, made=True, also=(5, 3), made_also=(5, 3))),
    ],
)
def test_another_pod_of_it_leads(step: Step, led: Step) -> None:
    assert step.led_by(4) == led
    assert led.unmade == step.unmade


@pytest.mark.parametrize("ordinal", [5, 0])
def test_who_leads_already_or_is_none_of_it_changes_nothing(ordinal: int) -> None:
    assert BATCH.led_by(ordinal) is BATCH


def test_of_one_pod_nothing_new_is_written() -> None:
    assert "also" not in str(write_memory(RolloutMemory(step=Step(5, 100.0, made=True))))
    memory = RolloutMemory(step=replace(BATCH, made_also=(4,)))
    assert write_memory(memory)["step"]["madeAlso"] == [4]
    assert read_memory({"rollout": write_memory(memory)}) == memory
