"""Whether an act that got no answer was carried out: only what shows it is a proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.annotations import TEMPLATE_HASH
from slackwater.core.decision.acts import (
    Act,
    AlterGroupSettings,
    Cause,
    DeleteGroup,
    DeletePod,
    DeleteWorkload,
    Purpose,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.done import was_carried_out
from slackwater.core.world.observation import refs
from slackwater.core.world.workload import UpdateStrategy
from slackwater.core.world.world import World
from tests.core.factories import NAME, member, pod, workload, world

WRITE: Final = WriteWorkload(
    purpose=Purpose.RESTART,
    template={"metadata": {"annotations": {TEMPLATE_HASH: "v2"}}},
    replicas=3,
    strategy=UpdateStrategy.ROLLING_UPDATE,
    partition=2,
    resource_version="7",
)
AS_WRITTEN: Final[dict[str, Any]] = {"template_hash": "v2", "partition": 2, "resource_version": "8"}
BEFORE: Final = world()
DELETE: Final = DeletePod(f"{NAME}-2", pod(2).uid, 2, Cause.DOWN)
DEAD: Final = refs([member(2)])


def with_set(**changes: Any) -> World:
    return world(workload=workload(**{**AS_WRITTEN, **changes}))


@pytest.mark.parametrize(
    ("seen", "done"),
    [
        (with_set(), True),
        (with_set(partition=3), False),
        (with_set(template_hash="v1"), False),
        (with_set(replicas=4), False),
        (with_set(start=1), False),
        (with_set(strategy=UpdateStrategy.ON_DELETE), False),
        (with_set(name=f"{NAME}-alt"), False),
        (world(workload=None), False),
    ],
)
def test_a_stateful_set(seen: World, done: bool) -> None:
    assert was_carried_out(BEFORE, seen, WRITE) is done


def test_the_second_stateful_set_is_looked_for_by_its_name() -> None:
    beside = replace(WRITE, name=f"{NAME}-alt")
    assert was_carried_out(BEFORE, with_set(name=f"{NAME}-alt"), beside)
    assert not was_carried_out(BEFORE, with_set(), beside)


@pytest.mark.parametrize(
    ("pods", "done"),
    [
        ((pod(0), pod(1)), True),
        ((pod(0), pod(1), pod(2, terminating=True)), True),
        ((pod(0), pod(1), pod(2, uid="another")), True),
        ((pod(0), pod(1), pod(2)), False),
    ],
)
def test_a_pod(pods: Any, done: bool) -> None:
    assert was_carried_out(BEFORE, world(pods=pods), DELETE) is done


def test_a_stateful_set_that_is_deleted() -> None:
    assert was_carried_out(BEFORE, world(workload=None), DeleteWorkload(NAME, "set-uid", ""))
    assert was_carried_out(BEFORE, with_set(uid="another"), DeleteWorkload(NAME, "set-uid", ""))
    assert not was_carried_out(BEFORE, with_set(), DeleteWorkload(NAME, "set-uid", ""))


def test_a_stateful_set_that_looked_so_before_is_no_proof() -> None:
    """Somebody has edited its template and left our annotation; its status moves its version."""
    assert not was_carried_out(with_set(), with_set(resource_version="9"), WRITE)


@pytest.mark.parametrize(
    "act", [AlterGroupSettings({}), DeleteGroup(), RemoveMembers(DEAD, ""), ReleaseMembers(DEAD, "")]
)
def test_of_what_does_not_show_nothing_is_said(act: Act) -> None:
    assert not was_carried_out(BEFORE, world(), act)
