"""A StatefulSet that was deleted without its pods: its like takes them back, or they are in the way of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import Template, wanted_template
from slackwater.core.manifests.writes import shape
from slackwater.core.plan import plan
from slackwater.core.rollout import orphans
from slackwater.core.world.handover import Begun, Handover, Held, Over, TakenOver
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.world import World
from tests.core.factories import NOW, changed, fresh_pod, group, members, observation, workload, world


def without_a_set(*left: str) -> World:
    return replace(world(pods=(), memory=RolloutMemory(target_hash="known")), sets=(), orphans=frozenset(left))


@pytest.mark.parametrize(
    ("orphans", "name"),
    [
        ((), "payments"),
        (("payments-0", "payments-1", "payments-2"), "payments"),
        (("payments-alt-0", "payments-alt-1", "payments-alt-2"), "payments-alt"),
    ],
)
def test_one_of_their_name_is_made(orphans: tuple[str, ...], name: str) -> None:
    """After every second warm rollout that is the other name."""
    act = plan(without_a_set(*orphans)).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.name, act.replicas) == (Purpose.CREATE, name, 3)


def test_where_both_have_left_some_none_is_made() -> None:
    decided = plan(without_a_set("payments-alt-0", "payments-1", "payments-2"))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.ORPHANED_PODS
    assert decided.hold.message.endswith("and the others are taken back: kubectl delete pod -n default payments-alt-0")


def in_the_middle(*orphans: str, alt: dict[str, Any], **memory: Any) -> World:
    """Of a warm handover; the StatefulSet that was in use is gone."""
    newcomer = workload(name="payments-alt", **({"partition": 1, "template_hash": "new"} | alt))
    ordinals = newcomer.ordinals
    pods = tuple(fresh_pod(each, 60, name=f"payments-alt-{each}", workload="payments-alt") for each in ordinals)
    remembered = RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash="new", started_at=NOW - 100, **memory)
    loose = frozenset(int(each.rpartition("-")[2]) for each in orphans)
    return replace(world(pods=pods, memory=remembered), sets=(newcomer,), orphans=frozenset(orphans), loose=loose)


@pytest.mark.parametrize(
    ("orphans", "alt", "becomes"),
    [
        (("payments-1", "payments-2"), {"replicas": 1}, None),
        (("payments-2",), {"replicas": 1}, (0, 2)),
        (("payments-2",), {"replicas": 2}, None),
        (("payments-0", "payments-1"), {"start": 2, "replicas": 1}, None),
        (("payments-0",), {"start": 2, "replicas": 1}, (1, 2)),
        (("payments-2",), {"replicas": 1, "observed_generation": 1}, None),
    ],
)
def test_the_other_one_makes_none_beside_them(
    orphans: tuple[str, ...], alt: dict[str, Any], becomes: tuple[int, int] | None
) -> None:
    decided = plan(in_the_middle(*orphans, alt=alt))
    assert decided.hold is not None
    assert decided.hold.reason is Reason.ORPHANED_PODS
    act = decided.act
    assert (None if act is None else (act.start, act.replicas)) == becomes  # type: ignore[union-attr]


@pytest.mark.parametrize(("start", "first"), [(0, "payments-1"), (3, "payments-2")])
def test_who_is_to_go_first_is_next_to_those_that_are_made(start: int, first: str) -> None:
    decided = plan(in_the_middle("payments-1", "payments-2", alt={"start": start, "replicas": 1}))
    assert decided.hold is not None
    assert decided.hold.message.endswith(f"kubectl delete pod -n default {first}")


OTHER = Template("good", {"spec": {"containers": [{"image": "the last good one"}]}})
STOPPED = RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash="new", replicas=0)
FAILED_ONCE = replace(STOPPED, replicas=3, phase=RolloutPhase.FAILED)


@pytest.mark.parametrize(
    ("changes", "becomes", "advice"),
    [
        ({"memory": STOPPED}, (0, 0), "None of them is made again"),
        ({"memory": replace(STOPPED, replicas=1)}, None, "one after the other, as each is made again; first: "),
        (
            {"group": group(annotations={PAUSE: ""})},
            None,
            "Remove the annotation slackwater.dev/pause, and they may",
        ),
        ({"memory": FAILED_ONCE}, None, "has the version that failed: apply another one first"),
        (
            {"memory": replace(FAILED_ONCE, last_good_revision="payments-1a")},
            None,
            "has the version that failed: slackwater abort payments",
        ),
        (
            {"memory": replace(FAILED_ONCE, phase=RolloutPhase.ROLLING_BACK)},
            (0, 1),
            "one after the other, as each is made again; first: kubectl",
        ),
    ],
    ids=["it is stopped", "no more are wanted", "paused", "failed", "failed, and can go back", "going back"],
)
def test_where_nothing_may_move_none_is_made_and_what_is_stopped_stops(
    changes: dict[str, Any], becomes: tuple[int, int] | None, advice: str
) -> None:
    """`payments-2` is left of the pods of the StatefulSet that went; `payments-1` was deleted."""
    seen = changed(in_the_middle("payments-2", alt={"replicas": 1}), **changes)
    act = orphans.up_to_them(seen, OTHER)
    assert (None if act is None else (act.start, act.replicas)) == becomes
    hold = orphans.in_the_way(seen)
    assert hold is not None
    assert advice in hold.message


def test_the_next_one_is_named_once_the_one_before_is_back() -> None:
    seen = in_the_middle("payments-2", alt={"replicas": 2})
    asks = orphans.in_the_way(seen)
    assert asks is not None
    assert asks.message.endswith("first: kubectl delete pod -n default payments-2")
    starting = replace(seen.all_pods[1], ready=False)
    waits = orphans.in_the_way(replace(seen, all_pods=(seen.all_pods[0], starting)))
    assert waits is not None
    assert "Once payments-alt-1 is back in the group, they may go one after the other" in waits.message
    assert "kubectl" not in waits.message


def test_all_go_where_the_last_good_version_cannot_be_made_one_by_one() -> None:
    """Kubernetes counts the pods that keep their version from ordinal 0."""
    back = RolloutMemory(phase=RolloutPhase.ROLLING_BACK, target_hash="new", last_good_hash="good")
    seen = changed(in_the_middle("payments-0", "payments-1", alt={"start": 2, "replicas": 1}), memory=back)
    hold = orphans.in_the_way(seen)
    assert hold is not None
    assert "Delete them, and the last good version is made in their place: kubectl" in hold.message


def test_on_the_way_back_those_that_are_made_have_the_last_good_version() -> None:
    """They had the version that was given up for a moment, and were restarted all at once."""
    back = RolloutMemory(phase=RolloutPhase.ROLLING_BACK, target_hash="new", last_good_hash="good")
    seen = changed(in_the_middle("payments-1", "payments-2", alt={"replicas": 1}), memory=back)
    act = orphans.up_to_them(seen, OTHER)
    assert act is not None
    assert (act.template, act.replicas, act.partition, act.purpose) == (OTHER.body, 1, 1, Purpose.TAKE_TEMPLATE)
    taken = {"replicas": 1, "partition": 1, "template_hash": "good", "template": OTHER.body}
    seen = changed(in_the_middle("payments-2", alt=taken), memory=back)
    hold = orphans.in_the_way(seen)
    assert hold is not None
    assert "one after the other, as each is made again; first: kubectl" in hold.message
    act = orphans.up_to_them(seen, OTHER)
    assert act is not None
    assert (act.template, act.replicas, act.partition, act.purpose) == (OTHER.body, 2, 1, Purpose.SCALE)


def test_a_version_that_has_failed_is_given_up_beside_them() -> None:
    asked = wanted_template(world()).hash
    seen = in_the_middle("payments-1", "payments-2", alt={"replicas": 1, "template_hash": asked})
    stuck = replace(seen.all_pods[0], ready=False, started_at=None, waiting="InvalidImageName")
    decided = plan(replace(seen, all_pods=(stuck,)))
    assert decided.memory.phase is RolloutPhase.FAILED
    of_another = replace(seen.sets[0], template_hash="of another version")
    decided = plan(replace(seen, all_pods=(stuck,), sets=(of_another,)))
    assert decided.memory.phase is RolloutPhase.PROGRESSING


HELD = Held({"payments-1": "payments-1-a"})


@pytest.mark.parametrize(
    ("handover", "changes", "becomes"),
    [
        (Handover(1, "payments-alt", NOW - 50, Begun(HELD)), {}, (0, 1)),
        (Handover(1, "payments-alt", NOW - 50, Begun(replace(HELD, down=True))), {}, None),
        (Handover(1, "payments-alt", NOW - 50, TakenOver(HELD)), {}, None),
        (Handover(1, "payments", NOW - 50, TakenOver(HELD)), {}, (0, 1)),
        (Handover(1, "payments-alt", NOW - 50, Begun(Held({"payments-1": "another"}))), {}, None),
        (Handover(1, "payments-alt", NOW - 50, Begun(HELD)), {"kafka": observation(members(0, 2))}, None),
        (Handover(1, "payments", NOW - 50, Begun(HELD)), {}, None),
        (Handover(1, "payments-alt", NOW - 50, Over(Begun(HELD))), {}, None),
        (Handover(0, "payments-alt", NOW - 50, Begun(HELD)), {}, None),
        (Handover(1, "payments-alt", NOW - 50, Begun(HELD)), {"group": group(annotations={PAUSE: ""})}, None),
    ],
    ids=[
        "ours had not taken over",
        "but the orphan was down",
        "ours had taken over",
        "the orphan had taken over, on the way back",
        "the orphan has lost its id",
        "the orphan is gone from the group",
        "the orphan had not",
        "it was over",
        "it was of another ordinal, which has no orphan",
        "paused",
    ],
)
def test_of_two_pods_with_one_id_ours_gives_way_where_the_orphan_works(
    handover: Handover, changes: dict[str, Any], becomes: tuple[int, int] | None
) -> None:
    """Each fenced the other as long as both lived."""
    seen = changed(in_the_middle("payments-1", "payments-2", alt={"replicas": 2}, handover=handover), **changes)
    act = orphans.up_to_them(seen, OTHER)
    assert (None if act is None else (act.start, act.replicas)) == becomes


def test_with_the_last_of_them_the_rest_is_made() -> None:
    act = plan(in_the_middle(alt={"replicas": 1})).act
    assert isinstance(act, WriteWorkload)
    assert (act.name, act.replicas) == ("payments-alt", 3)


def test_pods_that_are_yet_to_be_taken_back_keep_what_they_have() -> None:
    """Their StatefulSet was made again a moment ago: on the way back none of them was counted as there."""
    names = frozenset(f"payments-{ordinal}" for ordinal in range(3))
    back = RolloutMemory(phase=RolloutPhase.ROLLING_BACK, target_hash="new", last_good_hash="good")
    seen = replace(world(pods=(), memory=back), orphans=names, loose=frozenset(range(3)))
    assert shape(seen, OTHER, Purpose.TAKE_TEMPLATE).partition == 3
    assert shape(replace(seen, orphans=frozenset({"payments-0"})), OTHER, Purpose.TAKE_TEMPLATE).partition == 1
