"""What an autoscaler writes to `/scale` during a rollout is held until that is over, or stands still."""

from __future__ import annotations

import re
import time
from typing import Final

import pytest

from slackwater.api.timestamps import moment
from tests.e2e.handover.handovers import create, warm_group
from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.recorder import Record
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

IN_PLACE, WARM, CANARY = "in-place", "warm", "canary"
MORE: Final = REPLICAS + 1
NEW: Final = {"VERSION": "2"}


@pytest.fixture(scope="module")
def running(stage: Stage) -> Stage:
    create(stage, warm_group(stage, WARM))
    stage.create(*(stage.group(name, replicas=REPLICAS) for name in (IN_PLACE, CANARY)))
    return stage


@pytest.mark.parametrize("name", [IN_PLACE, WARM])
def test_what_is_written_in_the_middle_is_held_and_said_and_done_afterwards(running: Stage, name: str) -> None:
    began = time.time()
    made = (
        warm_group(running, WARM, env=NEW) if name == WARM else with_env(running.group(name, replicas=REPLICAS), **NEW)
    )
    running.cluster.apply(made)
    wait_for("the first step", lambda: _is_at_work(running.cluster.status(name)), 60.0)
    running.cluster.kubectl("scale", "cg", name, f"--replicas={MORE}")
    held = running.cluster.wait_condition(name, "ScalingHeld", "True", "RolloutUnderWay")
    assert f"spec.replicas is {MORE} by now; the rollout goes on with {REPLICAS}" in held["message"]
    running.cluster.wait_condition(name, "ScalingHeld", "False")
    wait_members(running, name, MORE)
    running.cluster.wait_condition(name, "Ready", "True")

    ended = running.recorder.first("the rollout's end", "consumergroups", lambda obj: _is_over(obj, name), began)
    over = moment(condition(ended.obj, "Progressing")["lastTransitionTime"])
    more = [record for record in running.recorder.records("pods", began) if _is_above(record, name)]
    assert more, "no pod was added"
    assert min(moment(record.obj["metadata"]["creationTimestamp"]) for record in more) >= over
    assert running.kafka.rebalances(running.group_id(name), began, over) == 0


def test_while_a_canary_is_held_it_is_done_at_once(running: Stage) -> None:
    canary = running.group(CANARY, replicas=REPLICAS, rollout={"canary": [{"replicas": 1}]})
    running.cluster.apply(with_env(canary, **NEW))
    running.cluster.wait_condition(CANARY, "RolloutGated", "True", "CanaryHold")
    running.cluster.kubectl("scale", "cg", CANARY, f"--replicas={MORE}")
    wait_members(running, CANARY, MORE)
    assert running.cluster.status(CANARY)["rollout"]["phase"] == "Progressing"
    running.cluster.annotate(CANARY, "promote", "now")
    running.cluster.wait_complete(CANARY)
    wait_members(running, CANARY, MORE)


def wait_members(stage: Stage, name: str, count: int) -> None:
    wanted = {f"{name}-{ordinal}" for ordinal in range(count)}
    wait_for(f"{count} members", lambda: set(stage.kafka.look(stage.group_id(name)).members) == wanted, 120.0)


def _is_at_work(status: Json) -> bool:
    rollout = status.get("rollout") or {}
    return rollout.get("phase") == "Progressing" and bool(rollout.get("step") or rollout.get("handover"))


def _is_over(obj: Json, name: str) -> bool:
    ours: bool = obj["metadata"]["name"] == name
    is_of_this = obj.get("status", {}).get("observedGeneration") == obj["metadata"]["generation"]
    return ours and is_of_this and condition(obj, "Progressing").get("reason") == "RolloutComplete"


def _is_above(record: Record, name: str) -> bool:
    """A pod with an ordinal that there was none of."""
    found = re.fullmatch(rf"{name}(-alt)?-(\d+)", record.name)
    return found is not None and int(found[2]) >= REPLICAS
