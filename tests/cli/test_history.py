"""`slackwater history`: the versions that the cluster keeps, and no more than it knows."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, CONTROLLER_REVISION, POD, STATEFUL_SET
from slackwater.api.annotations import PROTOCOL, TEMPLATE_HASH
from slackwater.cli.errors import NoSuchGroup
from slackwater.cli.looking.kept import read_history
from slackwater.cli.pictures.history import Versions, history_document, history_picture, versions_of
from slackwater.cli.reaching.choice import Place
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, write_memory
from tests.api.manifests import consumer_group
from tests.cli import builders
from tests.cli.pictures import held
from tests.cli.test_tables import drawn
from tests.shell.fakes import FakeApi

Json = dict[str, Any]

FAILED = RolloutMemory(
    phase=RolloutPhase.ROLLED_BACK,
    target_hash="hash-3",
    failed_hash="hash-3",
    last_good_revision="payments-2",
    last_good_hash="hash-2",
    started_at=builders.NOW,
    message="pod payments-2 is stuck in ImagePullBackOff",
)


def owned(kind: str, name: str, uid: str, owner: str, made_at: str, **others: Any) -> Json:
    metadata = {
        "name": name,
        "namespace": "shop",
        "uid": uid,
        "resourceVersion": "1",
        "creationTimestamp": made_at,
        "ownerReferences": [{"uid": owner, "controller": True, "kind": "-", "name": "-"}],
    }
    return {"kind": kind, "metadata": {**metadata, **others.pop("metadata", {})}, **others}


def stateful_set(name: str = "payments", owner: str = builders.UID, made_at: str = "2025-11-01T00:00:00Z") -> Json:
    spec = {"replicas": 3, "template": {"metadata": {}, "spec": {"containers": []}}}
    return owned("StatefulSet", name, f"uid-of-{name}", owner, made_at, spec=spec)


def revision(number: int, of: str = "payments", protocol: str = "", name: str = "") -> Json:
    template = {
        "$patch": "replace",
        "metadata": {"annotations": {TEMPLATE_HASH: f"hash-{number}", PROTOCOL: protocol}},
        "spec": {
            "containers": [{"name": "sidecar", "image": "proxy:1"}, {"name": "consumer", "image": f"consumer:{number}"}]
        },
    }
    made_at = f"2025-11-{number:02}T12:00:00Z"
    name = name or f"{of}-{number}"
    data = {"spec": {"template": template}}
    return owned("ControllerRevision", name, name, f"uid-of-{of}", made_at, revision=number, data=data)


def pod(ordinal: int, of_revision: str, of: str = "payments") -> Json:
    labels = {"controller-revision-hash": of_revision}
    return owned(
        "Pod", f"{of}-{ordinal}", f"pod-{ordinal}", f"uid-of-{of}", "2025-11-02T12:00:01Z", metadata={"labels": labels}
    )


def group(memory: RolloutMemory) -> Json:
    manifest = consumer_group(
        replicas=3, client={"library": "Librdkafka", "version": "2.12.1", "container": "consumer"}
    )
    manifest["metadata"] |= {"namespace": "shop", "uid": builders.UID, "generation": 1, "resourceVersion": "1"}
    return {**manifest, "status": {"rollout": write_memory(memory)}}


def rolled_back() -> Versions:
    pods = [pod(0, "payments-2"), pod(1, "payments-2"), pod(2, "payments-3")]
    revisions = [revision(3, protocol="Consumer"), revision(1), revision(2)]
    return versions_of(group(FAILED), [stateful_set()], pods, revisions)


def test_versions_are_told_from_the_oldest_on() -> None:
    versions = history_document(rolled_back())["versions"]
    assert [(each["revision"], each["image"], each["pods"]) for each in versions] == [
        (1, "consumer:1", 0),
        (2, "consumer:2", 2),
        (3, "consumer:3", 1),
    ]
    assert [each["madeAt"] for each in versions] == [f"2025-11-0{n}T12:00:00Z" for n in (1, 2, 3)]
    assert [each["protocol"] for each in versions] == ["", "", "Consumer"]


def test_which_is_wanted_which_last_good_and_which_failed() -> None:
    versions = history_document(rolled_back())["versions"]
    marks = [(each["wanted"], each["lastGood"], each["failed"]) for each in versions]
    assert marks == [(False, False, False), (False, True, False), (True, False, True)]


def test_revisions_of_others_are_left_out() -> None:
    """A StatefulSet of the same name that was here before, and one that is not the group's."""
    theirs = stateful_set("payments-alt", owner="somebody")
    gone = revision(1, of="gone")
    found = versions_of(
        group(FAILED), [stateful_set(), theirs], [], [gone, revision(2), revision(4, of="payments-alt")]
    )
    assert [each.name for each in found.versions] == ["payments-2"]


def test_after_a_handover_both_stateful_sets_count_the_older_one_first() -> None:
    younger = stateful_set("payments-alt", made_at="2025-11-20T00:00:00Z")
    revisions = [revision(1, of="payments-alt"), revision(5)]
    found = versions_of(group(FAILED), [younger, stateful_set()], [pod(0, "payments-alt-1", "payments-alt")], revisions)
    assert [(each.stateful_set, each.pods) for each in found.versions] == [("payments", 0), ("payments-alt", 1)]


def test_a_version_of_which_no_hash_is_known_is_not_taken_for_any() -> None:
    """Such as one of a StatefulSet that was taken over."""
    bare = revision(1)
    del bare["data"]["spec"]["template"]["metadata"]["annotations"]
    found = versions_of(group(RolloutMemory()), [stateful_set()], [], [bare])
    assert [(each.wanted, each.last_good, each.failed) for each in found.versions] == [(False, False, False)]
    assert history_document(found)["rollout"] == {"phase": "None", "startedAt": None, "message": ""}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("history", rolled_back()),
        ("history-nothing", versions_of(group(RolloutMemory()), [], [], [])),
        ("history-last-good-gone", versions_of(group(FAILED), [stateful_set()], [], [revision(3)])),
    ],
)
def test_it_looks_as_it_is_held(name: str, found: Versions) -> None:
    held(f"{name}.txt", drawn(history_picture(found)))


@pytest.fixture
def cluster() -> Any:
    """A `FakeApi`, where a `KubernetesApi` is wanted."""
    api = FakeApi()
    api.add(CONSUMER_GROUP, group(FAILED))
    api.add(STATEFUL_SET, stateful_set())
    api.add(POD, pod(0, "payments-2"))
    api.add(CONTROLLER_REVISION, revision(2))
    return api


PLACE = Place("shop", "payments")


async def test_it_is_read_from_the_cluster_which_is_not_changed(cluster: Any) -> None:
    found = await read_history(cluster, PLACE)
    assert [(each.name, each.pods, each.last_good) for each in found.versions] == [("payments-2", 1, True)]
    assert cluster.asked == []


async def test_who_may_not_list_revisions_is_told_so(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = 'User "eve" cannot list resource "controllerrevisions"'
    listed = cluster.list_all

    async def refused(kind: Any, namespace: str | None, label_selector: str = "") -> Any:
        if kind is CONTROLLER_REVISION:
            raise ClusterRefused(refusal)
        return await listed(kind, namespace, label_selector)

    monkeypatch.setattr(cluster, "list_all", refused)
    with pytest.raises(ClusterRefused, match='cannot list resource "controllerrevisions"'):
        await read_history(cluster, PLACE)


async def test_a_group_that_there_is_not(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def installed(api: Any) -> None: ...

    monkeypatch.setattr("slackwater.cli.reaching.cluster.check_installed", installed)
    with pytest.raises(NoSuchGroup, match="did you mean payments"):
        await read_history(cluster, Place("shop", "payment"))
