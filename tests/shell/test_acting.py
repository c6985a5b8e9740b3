"""What a deletion takes along, and what is written on a pod with a readiness gate."""

from __future__ import annotations

import pytest

from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONTROLLER_REVISION, POD, STATEFUL_SET
from slackwater.api.annotations import REJOINED
from slackwater.core.decision.acts import DeleteWorkload, Purpose
from slackwater.core.manifests.template import wanted_template
from slackwater.core.manifests.writes import shape
from slackwater.core.members.rejoined import Mark
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.remaking import Remaking
from slackwater.shell.acting import carry_out, write_mark
from tests.api.refusals import CLAIM
from tests.core.factories import NAME, NOW, group, pod, world
from tests.shell.fakes import FakeApi

EMPTIED, STAYS, REVISION = "uid-of-the-emptied", "uid-of-the-other", "payments-alt-788f8dcd5c"


def cluster(owner: str | None) -> FakeApi:
    api = FakeApi()
    api.add(STATEFUL_SET, {"metadata": {"namespace": "default", "name": NAME, "uid": EMPTIED}})
    if owner is not None:
        owners = [{"kind": "StatefulSet", "uid": owner, "controller": True}] if owner else []
        api.add(
            CONTROLLER_REVISION, {"metadata": {"namespace": "default", "name": REVISION, "ownerReferences": owners}}
        )
    return api


@pytest.mark.parametrize("owner", [EMPTIED, STAYS, ""], ids=["the one that goes", "the one that stays", "nobody"])
async def test_the_revision_of_the_one_that_stays_does_not_go_with_the_other(owner: str) -> None:
    """Adopted while it was an orphan, it went with the StatefulSet that was emptied: nothing was left to go back to."""
    api = cluster(owner)
    await carry_out(
        api, None, world(), DeleteWorkload(NAME, EMPTIED, "its last pod has been replaced", ("other", REVISION))
    )
    assert [name for kind, _, name in api.objects if kind == "StatefulSet"] == []
    assert [name for kind, _, name in api.objects if kind == "ControllerRevision"] == [REVISION]


@pytest.mark.parametrize(("keeps", "owner"), [((), EMPTIED), ((REVISION,), None)], ids=["none is kept", "it is gone"])
async def test_else_all_goes(keeps: tuple[str, ...], owner: str | None) -> None:
    api = cluster(owner)
    await carry_out(api, None, world(), DeleteWorkload(NAME, EMPTIED, "its ConsumerGroup is deleted", keeps))
    assert not api.objects


async def test_who_orphans_its_pods_orphans_its_revisions() -> None:
    api = cluster(EMPTIED)
    await carry_out(api, None, world(), DeleteWorkload(NAME, EMPTIED, "it is made again", orphans=True))
    assert [name for kind, _, name in api.objects if kind == "StatefulSet"] == []
    assert [name for kind, _, name in api.objects if kind == "ControllerRevision"] == [REVISION]


async def test_what_is_made_again_has_what_nobody_can_change_of_the_one_before() -> None:
    fixed = {"serviceName": "headless", "selector": {"matchLabels": {"app": "payments"}}}
    memory = RolloutMemory(remaking=Remaking("claims", NOW, EMPTIED, fixed))
    given = world(workload=None, pods=(), memory=memory, group=group(volumeClaimTemplates=[CLAIM]))
    act = shape(given, wanted_template(given), Purpose.CREATE)
    made = await carry_out(FakeApi(), None, given, act)
    assert made is not None
    assert {name: made["spec"][name] for name in fixed} == fixed
    assert made["spec"]["volumeClaimTemplates"] == [CLAIM]


@pytest.mark.parametrize(("rejoined", "words"), [(True, ("True", "InTheGroup")), (False, ("False", "NotInTheGroup"))])
async def test_the_readiness_gate_says_what_is_known_of_the_pod(rejoined: bool, words: tuple[str, str]) -> None:
    api, given = FakeApi(), world()
    api.add(POD, {"metadata": {"namespace": given.group.namespace, "name": pod(2).name, "uid": pod(2).uid}})
    written = await write_mark(api, given, Mark(pod(2), rejoined))
    (condition,) = written["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (REJOINED, *words)


async def test_another_pod_of_that_name_is_given_no_mark() -> None:
    api, given = FakeApi(), world()
    api.add(POD, {"metadata": {"namespace": given.group.namespace, "name": pod(2).name, "uid": "another"}})
    with pytest.raises(Conflict):
        await write_mark(api, given, Mark(pod(2), rejoined=True))
