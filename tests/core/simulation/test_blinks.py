"""Kafka is away, or a look at it fails: no version is to blame for that, and none is let off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import Unobserved
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.versions import VERSIONS

COMPLETE, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK
EVERY_S = 18
"""Less than rejoinTimeout, which is 20 s here."""


def at_rest(**options: object) -> Run:
    run = Run(Outside(**options))  # type: ignore[arg-type]
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def test_a_version_that_never_joins_fails_though_a_look_fails_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    run = at_rest(onFailure="Rollback")
    run.do("version never-joins is applied", lambda o: o.apply("never-joins"))
    as_it_is, outside = run.outside.observe, run.outside

    def observe() -> object:
        if int(run.now) % EVERY_S == 0:
            return Unobserved(Reason.KAFKA_UNREACHABLE, "timed out", outside.now)
        return as_it_is()

    monkeypatch.setattr(outside, "observe", observe)
    run.until(ROLLED_BACK)


def test_a_program_that_ends_without_kafka_has_another_try_with_it() -> None:
    """As programs do that give up when no broker answers. The kubelet's pause may be longer than rejoinTimeout."""
    run = at_rest(onFailure="Rollback")
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("made", lambda o: any(o.image(pod) == "v2" and pod.started_at for pod in o.pods))

    def ends(outside: Outside, version: str) -> None:
        outside.set_kafka(reachable=version == "v2")
        for pod in outside.pods:
            if outside.image(pod) == "v2":
                pod.version = VERSIONS[version]

    run.do("Kafka is away", lambda o: ends(o, "crashes"))
    run.for_seconds(40)
    run.do("Kafka is back", lambda o: ends(o, "v2"))
    run.until(COMPLETE)


@pytest.mark.parametrize("told", [True, False])
def test_a_lost_status_takes_no_group_to_another_protocol(monkeypatch: pytest.MonkeyPatch, told: bool) -> None:
    """`told`: the brokers have said what they can do by then."""
    run = at_rest(kip848=True)
    before, as_it_is = sorted(pod.uid for pod in run.outside.pods), run.outside.world
    if not told:
        monkeypatch.setattr(run.outside, "world", lambda kafka, history: replace(as_it_is(kafka, history), broker=None))
    run.do("the status is lost", Outside.lose_status)
    run.for_seconds(100)
    assert sorted(pod.uid for pod in run.outside.pods) == before
