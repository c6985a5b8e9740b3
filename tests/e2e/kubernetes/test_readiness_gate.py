"""With `readinessGate` a pod that has not rejoined counts as unavailable: the budget lets it go, and no other."""

from __future__ import annotations

from typing import Final

import pytest

from slackwater.api.annotations import REJOINED
from tests.e2e.kubernetes.halfway import begin, evict, gave_up, restarts, wait_rolled_out
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS, with_command
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.timeout(480)]

_CONSUMER: Final = "python3 -m sandbox.workload.consumer"
JOINS_WHEN_ASKED: Final = (
    f'case "$HOSTNAME" in *-{REPLICAS - 1}) NEVER_JOIN=1 {_CONSUMER} & until [ -e /state/join ]; do sleep 0.2; done;'
    f" kill $!; wait $!;; esac; exec {_CONSUMER}"
)
"""A version whose first pod is ready at once and joins when `let_join` says so."""


def test_no_other_pod_is_evicted_until_one_that_is_ready_has_rejoined(stage: Stage) -> None:
    """A pause keeps our own restarts from using the budget."""
    group = stage.group("gated", readinessGate=True)
    stage.create(group)
    began = begin(stage, with_command(group, JOINS_WHEN_ASKED))
    stage.cluster.annotate("gated", "pause", "until one is evicted")
    wait_ready_and_not_rejoined(stage, "gated-2")
    assert not evict(stage.cluster, "gated-0")
    stage.look_again("gated")
    assert not evict(stage.cluster, "gated-0")
    assert is_ready_and_not_rejoined(stage, "gated-2")
    let_join(stage, "gated-2")
    wait_for("it to have rejoined", lambda: said(stage, "gated-2", REJOINED) == "True", 120.0)
    wait_for("room in the budget", lambda: evict(stage.cluster, "gated-0"), 120.0)
    stage.cluster.annotate("gated", "pause", None)
    wait_rolled_out(stage, "gated")
    assert gave_up(stage, "gated", began) == []
    assert restarts(stage, "gated", began) == {"gated-0": 2, "gated-1": 1, "gated-2": 1}


def test_a_pod_that_is_not_ready_is_evicted_although_the_budget_is_used_up(stage: Stage) -> None:
    """A budget of none refuses even such a one where `IfHealthyBudget` is asked for."""
    group = stage.group("unhealthy", readinessGate=True, disruptionBudget={"maxUnavailable": 0})
    stage.create(group)
    began = begin(stage, with_command(group, JOINS_WHEN_ASKED))
    wait_ready_and_not_rejoined(stage, "unhealthy-2")
    set_policy(stage, "unhealthy", "IfHealthyBudget")
    assert not evict(stage.cluster, "unhealthy-2")
    set_policy(stage, "unhealthy", None)
    assert not evict(stage.cluster, "unhealthy-0")
    assert is_ready_and_not_rejoined(stage, "unhealthy-2")
    before = uid(stage, "unhealthy-2")
    assert evict(stage.cluster, "unhealthy-2")
    wait_for("another pod of that name", lambda: uid(stage, "unhealthy-2") not in (None, before), 120.0)
    wait_ready_and_not_rejoined(stage, "unhealthy-2")
    let_join(stage, "unhealthy-2")
    wait_rolled_out(stage, "unhealthy")
    assert restarts(stage, "unhealthy", began) == {"unhealthy-0": 1, "unhealthy-1": 1, "unhealthy-2": 2}


def wait_ready_and_not_rejoined(stage: Stage, pod: str) -> None:
    what = f"{pod} to be ready and not to have rejoined"
    wait_for(what, lambda: is_ready_and_not_rejoined(stage, pod), 120.0, lambda: stage.cluster.get("pods", pod))


def is_ready_and_not_rejoined(stage: Stage, pod: str) -> bool:
    """Nothing but its gate keeps it from being Ready."""
    words = [said(stage, pod, kind) for kind in ("ContainersReady", "Ready")]
    return words == ["True", "False"] and said(stage, pod, REJOINED) != "True"


def said(stage: Stage, pod: str, kind: str) -> str | None:
    """What this condition of the pod says."""
    found: Json = stage.cluster.get("pods", pod) or {"status": {}}
    conditions = {each["type"]: each["status"] for each in found["status"].get("conditions", ())}
    return conditions.get(kind)


def let_join(stage: Stage, pod: str) -> None:
    stage.cluster.kubectl("exec", pod, "--", "touch", "/state/join")


def set_policy(stage: Stage, name: str, policy: str | None) -> None:
    """None: the operator's default."""
    stage.cluster.patch("cg", name, {"spec": {"disruptionBudget": {"unhealthyPodEvictionPolicy": policy}}})
    path = "jsonpath={.spec.unhealthyPodEvictionPolicy}"
    wanted = policy or "AlwaysAllow"
    wait_for(f"the budget to say {wanted}", lambda: stage.cluster.kubectl("get", "pdb", name, "-o", path) == wanted)


def uid(stage: Stage, pod: str) -> str | None:
    found = stage.cluster.get("pods", pod)
    return str(found["metadata"]["uid"]) if found else None
