"""Versions whose pods join and get on, and that are wrong all the same: none of them gets past its first pod."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import with_command, with_env
from tests.e2e.stage.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(4), pytest.mark.timeout(900)]

ROLLOUT: Final[Json] = {"onFailure": "Rollback", "rejoinTimeout": "60s"}
KINDS: Final[dict[str, dict[str, Any]]] = {
    "classic": {},
    "dynamic": {"membership": "Dynamic"},
    "kip848": {"protocol": {"target": "Consumer"}},
    "warm": {"rollout": {**ROLLOUT, "strategy": "WarmHandover"}},
}
SIDECAR_ENDS: Final = "sleep 8; exit 1"
ENDS: Final = "python3 -m sandbox.workload.consumer & sleep 15; kill -9 $!; exit 1"
DEADLINE_S: Final = 400.0


@pytest.fixture(scope="module")
def versions(stage: Stage) -> Iterator[None]:
    """In each kind of group one that reads another topic; one that forgets one of two; two that end."""
    another = stage.topic + "-another"
    stage.kafka.make_topic(another, 6)
    begun = {name: stage.group(name, **{"rollout": ROLLOUT, **kind}) for name, kind in KINDS.items()}
    ends = stage.group("ends", rollout={**ROLLOUT, "stableFor": "10s"})
    both = stage.group("forgets", topics=[stage.topic, another], rollout=ROLLOUT)
    forgets = with_env(both, TOPICS=f"{stage.topic},{another}")
    sidecar = stage.group("sidecar", rollout={**ROLLOUT, "stableFor": "10s"})  # each pod has so long to show itself
    stage.create(*begun.values(), ends, forgets, sidecar)
    stage.cluster.apply(*(with_env(group, VERSION="2", TOPICS=another) for group in begun.values()))
    stage.cluster.apply(with_env(with_command(ends, ENDS), VERSION="2"))
    stage.cluster.apply(with_env(forgets, VERSION="2", TOPICS=stage.topic))
    stage.cluster.apply(_with_a_sidecar(with_env(sidecar, VERSION="2")))
    yield


def _with_a_sidecar(group: Json) -> Json:
    changed = deepcopy(group)
    containers = changed["spec"]["template"]["spec"]["containers"]
    beside = {"name": "beside", "image": containers[0]["image"], "command": ["sh", "-c", SIDECAR_ENDS]}
    containers.append(beside)
    return changed


def given(stage: Stage, name: str) -> set[str]:
    """The pods that had the version, as far as the recorder saw."""
    return {
        each.name
        for each in stage.recorder.records("pods")
        if each.obj["metadata"].get("labels", {}).get("slackwater.dev/group") == name and _version(each.obj) == "2"
    }


def _version(pod: Json) -> str | None:
    environment = pod["spec"]["containers"][0].get("env", ())
    return next((each.get("value") for each in environment if each["name"] == "VERSION"), None)


@pytest.mark.parametrize("name", KINDS)
def test_one_that_reads_another_topic_is_taken_back_from_its_first_pod(stage: Stage, versions: None, name: str) -> None:
    stage.cluster.wait_phase(name, "RolledBack", DEADLINE_S)
    assert "reads only" in stage.cluster.condition(name, "Progressing")["message"]
    assert given(stage, name) == {"warm-alt-0" if name == "warm" else f"{name}-2"}
    stage.cluster.wait_condition(name, "Ready", "True")


def test_one_that_forgets_a_topic_is_taken_back_from_its_first_pod(stage: Stage, versions: None) -> None:
    """Each pod would be given what it had, of both topics, until the group rebalances."""
    stage.cluster.wait_phase("forgets", "RolledBack", DEADLINE_S)
    assert "does not read" in stage.cluster.condition("forgets", "Progressing")["message"]
    assert given(stage, "forgets") == {"forgets-2"}
    stage.cluster.wait_condition("forgets", "Ready", "True")


def test_one_whose_sidecar_ends_and_ends_is_taken_back_from_its_first_pod(stage: Stage, versions: None) -> None:
    stage.cluster.wait_phase("sidecar", "RolledBack", DEADLINE_S)
    assert given(stage, "sidecar") == {"sidecar-2"}
    stage.cluster.wait_condition("sidecar", "Ready", "True")


def test_one_that_ends_and_ends_is_taken_back(stage: Stage, versions: None) -> None:
    stage.cluster.wait_phase("ends", "RolledBack", DEADLINE_S)
    stage.cluster.wait_condition("ends", "Ready", "True")
    assert given(stage, "ends") < {"ends-0", "ends-1", "ends-2"}
