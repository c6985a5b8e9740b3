"""Writes without an answer: what they say is said once, and only when it shows that they were carried out."""

from __future__ import annotations

from typing import Final

from slackwater.core.decision.acts import Cause, DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.world.memory import RolloutMemory
from slackwater.shell.store import Key
from slackwater.shell.unanswered import WITHIN_S, Unanswered, UnansweredStatus
from tests.core.factories import NAME, NOW, changed, pod, world

KEY: Final = Key("shop", NAME)
STATUS: Final = {"phase": "Progressing"}
THERE: Final = world()
GONE: Final = world(pods=(pod(0), pod(1)))
DELETES: Final = Decision(RolloutMemory(), act=DeletePod(f"{NAME}-2", pod(2).uid, 2, Cause.DOWN))
NOTHING: Final = Decision(RolloutMemory())
WRITTEN: Final = UnansweredStatus(STATUS, {}, NOTHING, NOW)


def test_of_a_status_it_is_said_once() -> None:
    known = Unanswered()
    known.add_status(KEY, WRITTEN)
    assert known.written(KEY, {"phase": "Ready"}, NOW) is None
    assert known.written(KEY, STATUS, NOW) == WRITTEN
    assert known.written(KEY, STATUS, NOW) is None


def test_a_status_that_was_overtaken_says_nothing() -> None:
    known = Unanswered()
    known.add_status(KEY, WRITTEN)
    known.answered(KEY)
    assert known.written(KEY, STATUS, NOW) is None


def test_a_status_that_never_shows_is_let_go() -> None:
    known = Unanswered()
    known.add_status(KEY, WRITTEN)
    assert known.written(KEY, {}, NOW + WITHIN_S + 1) is None
    assert known.written(KEY, STATUS, NOW) is None


def test_of_an_act_it_is_said_once_and_when_it_shows() -> None:
    known = Unanswered()
    known.add_act(KEY, THERE, DELETES)
    assert known.carried_out(KEY, THERE, NOTHING) is None
    assert known.carried_out(KEY, GONE, NOTHING) == (THERE, DELETES)
    assert known.carried_out(KEY, GONE, NOTHING) is None


def test_another_act_ends_the_wait() -> None:
    known = Unanswered()
    known.add_act(KEY, THERE, DELETES)
    assert known.carried_out(KEY, THERE, DELETES) is None
    assert known.carried_out(KEY, GONE, NOTHING) is None


def test_an_act_that_never_shows_is_let_go() -> None:
    known = Unanswered()
    known.add_act(KEY, THERE, DELETES)
    assert known.carried_out(KEY, changed(THERE, now=NOW + WITHIN_S + 1), NOTHING) is None
    assert known.carried_out(KEY, GONE, NOTHING) is None


def test_a_group_that_is_gone_leaves_nothing() -> None:
    known = Unanswered()
    known.add_act(KEY, THERE, DELETES)
    known.add_status(KEY, WRITTEN)
    known.forget(KEY)
    assert known.carried_out(KEY, GONE, NOTHING) is None
    assert known.written(KEY, STATUS, NOW) is None
