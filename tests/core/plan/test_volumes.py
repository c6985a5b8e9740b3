"""Volume claims that change, pass by pass: what people read, and what is waited for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.acts import DeleteWorkload, Purpose, WriteWorkload
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import wanted_template
from slackwater.core.plan import plan
from slackwater.core.rollout.volumes import ANNOUNCED_FOR_S
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.remaking import Remaking
from slackwater.core.world.world import World
from tests.api.refusals import CLAIM
from tests.core.factories import NEW, NOW, changed, group, pod, workload, world

LARGER = {**CLAIM, "spec": {**CLAIM["spec"], "resources": {"requests": {"storage": "2Gi"}}}}
FIXED = {"serviceName": "headless", "volumeClaimTemplates": [CLAIM]}
KEPT = {"whenDeleted": "Retain", "whenScaled": "Retain"}


def at_rest(asked: Any = (LARGER,), **of_the_set: Any) -> World:
    """Every pod has the version of the StatefulSet, and other claims are asked for than that has."""
    given = world(group=group(volumeClaimTemplates=list(asked)), pods=[pod(each, NEW) for each in range(3)])
    template = wanted_template(given)
    usual = {"template": template.body, "template_hash": template.hash, "current_revision": NEW, "fixed": FIXED}
    known = RolloutMemory(phase=RolloutPhase.COMPLETE, target_hash=template.hash, last_good_hash=template.hash)
    known = replace(known, last_good_revision=NEW, made_with={template.hash: given.asked_for})
    return changed(given, workload=workload(**{**usual, "retention": KEPT, **of_the_set}), memory=known)


def announced(seen: World, ago_s: float = 2 * ANNOUNCED_FOR_S, **changes: Any) -> World:
    remaking = plan(seen).memory.remaking
    assert remaking is not None
    return seen.remembering(replace(seen.memory, remaking=replace(remaking, announced_at=NOW - ago_s, **changes)))


def test_people_read_it_in_the_same_pass_in_which_it_is_found() -> None:
    """So that `slackwater plan` says it as well."""
    decided = plan(at_rest())
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.VOLUME_CLAIMS_CHANGE
    assert [note.reason for note in decided.notes] == [Reason.VOLUME_CLAIMS_CHANGE]
    assert decided.memory.remaking is not None
    assert decided.memory.remaking.announced_at == NOW


@pytest.mark.parametrize(("ago_s", "acts"), [(ANNOUNCED_FOR_S - 1, False), (ANNOUNCED_FOR_S, True)])
def test_it_is_done_after_a_while_and_remembered_before(ago_s: float, acts: bool) -> None:
    seen = at_rest()
    decided = plan(announced(seen, ago_s))
    assert isinstance(decided.act, DeleteWorkload) is acts
    if isinstance(decided.act, DeleteWorkload):
        assert decided.act.orphans
        assert decided.memory.remaking is not None
        assert (decided.memory.remaking.uid, dict(decided.memory.remaking.fixed)) == (
            "set-uid",
            {"serviceName": "headless"},
        )


def test_claims_that_would_go_with_the_stateful_set_are_kept_first() -> None:
    act = plan(announced(at_rest(retention={"whenDeleted": "Delete", "whenScaled": "Retain"}))).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.partition, act.replicas) == (Purpose.KEEP_CLAIMS, 3, 3)


def test_one_that_is_on_its_way_out_is_waited_for_whatever_is_asked_for_by_then() -> None:
    """Else what its successor must have again would be forgotten."""
    seen = announced(at_rest(is_ending=True), uid="set-uid", fixed={"serviceName": "headless"})
    back = replace(seen, group=group(volumeClaimTemplates=[CLAIM]))
    for each in (seen, back):
        decided = plan(each)
        assert decided.act is None
        assert decided.hold is not None
        assert decided.hold.message == "waiting for Kubernetes to let the pods of StatefulSet payments go"
        assert decided.memory.remaking == seen.memory.remaking


def test_what_is_done_is_forgotten() -> None:
    done = at_rest(asked=(CLAIM,))
    seen = done.remembering(replace(done.memory, remaking=Remaking("claims", NOW - 60, "before")))
    assert plan(seen).memory.remaking is None


def test_another_change_is_announced_again() -> None:
    seen = announced(at_rest())
    other = replace(
        seen, group=group(volumeClaimTemplates=[{**CLAIM, "spec": {**CLAIM["spec"], "volumeMode": "Block"}}])
    )
    decided = plan(other)
    assert decided.act is None
    assert decided.memory.remaking is not None
    assert decided.memory.remaking.announced_at == NOW


@pytest.mark.parametrize("when_scaled", ["Retain", "Delete"])
def test_whoever_has_to_stop_the_group_is_warned_of_what_that_would_delete(when_scaled: str) -> None:
    policy = {"whenScaled": when_scaled}
    asked = group(volumeClaimTemplates=[CLAIM, {**CLAIM, "metadata": {"name": "cache"}}])
    spec = {**asked.spec.model_dump(mode="json", by_alias=True, exclude_unset=True)}
    seen = replace(at_rest(), group=group(**{**spec, "persistentVolumeClaimRetentionPolicy": policy}))
    hold = plan(announced(seen)).hold
    assert hold is not None
    assert hold.reason is Reason.VOLUME_CLAIMS_FIXED
    assert ("whenScaled to Retain, or their data goes" in hold.message) is (when_scaled == "Delete")
