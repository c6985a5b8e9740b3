"""Kubernetes dates in whole seconds, and the operator does not."""

from __future__ import annotations

from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.pods import NotMade
from slackwater.core.world.step import Step
from tests.core.factories import NOW, pod, world


def test_a_pod_that_is_made_in_the_second_of_a_retry_is_not_made_again() -> None:
    memory = RolloutMemory(target_hash="v2", retried_at=NOW + 0.5)
    assert not memory.retries(pod(0, created_at=NOW, template_hash="v2"))
    assert memory.retries(pod(0, created_at=NOW - 1, template_hash="v2"))


def test_what_kubernetes_says_in_the_second_of_a_restart_is_of_that_restart() -> None:
    for said_at, expected in ((NOW, "forbidden"), (NOW - 1, "")):
        memory = RolloutMemory(step=Step(2, NOW + 0.5))
        given = world(pods=(pod(0), pod(1)), not_made={"payments-2": NotMade("forbidden", said_at)}, memory=memory)
        assert given.why_not_made(2) == expected
