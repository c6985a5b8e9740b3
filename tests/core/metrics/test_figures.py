"""What metrics show of a group after a decision."""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.decision.decision import Decision
from slackwater.core.metrics.figures import figures_of
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from tests.core.factories import group, world


def test_a_version_that_fails_in_this_pass_degrades_its_group_at_once() -> None:
    given = world()
    failed = replace(given.memory, phase=RolloutPhase.FAILED, message="it never joined")
    assert not figures_of(given, Decision(given.memory)).degraded
    assert figures_of(given, Decision(failed)).degraded


def test_a_rollout_that_goes_on_with_another_number_of_pods_expects_the_members_of_those() -> None:
    memory = RolloutMemory(phase=RolloutPhase.PROGRESSING, replicas=3)
    given = world(group=group(replicas=5, membersPerPod=2), memory=memory)
    assert figures_of(given, Decision(memory)).expected_members == 6
