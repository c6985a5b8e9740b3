"""Why a pod is missing, or not started, is asked for only where one has been for a while."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.adapters.cluster.paths import EVENT, POD
from slackwater.api.timestamps import timestamp
from slackwater.core.world.pods import NotMade, Pod
from slackwater.core.world.world import World
from slackwater.shell.pod_events import (
    ASKED_AFTER_S,
    ASKED_AGAIN_S,
    NAME_TAKEN,
    NOT_MOUNTED,
    REPEATED_WITHIN_S,
    PodEvents,
)
from tests.core.factories import NOW, group, pod, world
from tests.shell.fakes import KEY, FakeApi

WHOLE = world()
LACKING = world(pods=(pod(0), pod(1)))
SAID = 'Create Pod payments-2 in StatefulSet payments failed error: pods "payments-2" is forbidden: exceeded quota'


def event(message: str = SAID, at: float = NOW, reason: str = "FailedCreate", uid: str = "set-uid") -> dict[str, Any]:
    return {"involvedObject": {"uid": uid}, "reason": reason, "message": message, "lastTimestamp": timestamp(at)}


class Stage:
    def __init__(self, *events: dict[str, Any]) -> None:
        self.api, self.now = FakeApi(told=list(events)), NOW
        api: Any = self.api
        self.events = PodEvents(api, lambda: self.now)

    async def look(self, seen: World = LACKING, after_s: float = 0.0) -> dict[str, NotMade]:
        return dict((await self.explained(seen, after_s)).not_made)

    async def explained(self, seen: World, after_s: float = 0.0) -> World:
        self.now += after_s
        return await self.events.explain(KEY, seen)

    @property
    def asked(self) -> int:
        return self.api.requests["GET", EVENT.plural]


async def test_a_pod_that_is_missing_for_a_moment_costs_no_request() -> None:
    stage = Stage(event())
    assert await stage.look() == {}
    assert await stage.look(WHOLE, ASKED_AFTER_S) == {}
    assert await stage.look(LACKING, 0.1) == {}
    assert stage.asked == 0


async def test_what_kubernetes_said_last_is_found_and_asked_for_again_only_after_a_while() -> None:
    stage = Stage(event("create Pod payments-2 in StatefulSet payments failed error: older", NOW - 9), event())
    await stage.look()
    expected = {"payments-2": NotMade("is forbidden: exceeded quota", NOW)}
    assert await stage.look(after_s=ASKED_AFTER_S) == expected
    assert await stage.look(after_s=ASKED_AGAIN_S / 2) == expected
    assert stage.asked == 1
    await stage.look(after_s=ASKED_AGAIN_S)
    assert stage.asked == 2


@pytest.mark.parametrize("other", [event(reason="SuccessfulCreate"), event(uid="another"), event("something else")])
async def test_other_events_say_nothing(other: dict[str, Any]) -> None:
    stage = Stage(other)
    await stage.look()
    assert await stage.look(after_s=ASKED_AFTER_S) == {}
    assert stage.asked == 1


def somebodys(owner: str) -> dict[str, Any]:
    owners = [{"uid": owner, "kind": "StatefulSet", "name": "payments", "controller": True}] if owner else []
    ending = {"deletionTimestamp": timestamp(NOW)} if owner == "ending" else {}
    return {"metadata": {"name": "payments-2", "namespace": KEY.namespace, "ownerReferences": owners, **ending}}


@pytest.mark.parametrize(
    ("owner", "said", "names"),
    [
        ("", (), ["payments-2"]),
        ("another", (), ["payments-2"]),
        ("set-uid", (), []),
        ("ending", (), []),
        ("", (event(),), []),
    ],
    ids=[
        "nobody's",
        "another's",
        "ours, which the watch has yet to show",
        "another's, which is ending",
        "Kubernetes has said something else",
    ],
)
async def test_a_pod_of_that_name_that_the_stateful_set_does_not_control_is_named(
    owner: str, said: tuple[dict[str, Any], ...], names: list[str]
) -> None:
    """Somebody has changed its labels, say. The controller makes no Event of it."""
    stage = Stage(*said)
    stage.api.objects[(POD.name, KEY.namespace, "payments-2")] = somebodys(owner)
    await stage.look()
    found = await stage.look(after_s=ASKED_AFTER_S)
    assert [name for name, each in found.items() if each.message == NAME_TAKEN] == names


async def test_pods_that_may_not_be_read_leave_what_events_say() -> None:
    stage = Stage(event("create Pod payments-1 in StatefulSet payments failed error: no"))
    stage.api.forbidden.add(POD.name)
    seen = world(pods=(pod(0),))
    await stage.look(seen)
    assert set(await stage.look(seen, ASKED_AFTER_S)) == {"payments-1"}


async def test_events_that_may_not_be_read_are_unknown() -> None:
    stage = Stage(event())
    stage.api.forbidden.add(EVENT.name)
    await stage.look()
    assert await stage.look(after_s=ASKED_AFTER_S) == {}
    assert stage.asked == 1


async def test_a_group_without_a_stateful_set_lacks_nothing_that_could_be_explained() -> None:
    stage = Stage(event())
    await stage.look(world(workload=None, pods=()))
    assert await stage.look(world(workload=None, pods=()), ASKED_AFTER_S) == {}
    assert stage.asked == 0


BODILESS = pod(2, ready=False, started_at=None, scheduled_at=NOW, address="")
NO_CONFIG = 'MountVolume.SetUp failed for volume "config" : configmap "payments-config" not found'


async def test_what_a_node_cannot_mount_is_why_a_pod_is_not_started() -> None:
    """As with a ConfigMap that is missing: the status says ContainerCreating and no more."""
    stage = Stage(event(NO_CONFIG, reason=NOT_MOUNTED, uid=BODILESS.uid))
    seen = world(pods=(pod(0), pod(1), BODILESS))
    assert await stage.explained(seen) is seen
    found = (await stage.explained(seen, ASKED_AFTER_S)).all_pods[2]
    assert (found.waiting, found.waiting_message) == (NOT_MOUNTED, NO_CONFIG)
    assert (await stage.explained(seen, ASKED_AGAIN_S / 2)).all_pods[2] == found
    assert stage.asked == 1


async def test_of_many_a_few_are_asked_for_at_a_time_by_turns() -> None:
    pods = tuple(replace(BODILESS, name=f"payments-{n}", ordinal=n, uid=f"u{n}") for n in range(12))
    stage = Stage(*(event(NO_CONFIG, reason=NOT_MOUNTED, uid=each.uid) for each in pods))
    seen = world(pods=pods, group=group(replicas=12))
    await stage.explained(seen)
    for asked in (5, 10, 15):
        found = await stage.explained(seen, max(ASKED_AFTER_S, ASKED_AGAIN_S))
        assert stage.asked == asked
        assert sum(each.waiting == NOT_MOUNTED for each in found.all_pods) == min(asked, 12)


async def test_what_was_not_repeated_is_over() -> None:
    """The kubelet's own cache may not be filled when a pod comes: a second later all is mounted."""
    stage = Stage(event(NO_CONFIG, at=NOW - REPEATED_WITHIN_S, reason=NOT_MOUNTED, uid=BODILESS.uid))
    seen = world(pods=(pod(0), pod(1), BODILESS))
    await stage.explained(seen)
    assert await stage.explained(seen, ASKED_AFTER_S) is seen


@pytest.mark.parametrize(
    "other",
    [
        pod(2, ready=False, started_at=None, scheduled_at=None),
        pod(2, ready=False, scheduled_at=NOW),
        replace(BODILESS, waiting="ImagePullBackOff"),
        replace(BODILESS, terminating=True),
        replace(BODILESS, restarts=1),
        replace(BODILESS, address="10.0.0.9", node_address="192.168.0.1"),
    ],
    ids=["no node", "it runs", "its status says why", "it ends", "it ran", "its init containers run"],
)
async def test_of_others_nobody_asks(other: Pod) -> None:
    stage = Stage(event(NO_CONFIG, reason=NOT_MOUNTED, uid=other.uid))
    seen = world(pods=(pod(0), pod(1), other))
    await stage.explained(seen)
    assert await stage.explained(seen, ASKED_AFTER_S) is seen
    assert stage.asked == 0
