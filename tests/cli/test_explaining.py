"""`slackwater explain`, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.cli.pictures.paragraph import paragraph
from slackwater.cli.words.explanation import explain
from slackwater.cli.words.standing import standing_of
from slackwater.core.plan import plan
from slackwater.core.world.pods import NotMade
from slackwater.core.world.world import World
from tests.cli import builders
from tests.core.factories import changed

QUOTA = "is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"


def said_of(world: World) -> str:
    return paragraph(world, plan(world))


def _short_of_a_pod() -> World:
    """The operator has asked for the StatefulSet's Events; from here nobody does."""
    made = builders.rolling()
    short = changed(made, pods=made.pods[1:])
    told = builders.with_status(replace(short, not_made={"payments-0": NotMade(QUOTA, builders.NOW)}))
    return replace(told, not_made={})


def _short_at_rest() -> World:
    made = builders.world()
    short = changed(made, pods=made.pods[:2])
    told = builders.with_status(replace(short, not_made={"payments-2": NotMade(QUOTA, builders.NOW)}))
    return replace(told, not_made={})


def _not_mounted() -> World:
    made = builders.rolling()
    pods = (*made.pods[:2], replace(made.pods[2], ready=False))
    why = replace(pods[2], waiting="FailedMount", waiting_message='secret "certificates" not found')
    told = builders.with_status(changed(made, pods=(*pods[:2], why)))
    return changed(told, pods=pods)


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (_short_of_a_pod(), f"It waits, PodMissing: pod payments-0 does not exist: {QUOTA}."),
        (_short_at_rest(), f"has this version. Not Ready: payments-2 ({QUOTA})."),
        (_not_mounted(), '(FailedMount: secret "certificates" not found).'),
    ],
    ids=["missing", "missing at rest", "not started"],
)
def test_what_only_events_say_is_taken_from_the_operators_word(world: World, words: str) -> None:
    """`status` says it alike."""
    assert words in said_of(world)
    assert standing_of(world, explain(world, plan(world))).words in said_of(world)


def test_what_the_operator_said_before_the_last_change_is_no_reason_for_it() -> None:
    world = _short_of_a_pod()
    later = world.group.model_copy(update={"metadata": world.group.metadata.model_copy(update={"generation": 99})})
    assert QUOTA not in said_of(replace(world, group=later))
