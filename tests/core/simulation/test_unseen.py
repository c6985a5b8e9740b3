"""Nothing is done in Kafka before a pod was seen in the group: what waits for that is said, and has a way on."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.coordinator import model
from tests.core.simulation.life import Life, LifesRun


def degraded(run: LifesRun) -> dict[str, Any]:
    return next(each for each in run.outside.status["conditions"] if each["type"] == "Degraded")


def unread(run: LifesRun) -> int:
    broker = run.outside.broker
    return len(broker.partitions) - len({each for member in broker.group.members for each in member.assignment})


def test_new_partitions_of_a_group_whose_status_is_lost_are_read_after_a_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its pods were replaced once, so that brokers have the addresses of those before (F41); its leader does not look
    at the topic (F57)."""
    run = LifesRun(Life(replicas=3))
    run.until(RolloutPhase.COMPLETE)
    run.do("another version", lambda o: o.apply("v2"))
    run.for_seconds(120)
    run.do("the status is lost", lambda o: o.lose_status())
    run.lifes_operator.restart()
    run.for_seconds(60)
    assert degraded(run)["status"] == "False"
    with monkeypatch.context() as patch:
        patch.setattr(model, "rebalance", lambda group: (group,))
        run.outside.grow(2, "orders")
    run.for_seconds(300)
    assert unread(run) == 2
    assert (degraded(run)["status"], degraded(run)["reason"]) == ("True", "NotSeenInGroup")
    assert "slackwater restart payments" in degraded(run)["message"]
    assert "slackwater force payments" in degraded(run)["message"]
    run.do("restart", lambda o: o.restart())
    run.for_seconds(20)
    run.do("force", lambda o: o.force())
    run.for_seconds(600)
    assert unread(run) == 0
    assert degraded(run)["status"] == "False"


def test_settings_of_a_group_that_has_no_pod_yet_wait_in_silence() -> None:
    """Scaled from nothing later, by KEDA say: there is nobody who could be seen, and nothing to restart."""
    run = LifesRun(Life(kip848=True, replicas=0))
    assert run.outside.edit((("timeouts", {"consumer": {"session": "50s"}}),))
    run.for_seconds(60)
    assert (degraded(run)["status"], degraded(run)["reason"]) == ("False", "AsWanted")
