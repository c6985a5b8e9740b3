"""What the API server says about a consumer's container, as times of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from slackwater.adapters.cluster.translation import has_run, left_of, loose_ordinals, to_pods, without_controller
from slackwater.api.annotations import REJOINED, TEMPLATE_HASH
from slackwater.core.world.pods import Pod, Sidecar
from tests.core.factories import workload

EARLIER = {"startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:10:00Z", "exitCode": 137}
LATER = {"startedAt": "2026-01-01T00:11:00Z", "finishedAt": "2026-01-01T00:12:00Z", "exitCode": 3}
RUNNING = {"running": {"startedAt": "2026-01-01T00:11:00Z"}}
MIDNIGHT = 1_767_225_600.0
SET = workload(uid="set")


def read(state: dict[str, Any], last: dict[str, Any], told_running: Mapping[str, float] | None = None) -> Pod:
    status = {"name": "consumer", "containerID": "run-2", "state": state, "lastState": last, "restartCount": 1}
    metadata = {
        "name": "payments-1",
        "uid": "u",
        "creationTimestamp": "2025-12-31T00:00:00Z",
        "ownerReferences": [{"uid": "set", "controller": True}],
    }
    objects = [{"metadata": metadata, "status": {"containerStatuses": [status]}}]
    return to_pods(objects, [SET], lambda _: "consumer", told_running or {})[0]


def test_the_consumers_container_is_the_one_that_the_pods_own_version_names() -> None:
    """Another version may call it otherwise."""

    def running(ordinal: int, version: str, container: str) -> dict[str, Any]:
        sidecar = {"name": "proxy", "containerID": "p", "state": {"waiting": {}}}
        consumer = {"name": container, "containerID": "c", "state": RUNNING}
        metadata = {
            "name": f"payments-{ordinal}",
            "uid": f"u{ordinal}",
            "annotations": {TEMPLATE_HASH: version},
            "creationTimestamp": "2025-12-31T00:00:00Z",
            "ownerReferences": [{"uid": "set", "controller": True}],
        }
        return {"metadata": metadata, "status": {"containerStatuses": [sidecar, consumer]}}

    names = {"old": "worker", "new": "consumer"}
    pods = to_pods([running(0, "old", "worker"), running(1, "new", "consumer")], [SET], names.__getitem__, {})
    assert to_pods([running(0, "new", "worker")], [SET], names.__getitem__, {})[0].started_at is None
    assert [(pod.template_hash, pod.started_at) for pod in pods] == [("old", MIDNIGHT + 660), ("new", MIDNIGHT + 660)]


def test_the_only_container_is_the_consumers_whatever_it_is_called() -> None:
    """Of a pod that was adopted nobody noted its name, and the spec may name another one by now."""
    metadata = {
        "name": "payments-0",
        "uid": "u",
        "creationTimestamp": "2025-12-31T00:00:00Z",
        "ownerReferences": [{"uid": "set", "controller": True}],
    }
    status = {"containerStatuses": [{"name": "app", "containerID": "c", "state": RUNNING}]}
    (found,) = to_pods([{"metadata": metadata, "status": status}], [SET], lambda _: "consumer", {})
    assert found.started_at == MIDNIGHT + 660


@pytest.mark.parametrize(
    ("state", "last", "started", "ended", "had_started"),
    [
        (RUNNING, {}, 660.0, None, None),
        (RUNNING, {"terminated": EARLIER}, 660.0, 600.0, 0.0),
        ({"terminated": LATER}, {"terminated": EARLIER}, None, 720.0, 660.0),
        ({"waiting": {"reason": "CrashLoopBackOff"}}, {"terminated": LATER}, None, 720.0, 660.0),
        (RUNNING, {"terminated": {"exitCode": 255, "finishedAt": None}}, 660.0, None, None),
    ],
    ids=["first run", "second run", "ended twice", "backing off", "lost from sight"],
)
def test_runs_of_a_container(
    state: dict[str, Any], last: dict[str, Any], started: float | None, ended: float | None, had_started: float | None
) -> None:
    pod = read(state, last)
    found = [pod.started_at, pod.ended_at, pod.last_run_started_at]
    assert found == [None if at is None else MIDNIGHT + at for at in (started, ended, had_started)]


@pytest.mark.parametrize(
    ("state", "told", "running_at"),
    [
        (RUNNING, {"run-1": 1.0, "run-2": 2.0}, 2.0),
        (RUNNING, {"run-1": 1.0}, None),
        ({"terminated": LATER}, {"run-2": 2.0}, None),
    ],
    ids=["told of this run", "told of the run before", "over"],
)
def test_when_a_watch_told_of_the_run(state: dict[str, Any], told: dict[str, float], running_at: float | None) -> None:
    assert read(state, {}, told).told_running_at == running_at


def test_containers_beside_the_consumers_that_have_ended_and_run_again() -> None:
    """Also a native sidecar, which Kubernetes calls an init container; one that is done has no run to last."""
    consumer = {"name": "consumer", "containerID": "c", "state": RUNNING, "lastState": {"terminated": EARLIER}}
    proxy = {"name": "proxy", "containerID": "p", "state": RUNNING, "lastState": {"terminated": EARLIER}}
    waits = {"name": "agent", "state": {"waiting": {}}, "lastState": {"terminated": EARLIER}}
    native = {"name": "native", "state": RUNNING, "lastState": {"terminated": EARLIER}}
    done = {"name": "migration", "state": {"terminated": LATER}}
    metadata = {
        "name": "payments-1",
        "uid": "u",
        "creationTimestamp": "2025-12-31T00:00:00Z",
        "ownerReferences": [{"uid": "set", "controller": True}],
    }
    status = {"initContainerStatuses": [native, done], "containerStatuses": [consumer, proxy, waits]}
    (pod,) = to_pods([{"metadata": metadata, "status": status}], [SET], lambda _: "consumer", {})
    since = MIDNIGHT + 660
    assert pod.sidecars == (Sidecar("native", 600.0, since), Sidecar("proxy", 600.0, since))


def test_an_init_container_that_ended_with_an_error_is_named_before_its_pause() -> None:
    init = {"name": "migrate", "state": {"terminated": {**LATER, "exitCode": 3}}}
    done = {"name": "first", "state": {"terminated": {**LATER, "exitCode": 0}}}
    metadata = {
        "name": "payments-1",
        "uid": "u",
        "creationTimestamp": "2025-12-31T00:00:00Z",
        "ownerReferences": [{"uid": "set", "controller": True}],
    }
    waits = {"name": "consumer", "state": {"waiting": {"reason": "PodInitializing"}}}

    def waiting(*inits: dict[str, Any]) -> tuple[str, str]:
        status = {"initContainerStatuses": list(inits), "containerStatuses": [waits]}
        (pod,) = to_pods([{"metadata": metadata, "status": status}], [SET], lambda _: "consumer", {})
        return pod.waiting, pod.waiting_message

    assert waiting(done, init) == ("CrashLoopBackOff", "init container migrate ended with exit code 3")
    assert waiting(done) == ("", "")


def test_pods_that_look_like_the_statefulset_s_and_are_not() -> None:
    def named(name: str, *controllers: str) -> dict[str, Any]:
        owners = [{"uid": uid, "controller": True} for uid in controllers]
        return {"metadata": {"name": name, "ownerReferences": owners}}

    pods = [named("payments-0", "set"), named("payments-1"), named("payments-2", "earlier-set"), named("payments-x-3")]
    assert loose_ordinals(pods, [SET], "payments") == {1, 2}


@pytest.mark.parametrize("name", ["payments-debug", "payments-", "payments", "payments-007", "refunds-1"])
def test_a_pod_that_names_the_statefulset_as_its_owner_and_has_no_ordinal_of_it_is_left_out(name: str) -> None:
    """Anybody may write an ownerReference: one such pod must not keep the whole group from being looked at."""

    def named(name: str) -> dict[str, Any]:
        owners = [{"uid": "set", "controller": True}]
        return {
            "metadata": {
                "name": name,
                "uid": name,
                "creationTimestamp": "2025-12-31T00:00:00Z",
                "ownerReferences": owners,
            }
        }

    found = to_pods([named(name), named("payments-1")], [SET], lambda _: "consumer", {})
    assert [pod.name for pod in found] == ["payments-1"]
    assert loose_ordinals([named(name)], [SET], "payments") == frozenset()


TRUE = {"status": "True", "lastTransitionTime": "2026-01-01T00:01:00Z"}
LATER_FALSE = {"status": "False", "lastTransitionTime": "2026-01-01T00:02:00Z"}


def gated(gates: tuple[str, ...], **conditions: Mapping[str, str]) -> Pod:
    """A pod with these readiness gates and conditions; `rejoined` is ours, `mesh` somebody else's."""
    words = {"rejoined": REJOINED, "mesh": "mesh.example/ready"}
    metadata = {
        "name": "payments-1",
        "uid": "u",
        "creationTimestamp": "2025-12-31T00:00:00Z",
        "ownerReferences": [{"uid": "set", "controller": True}],
    }
    spec = {"readinessGates": [{"conditionType": words[gate]} for gate in gates]}
    found = [{"type": words.get(kind, kind), **condition} for kind, condition in conditions.items()]
    return to_pods([{"metadata": metadata, "spec": spec, "status": {"conditions": found}}], [SET], str, {})[0]


def test_our_own_gate_says_nothing_about_readiness() -> None:
    """Else a pod would be waited for that waits for us."""
    pod = gated(("rejoined",), Ready=LATER_FALSE, ContainersReady=TRUE)
    assert (pod.ready, pod.ready_changed_at, pod.rejoined) == (True, MIDNIGHT + 60, False)
    assert gated(("rejoined",), Ready=TRUE, ContainersReady=TRUE, rejoined=TRUE).rejoined is True
    assert not gated(("rejoined",), Ready=LATER_FALSE, ContainersReady=LATER_FALSE, rejoined=TRUE).ready


def test_gates_of_others_do() -> None:
    pod = gated(("rejoined", "mesh"), Ready=LATER_FALSE, ContainersReady=TRUE, mesh=LATER_FALSE)
    assert (pod.ready, pod.ready_changed_at) == (False, MIDNIGHT + 120)
    assert not gated(("rejoined", "mesh"), Ready=LATER_FALSE, ContainersReady=TRUE).ready
    assert gated(("rejoined", "mesh"), Ready=LATER_FALSE, ContainersReady=TRUE, mesh=TRUE).ready


def test_without_our_gate_a_pod_is_as_ready_as_kubernetes_says() -> None:
    pod = gated(("mesh",), Ready=LATER_FALSE, ContainersReady=TRUE, mesh=TRUE)
    assert (pod.ready, pod.rejoined) == (False, None)


def test_when_a_node_was_found() -> None:
    assert gated((), PodScheduled=TRUE).scheduled_at == MIDNIGHT + 60
    assert gated((), PodScheduled=LATER_FALSE).scheduled_at is None


@pytest.mark.parametrize(("started", "starting"), [(False, True), (True, False), (None, False)])
def test_a_startup_probe_that_goes_on(started: bool | None, starting: bool) -> None:
    status = {"name": "consumer", "state": RUNNING, "restartCount": 0, "started": started}
    metadata = {
        "name": "payments-1",
        "uid": "u",
        "creationTimestamp": "2025-12-31T00:00:00Z",
        "ownerReferences": [{"uid": "set", "controller": True}],
    }
    pods = to_pods([{"metadata": metadata, "status": {"containerStatuses": [status]}}], [SET], lambda _: "consumer", {})
    assert pods[0].starting is starting


def test_orphans_are_named_as_ours_live_on_and_have_no_controller() -> None:
    """Of both names: `kubectl delete statefulset --cascade=orphan` takes the owner out of its pods."""

    def named(name: str, *controllers: str, **metadata: Any) -> dict[str, Any]:
        owners = [{"uid": uid, "name": "payments", "controller": True} for uid in controllers]
        return {"metadata": {"name": name, "uid": name, "ownerReferences": owners, **metadata}}

    pods = [
        named("payments-0", "set"),
        named("payments-1"),
        named("payments-alt-2"),
        named("payments-3", deletionTimestamp="2026-01-01T00:00:00Z"),
        named("refunds-4"),
        named("payments-5", "earlier-set"),
    ]
    assert without_controller(left_of("payments", pods)) == {"payments-1", "payments-alt-2"}


@pytest.mark.parametrize(
    ("status", "ran"),
    [
        ({}, False),
        ({"phase": "Pending", "containerStatuses": []}, False),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}, "restartCount": 0}]}, False),
        ({"containerStatuses": [{"state": {"waiting": {}}, "lastState": {}}]}, False),
        ({"phase": "Pending", "containerStatuses": [{"state": RUNNING}]}, True),
        ({"containerStatuses": [{"state": {"terminated": LATER}}]}, True),
        ({"containerStatuses": [{"state": {"waiting": {}}, "lastState": {"terminated": LATER}}]}, True),
        ({"containerStatuses": [{"state": {"waiting": {}}, "restartCount": 1}]}, True),
        ({"phase": "Running"}, True),
        ({"phase": "Failed", "reason": "Evicted"}, True),
    ],
)
def test_whether_a_pod_has_run(status: dict[str, Any], ran: bool) -> None:
    """In doubt it has: a member of it may be in the group."""
    assert has_run({"metadata": {"name": "payments-0"}, "status": status}) is ran
