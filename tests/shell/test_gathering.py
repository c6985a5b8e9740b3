"""Worlds gathered for a pass: what is kept for the next one, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from slackwater.adapters.cluster import snapshot
from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, CONTROLLER_REVISION, POD, STATEFUL_SET
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.resources import ConsumerGroup
from slackwater.core.world.memory import RolloutMemory, read_memory
from slackwater.core.world.pods import Pod
from slackwater.ports import Kind
from slackwater.shell.advice import AdviceBook
from slackwater.shell.gathering import Gathering
from slackwater.shell.store import Store
from slackwater.shell.turns import Turns
from tests.shell.fakes import KEY, FakeApi, FakeConnections, group_object

HEARD_AT = 50.0


def controlled_by(uid: str) -> list[dict[str, Any]]:
    return [{"uid": uid, "kind": "StatefulSet", "name": KEY.name, "controller": True}]


def stateful_set(name: str = KEY.name, owner: str = f"uid-of-{KEY.name}") -> dict[str, Any]:
    named = {"namespace": KEY.namespace, "name": name, "uid": f"uid-of-set-{name}", "resourceVersion": "1"}
    metadata = {**named, "labels": {GROUP_LABEL: KEY.name}, "ownerReferences": controlled_by(owner)}
    return {"kind": "StatefulSet", "metadata": metadata, "spec": {"replicas": 0, "template": {"spec": {}}}}


def revision(number: int, **metadata: Any) -> dict[str, Any]:
    named = {"namespace": KEY.namespace, "name": f"{KEY.name}-{number}", "labels": {GROUP_LABEL: KEY.name}}
    template = {"metadata": {"labels": {"version": str(number)}}, "spec": {}}
    return {"metadata": named | metadata, "data": {"spec": {"template": template}}}


class Stage:
    """A group with the revisions `payments-1`, `payments-2` … of its StatefulSet."""

    def __init__(self, revisions: int) -> None:
        self.api, self.store, self.version = FakeApi(), Store(lambda: HEARD_AT), 0
        self.store.put(STATEFUL_SET, stateful_set())
        for number in range(1, revisions + 1):
            owned = controlled_by(f"uid-of-set-{KEY.name}")
            self.api.add(CONTROLLER_REVISION, revision(number, ownerReferences=owned))
        api: Any = self.api
        connections: Any = FakeConnections()
        self.gathering = Gathering(api, self.store, connections, AdviceBook(lambda key: None), lambda: 0.0)

    async def template(self, last_good: int, phase: str = "Progressing") -> str | None:
        """The version in the template that a pass over a rollout, with this revision to go back to, is given."""
        self.version += 1
        rollout = {"phase": phase, "lastGoodRevision": f"{KEY.name}-{last_good}"}
        obj = group_object(self.version) | {"status": {"rollout": rollout}}
        self.store.put(CONSUMER_GROUP, obj)
        world, _ = await self.gathering.from_store(KEY, self.gathering.parse(KEY, obj))
        return None if world.last_good_template is None else world.last_good_template["metadata"]["labels"]["version"]

    @property
    def reads(self) -> int:
        return self.api.requests["GET", CONTROLLER_REVISION.plural]


async def test_the_last_good_template_is_read_once_in_a_rollout() -> None:
    stage = Stage(revisions=1)
    phases = ("Progressing", "Failed", "Progressing", "RollingBack", "RolledBack")
    assert [await stage.template(1, phase) for phase in phases] == ["1"] * len(phases)
    assert stage.reads == 1


async def test_a_last_good_template_that_is_not_there_yet_is_looked_for_again() -> None:
    stage = Stage(revisions=0)
    assert [await stage.template(1), await stage.template(1)] == [None, None]
    assert stage.reads == 2


async def test_of_many_rollouts_only_the_template_of_the_newest_is_kept() -> None:
    stage = Stage(revisions=3)
    assert [await stage.template(number) for number in (1, 2, 3)] == ["1", "2", "3"]
    assert stage.reads == 3
    assert await stage.template(3) == "3"
    assert stage.reads == 3
    assert await stage.template(1) == "1"
    assert stage.reads == 4  # the older ones were forgotten: nothing can go back to them


@pytest.mark.parametrize(
    ("owners", "sets", "labels", "is_read"),
    [
        (controlled_by("uid-of-set-payments"), [stateful_set()], {}, True),
        (controlled_by("uid-of-set-payments"), [stateful_set(owner="somebody")], {}, False),
        (controlled_by("uid-of-set-payments"), [], {}, False),
        (controlled_by("somebody"), [stateful_set()], {}, False),
        (controlled_by("uid-of-payments"), [stateful_set()], {}, False),
        ([{"uid": "uid-of-set-payments", "kind": "StatefulSet"}], [stateful_set()], {GROUP_LABEL: KEY.name}, False),
        ([], [stateful_set()], {GROUP_LABEL: KEY.name}, False),
        ([], [], {GROUP_LABEL: KEY.name}, True),
        ([], [stateful_set(KEY.name + "-b")], {GROUP_LABEL: KEY.name}, True),
        ([], [], {GROUP_LABEL: "orders"}, False),
        ([], [], {}, False),
    ],
    ids=[
        "its own",
        "of a StatefulSet under its name that somebody else has",
        "of a StatefulSet that is gone",
        "somebody else's",
        "said to be the group's own",
        "without a controller beside the StatefulSet",
        "an orphan beside the StatefulSet",
        "an orphan of a StatefulSet that is gone",
        "an orphan of one of two StatefulSets that is gone",
        "an orphan of another group",
        "an orphan of nobody",
    ],
)
async def test_only_a_revision_of_the_groups_own_is_gone_back_to(
    owners: list[Any], sets: list[Any], labels: dict[str, str], is_read: bool
) -> None:
    """Who makes one chooses its name and its labels, and what is in it would run as the group's pods do."""
    api = FakeApi()
    api.add(CONTROLLER_REVISION, revision(1, ownerReferences=owners, labels=labels))
    memory = read_memory({"rollout": {"phase": "RollingBack", "lastGoodRevision": f"{KEY.name}-1"}})
    found = await snapshot.read_last_good_template(api, group_object(), sets, memory)
    assert (found is not None) is is_read


async def test_of_a_revision_that_was_too_large_to_be_kept_there_is_no_template() -> None:
    api = FakeApi()
    made = lean(CONTROLLER_REVISION, revision(1, uid="u") | {"data": {"spec": {"template": ["x"] * 100_000}}})
    kept = lean(CONTROLLER_REVISION, revision(2))
    assert "data" not in made
    assert kept["data"] == revision(2)["data"]
    api.add(CONTROLLER_REVISION, dict(made))
    memory = read_memory({"rollout": {"phase": "RollingBack", "lastGoodRevision": f"{KEY.name}-1"}})
    assert await snapshot.read_last_good_template(api, group_object(), [], memory) is None


async def test_a_group_at_rest_keeps_no_template() -> None:
    stage = Stage(revisions=1)
    assert await stage.template(1) == "1"
    assert await stage.template(1, phase="Complete") is None
    assert await stage.template(1) == "1"
    assert stage.reads == 2


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The phase in each `status.rollout` that is parsed, in order."""
    phases: list[str] = []

    def counted(status: Mapping[str, Any]) -> RolloutMemory:
        memory = read_memory(status)
        phases.append(memory.phase)
        return memory

    monkeypatch.setattr(snapshot, "read_memory", counted)
    return phases


async def test_a_memory_is_parsed_once_for_each_version_however_often_it_is_passed_over(parsed: list[str]) -> None:
    """It is most of what a pass at rest costs, and there are thousands of those."""
    stage = Stage(revisions=1)
    obj = group_object(7) | {"status": {"rollout": {"phase": "Progressing", "lastGoodRevision": f"{KEY.name}-1"}}}
    stage.store.put(CONSUMER_GROUP, stage.api.add(CONSUMER_GROUP, obj))
    group = stage.gathering.parse(KEY, obj)
    for _ in range(3):
        world, _ = await stage.gathering.from_store(KEY, group)
        fresh = await stage.gathering.read_again(KEY, Turns())
        assert fresh is not None
        assert world.memory == fresh[0].memory
    assert parsed == ["Progressing"]


async def test_another_version_is_parsed_again_and_a_forgotten_group_too(parsed: list[str]) -> None:
    stage = Stage(revisions=1)
    await stage.template(1, phase="Progressing")
    await stage.template(1, phase="Complete")
    assert parsed == ["Progressing", "Complete"]
    stage.gathering.forget(KEY)
    obj = stage.store.get(CONSUMER_GROUP, KEY)
    assert obj is not None
    await stage.gathering.from_store(KEY, stage.gathering.parse(KEY, obj))
    assert parsed == ["Progressing", "Complete", "Complete"]


async def test_a_group_that_has_left_the_store_meanwhile_remembers_nothing() -> None:
    """The pass goes on, reads again, and finds it gone."""
    stage = Stage(revisions=0)
    world, status = await stage.gathering.from_store(KEY, stage.gathering.parse(KEY, group_object()))
    assert (world.memory, status) == (RolloutMemory(), {})
    assert await stage.gathering.read_again(KEY, Turns()) is None


def controlled(name: str, uid: str, by: str, **rest: Any) -> dict[str, Any]:
    metadata = {
        "namespace": KEY.namespace,
        "name": name,
        "uid": uid,
        "resourceVersion": "7",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {GROUP_LABEL: KEY.name},
        "ownerReferences": [{"kind": "It", "name": "it", "uid": by, "controller": True}],
    }
    return {"metadata": metadata, **rest}


async def test_when_a_watch_told_that_a_container_runs_is_known_of_what_is_read_again_as_well() -> None:
    stage = Stage(revisions=0)
    running = {"running": {"startedAt": "2026-01-01T00:00:01Z"}}
    consumer = {"name": "consumer", "containerID": "a run", "state": running}
    objects: dict[Kind, dict[str, Any]] = {
        CONSUMER_GROUP: group_object(),
        STATEFUL_SET: controlled(KEY.name, "set", f"uid-of-{KEY.name}", spec={"template": {}}),
        POD: controlled(f"{KEY.name}-0", "pod", "set", status={"containerStatuses": [consumer]}),
    }
    for kind, obj in objects.items():
        stage.store.put(kind, stage.api.add(kind, obj))
    stored, _ = await stage.gathering.from_store(KEY, stage.gathering.parse(KEY, objects[CONSUMER_GROUP]))
    read = await stage.gathering.read_again(KEY, Turns())
    assert read is not None
    assert [pod.told_running_at for pod in (*stored.pods, *read[0].pods)] == [HEARD_AT, HEARD_AT]


SET_UID = "uid-of-the-set"


def with_a_set(stage: Stage) -> ConsumerGroup:
    """Its group; a StatefulSet of it is in the store."""
    group = group_object()
    owner = group["metadata"]["uid"]
    spec = {"replicas": 3, "template": {"metadata": {}, "spec": {}}}
    stage.store.put(CONSUMER_GROUP, group)
    stage.store.put(STATEFUL_SET, controlled(KEY.name, SET_UID, owner, spec=spec))
    return stage.gathering.parse(KEY, group)


def with_pod(stage: Stage, ordinal: int, version: int = 7, **status: Any) -> None:
    name = f"{KEY.name}-{ordinal}"
    pod = controlled(name, f"uid-of-{name}", SET_UID, status=status)
    pod["metadata"]["resourceVersion"] = str(version)
    stage.store.put(POD, pod)


async def pods(stage: Stage, group: ConsumerGroup) -> dict[int, Pod]:
    world, _ = await stage.gathering.from_store(KEY, group)
    return {pod.ordinal: pod for pod in world.all_pods}


async def test_a_pod_that_has_not_changed_is_not_read_again() -> None:
    """It is a good part of what a pass at rest costs."""
    stage = Stage(revisions=0)
    group = with_a_set(stage)
    with_pod(stage, 0)
    with_pod(stage, 1)
    before = await pods(stage, group)
    with_pod(stage, 1, version=8, podIP="10.0.0.8")
    after = await pods(stage, group)
    assert after[0] is before[0]
    assert (before[1].address, after[1].address) == ("", "10.0.0.8")


async def test_a_pod_whose_container_is_another_one_by_now_is_read_again() -> None:
    """As after a rename, or after the memory of what its version was made with."""
    stage = Stage(revisions=0)
    group = with_a_set(stage)
    running = {"running": {"startedAt": "2026-01-01T00:01:00Z"}}
    with_pod(stage, 0, containerStatuses=[{"name": "consumer", "state": running}, {"name": "proxy", "state": {}}])
    assert (await pods(stage, group))[0].started_at is not None
    renamed = group_object(version=2)
    renamed["metadata"]["generation"] = 2
    renamed["spec"]["template"]["spec"]["containers"][0]["name"] = "proxy"
    stage.store.put(CONSUMER_GROUP, renamed)
    assert (await pods(stage, stage.gathering.parse(KEY, renamed)))[0].started_at is None


async def test_a_pod_that_is_gone_is_not_kept() -> None:
    stage = Stage(revisions=0)
    group = with_a_set(stage)
    for ordinal in range(3):
        with_pod(stage, ordinal)
    await pods(stage, group)
    for ordinal in range(2):
        name = f"{KEY.name}-{ordinal}"
        stage.store.drop(POD, controlled(name, f"uid-of-{name}", SET_UID))
    assert set(await pods(stage, group)) == {2}
    assert set(stage.gathering._pods[KEY]._known) == {f"uid-of-{KEY.name}-2"}
