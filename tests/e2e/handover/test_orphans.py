"""A StatefulSet that was deleted without its pods, around a warm handover: no two pods get one instance id."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(3), pytest.mark.timeout(600)]

NOT_WAITING: Final = "--wait=false"
ROLLOUT: Final[Json] = {"strategy": "WarmHandover", "rejoinTimeout": "60s"}


def restarts(stage: Stage, group: str) -> dict[str, int]:
    """Of each pod's containers."""
    return {
        pod["metadata"]["name"]: sum(each["restartCount"] for each in pod["status"].get("containerStatuses", ()))
        for pod in stage.cluster.pods(group)
    }


def uids(stage: Stage, group: str) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in stage.cluster.pods(group)}


def half_handed_over(stage: Stage, group: Json) -> None:
    """The first pod has the next version, and the others have not."""
    name = group["metadata"]["name"]
    stage.create(group)
    stage.cluster.apply(with_env(group, VERSION="2"))

    def one_is_handed_over() -> bool:
        names = set(uids(stage, name))
        return {f"{name}-alt-0", f"{name}-1", f"{name}-2"} <= names and f"{name}-0" not in names

    wait_for("the first pod's replacement", one_is_handed_over, 120.0, lambda: stage.cluster.summary(name))


def test_pods_left_in_the_middle_work_on_until_somebody_deletes_them(stage: Stage) -> None:
    group = stage.group("middle", rollout=ROLLOUT)
    half_handed_over(stage, group)
    stage.cluster.kubectl("delete", "statefulset", "middle", "--cascade=orphan", NOT_WAITING)
    stage.cluster.wait_condition("middle", "Degraded", "True")
    left = [name for name in uids(stage, "middle") if "-alt-" not in name]
    before = {name: restarts(stage, "middle")[name] for name in left}
    for name in sorted(left):
        wait_for(
            f"{name} to be the next",
            partial(_is_to_go, stage, name),
            60.0,
            lambda: stage.cluster.summary("middle"),
        )
        assert restarts(stage, "middle")[name] == before[name]  # nobody has fenced it
        stage.cluster.kubectl("delete", "pod", name)
    stage.cluster.wait_complete("middle")
    stage.cluster.wait_condition("middle", "Degraded", "False")
    assert sorted(uids(stage, "middle")) == [f"middle-alt-{ordinal}" for ordinal in range(3)]


def test_the_last_good_version_outlives_the_other_statefulset(stage: Stage) -> None:
    """The older one had adopted its revision, and took it along: nothing was left to go back to."""
    group = stage.group("good", rollout=ROLLOUT | {"onFailure": "Pause"})
    half_handed_over(stage, group)
    stage.cluster.kubectl("delete", "statefulset", "good-alt", "--cascade=orphan", NOT_WAITING)
    wait_for("good-alt-0 to be the next", partial(_is_to_go, stage, "good-alt-0", "good"), 60.0)
    stage.cluster.kubectl("delete", "pod", "good-alt-0")
    stage.cluster.wait_complete("good")
    assert sorted(uids(stage, "good")) == [f"good-alt-{ordinal}" for ordinal in range(3)]
    bad = with_env(group, VERSION="3")
    bad["spec"]["rollout"]["strategy"] = "InPlace"
    stage.cluster.apply(bad)
    wait_for("version 3", lambda: "3" in versions(stage, "good"), 120.0, lambda: stage.cluster.summary("good"))
    stage.cluster.annotate("good", "abort", "now")
    stage.cluster.wait_phase("good", "RolledBack")
    assert versions(stage, "good") == ["2"] * 3


def test_pods_left_after_a_handover_are_taken_back_as_they_are(stage: Stage) -> None:
    group = stage.group("after", rollout=ROLLOUT)
    stage.create(group)
    stage.cluster.apply(with_env(group, VERSION="2"))
    stage.cluster.wait_complete("after")
    uid, before, ended = _uid(stage, "after-alt"), uids(stage, "after"), restarts(stage, "after")
    stage.cluster.kubectl("delete", "statefulset", "after-alt", "--cascade=orphan", NOT_WAITING)
    wait_for("another StatefulSet", lambda: _uid(stage, "after-alt") not in ("", uid), 60.0)
    stage.cluster.wait_complete("after")
    stage.cluster.wait_condition("after", "Ready", "True")
    assert (uids(stage, "after"), restarts(stage, "after")) == (before, ended)


def versions(stage: Stage, group: str) -> list[str]:
    """What each pod was made with."""
    containers = [pod["spec"]["containers"][0] for pod in stage.cluster.pods(group)]
    return [each["value"] for container in containers for each in container["env"] if each["name"] == "VERSION"]


def _is_to_go(stage: Stage, pod: str, group: str = "middle") -> bool:
    return bool(stage.cluster.condition(group, "Degraded")["message"].endswith(f" {pod}"))


def _uid(stage: Stage, name: str) -> str:
    arguments = ("--ignore-not-found", "-o", "jsonpath={.metadata.uid}")
    return stage.cluster.kubectl("get", "statefulset", name, *arguments).strip()
