"""A StatefulSet that makes no pod is written to once in a while, which wakes its controller."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.paths import STATEFUL_SET
from slackwater.api.annotations import WOKEN_AT
from slackwater.core.world.world import World
from slackwater.shell.store import Store
from slackwater.shell.waking import AGAIN_S, MISSING_FOR_S, Waking
from tests.core.factories import NAME, NOW, pod, workload, world
from tests.shell.fakes import KEY, FakeApi

WHOLE: Final = world()
LACKING: Final = world(pods=(pod(0), pod(1)))


class Stage:
    def __init__(self) -> None:
        self.api, self.store, self.now = FakeApi(), Store(), NOW
        api: Any = self.api
        self.waking = Waking(api, self.store, lambda: self.now)
        self.add("set-uid")

    def add(self, uid: str) -> None:
        metadata = {"namespace": KEY.namespace, "name": NAME, "uid": uid, "generation": 1, "resourceVersion": "1"}
        self.api.add(STATEFUL_SET, {"metadata": metadata, "spec": {}})

    async def look(self, given: World = LACKING, after_s: float = 0.0) -> float:
        """Returns in how many seconds the next look is due."""
        self.now += after_s
        await self.waking.put_right(KEY, given)
        return self.waking.again_s(KEY)

    @property
    def written(self) -> int:
        return self.api.asked.count("annotate StatefulSet")


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_group_whose_pods_are_all_there_is_never_written_to(stage: Stage) -> None:
    assert await stage.look(WHOLE) == float("inf")
    assert await stage.look(WHOLE, 1_000) == float("inf")
    assert not stage.written


async def test_a_pod_that_is_missing_for_a_moment_costs_no_write(stage: Stage) -> None:
    assert await stage.look() == MISSING_FOR_S
    assert await stage.look(after_s=MISSING_FOR_S - 1) == 1
    await stage.look(WHOLE, 0.5)
    assert await stage.look(after_s=0.5) == MISSING_FOR_S
    assert not stage.written


async def test_pods_that_are_missing_one_after_the_other_cost_none_either(stage: Stage) -> None:
    """As in a rollout, where one is always on its way."""
    for _ in range(4):
        await stage.look(world(pods=(pod(0), pod(1))), MISSING_FOR_S / 2)
        await stage.look(world(pods=(pod(0), pod(2))), MISSING_FOR_S / 2)
    assert not stage.written


async def test_one_that_stays_away_wakes_its_controller_and_once_a_minute_at_most(stage: Stage) -> None:
    await stage.look()
    assert await stage.look(after_s=MISSING_FOR_S) == AGAIN_S
    assert stage.written == 1
    assert await stage.look(after_s=AGAIN_S - 1) == 1
    assert stage.written == 1
    assert await stage.look(after_s=1) == AGAIN_S
    assert stage.written == 2
    written = stage.api.objects["StatefulSet", KEY.namespace, NAME]
    assert written["metadata"]["annotations"].keys() == {WOKEN_AT}
    assert stage.store.get(STATEFUL_SET, KEY) == written


async def test_several_that_are_missing_are_one_write(stage: Stage) -> None:
    none = world(pods=())
    await stage.look(none)
    await stage.look(none, MISSING_FOR_S)
    assert stage.written == 1


async def test_another_one_of_the_name_is_left_alone(stage: Stage) -> None:
    await stage.look()
    stage.add("another")
    await stage.look(after_s=MISSING_FOR_S)
    assert "annotations" not in stage.api.objects["StatefulSet", KEY.namespace, NAME]["metadata"]


async def test_a_write_that_fails_is_tried_again_a_minute_later(stage: Stage) -> None:
    await stage.look()
    stage.api.failures["annotate StatefulSet"] = ClusterUnreachable("it does not answer")
    assert await stage.look(after_s=MISSING_FOR_S) == AGAIN_S
    await stage.look(after_s=AGAIN_S)
    assert "annotations" in stage.api.objects["StatefulSet", KEY.namespace, NAME]["metadata"]


async def test_the_second_of_two_waits_for_nothing_of_the_first(stage: Stage) -> None:
    """What is forgotten with the group, or made anew, is waited for from the beginning."""
    await stage.look()
    await stage.look(after_s=MISSING_FOR_S)
    stage.add("younger")
    anew = world(pods=(pod(0), pod(1)), workload=workload(uid="younger"))
    await stage.look(anew, 1)
    assert stage.written == 2
    stage.waking.forget(KEY)
    assert await stage.look(anew) == MISSING_FOR_S
