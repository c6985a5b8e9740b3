"""Why a pod is missing is asked for only where one has been missing for a while."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.adapters.cluster.paths import EVENT
from slackwater.api.timestamps import timestamp
from slackwater.core.world.pods import NotMade
from slackwater.core.world.world import World
from slackwater.shell.missing_pods import ASKED_AFTER_S, ASKED_AGAIN_S, MissingPods
from tests.core.factories import NOW, pod, world
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
        self.missing = MissingPods(api, lambda: self.now)

    async def look(self, seen: World = LACKING, after_s: float = 0.0) -> dict[str, NotMade]:
        self.now += after_s
        return dict(await self.missing.why(KEY, seen))

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
