"""What the demo's last part has to come to, and how it is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from demo.fleet import Pod
from demo.learning import lesson
from demo.learning.lesson import HEARTBEAT, SESSION, Learned, Lesson

APPLIED: dict[str, Any] = {
    "reason": "AsRecommended",
    "message": "what is set does about as well as what is recommended",
    "why": "45 s instead of 60 s saves something",
    "restarts": 17,
    "applied": {"settings": {"consumer.session": "45s"}},
}
PODS = tuple(
    Pod(name=f"a-{ordinal}", uid=f"u{ordinal}", version="v2", ready=True, terminating=False, state="Ready", restarts=1)
    for ordinal in range(3)
)
GOOD = Lesson(APPLIED, {SESSION: "60000"}, {SESSION: "45000", HEARTBEAT: "5000"}, PODS, PODS, 240.04)


def without(key: str) -> Lesson:
    return replace(GOOD, recommendation={name: value for name, value in APPLIED.items() if name != key})


def with_last(pod: Pod) -> Lesson:
    return replace(GOOD, pods_after=(*PODS[:-1], pod))


def test_a_recommendation_in_force_that_cost_no_restart_is_as_it_should_be() -> None:
    assert lesson.judge(GOOD) == ""


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (without("applied"), "AsRecommended: what is set does"),
        (replace(GOOD, recommendation={}), "says nothing"),
        (replace(GOOD, recommendation={**APPLIED, "reason": "NotEnoughData"}), "NotEnoughData"),
        (replace(GOOD, settings_after=GOOD.settings_before), "consumer.session.timeout.ms=60000"),
        (with_last(replace(PODS[-1], uid="another")), "1 pod was restarted"),
        (with_last(replace(PODS[-1], restarts=2)), "1 pod was restarted"),
        (replace(GOOD, pods_after=PODS[:-1]), "1 pod was restarted"),
    ],
)
def test_anything_else_is_said(bad: Lesson, said: str) -> None:
    assert said in lesson.judge(bad)


def test_the_figures_stand_beside_the_modes() -> None:
    assert lesson.as_json(Learned(GOOD)) == {
        "restarts": 17,
        "session_ms_before": 60_000,
        "session_ms_after": 45_000,
        "pods_restarted": 0,
        "seconds": 240.0,
        "ok": True,
    }


def test_a_part_that_was_not_played_has_no_figures_and_is_not_ok() -> None:
    told = lesson.as_json(Learned(None, "It did not start."))
    assert (told.pop("ok"), set(told.values())) == (False, {None})


def test_a_part_that_ended_badly_is_not_ok() -> None:
    assert lesson.as_json(Learned(GOOD, "A pod was restarted."))["ok"] is False


def test_the_excerpt_is_the_recommendation_alone() -> None:
    text = "status:\n  phase: Ready\n  recommendation:\n    reason: AsRecommended\n    restarts: 17\n"
    assert lesson.excerpt(text) == "status:\n  recommendation:\n    reason: AsRecommended\n    restarts: 17"
    assert lesson.recommendation_in(text) == {"reason": "AsRecommended", "restarts": 17}


@pytest.mark.parametrize("text", ["kind: ConsumerGroup\n", "kind: ConsumerGroup\nstatus:\n  phase: Ready\n"])
def test_a_group_without_recommendation_has_no_excerpt(text: str) -> None:
    assert (lesson.excerpt(text), lesson.recommendation_in(text)) == ("", {})


def test_the_end_tells_from_where_to_where_it_went() -> None:
    assert lesson.notes(Learned(GOOD)) == [
        "Slackwater learned from 17 restarts of one group: its session timeout, which the demo had set to 60 s on the"
        " brokers, is 45 s there now, and no pod was restarted for it."
    ]
    assert lesson.notes(Learned(None, "It did not start.")) == []
