"""The leader of one partition is silent: that holds a version back, and nothing else that the group needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation, KafkaView, Unobserved
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

COMPLETE, FAILED = RolloutPhase.COMPLETE, RolloutPhase.FAILED
SILENT: Final = Unobserved(Reason.OBSERVATION_INCOMPLETE, "the leader of orders-5 does not answer", 0.0)


class OneLeader(Outside):
    """Of the last partition; members and their commits are the coordinator's to tell."""

    is_silent = False

    def observe(self) -> KafkaView:
        seen = super().observe()
        if not self.is_silent or not isinstance(seen, GroupObservation):
            return seen
        lost = max(seen.partitions)
        offsets = {each: replace(known, end=None) if each == lost else known for each, known in seen.offsets.items()}
        return replace(seen, offsets=offsets, blind_to=SILENT)


class BlindRun(Run):
    outside: OneLeader

    def goes_blind(self, *, sees: bool = False) -> None:
        self.operator.say("-- a leader is silent" if not sees else "-- it answers")
        self.outside.is_silent = not sees


def at_rest(**options: Any) -> BlindRun:
    run = BlindRun(OneLeader(**options))
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def with_version(run: Run, version: str) -> list[int]:
    return sorted(pod.ordinal for pod in run.outside.pods if run.outside.image(pod) == version)


@pytest.mark.parametrize("kip848", [False, True], ids=["classic", "KIP-848"])
def test_the_members_of_pods_that_were_scaled_away_leave(kip848: bool) -> None:
    run = at_rest(replicas=4, kip848=kip848)
    run.goes_blind()
    run.do("two pods", lambda o: o.scale(2))
    run.until_it_is("without their members", lambda o: len(o.broker.group.members) == 2, within_s=8)


def test_the_id_of_a_dead_member_is_given_free() -> None:
    """Of a KIP-848 group, where its successor is refused while that is not so."""
    run = at_rest(kip848=True)
    run.goes_blind()
    run.do("pod 1 crashes", lambda o: o.crash(1))
    run.until_it_is("back", lambda o: o.serves(o.set.pods[1]), within_s=30)
    assert any("release payments-1" in line for line in run.operator.log)


def test_a_handover_in_hand_ends_and_no_other_begins() -> None:
    run = at_rest(strategy="WarmHandover")
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in the first pod", lambda _: len(with_version(run, "v2")) == 1)
    run.goes_blind()
    run.until_it_is("with two pods of v1", lambda o: len(with_version(run, "v1")) == 2 and len(o.pods) == 3)
    run.for_seconds(60)
    assert (with_version(run, "v1"), with_version(run, "v2")) == ([1, 2], [0])
    assert run.operator.hold.endswith(SILENT.message)
    run.goes_blind(sees=True)
    run.until(COMPLETE)
    assert with_version(run, "v2") == [0, 1, 2]


@pytest.mark.parametrize("version", ["never-joins", "crashes"])
def test_a_version_that_does_not_join_fails(version: str) -> None:
    run = at_rest()
    run.do(f"version {version} is applied", lambda o: o.apply(version))
    run.until_it_is("in a pod", lambda _: bool(with_version(run, version)))
    run.goes_blind()
    run.until(FAILED, within_s=120)
    run.do("abort", Outside.abort)
    run.until(RolloutPhase.ROLLED_BACK)
    assert all(map(run.outside.serves, run.outside.pods))
