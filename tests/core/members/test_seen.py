"""Was a pod of ours ever seen in the group, in the Kafka in which it is now?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.acts import (
    AlterGroupSettings,
    Cause,
    DeleteGroup,
    DeletePod,
    ReleaseMembers,
    RemoveMembers,
)
from slackwater.core.members.seen import may_be_done, seen_in, was_in_it
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.world import World
from tests.core.factories import NOW, changed, dynamic_member, folded, group, member, observation, pod, world

HERE = "KafkaConnection main in here"
NOWHERE = RolloutMemory(target_hash="abc", seen_in="")
ELSEWHERE = "10.9.9.9"


def given(*there: Any, address: str = "", memory: RolloutMemory = NOWHERE, **changes: Any) -> World:
    """Pod 0 alone, which started a hundred seconds ago, and who is in the group since the newest look."""
    started = pod(0, started_at=NOW - 100, address=address or "10.1.1.0", node_address="10.2.2.2")
    looks = (observation((), at=NOW - 95), observation(there, at=NOW))
    found = world(pods=(started,), kafka=looks[-1], history=folded(*looks))
    return replace(changed(found, **changes) if changes else found, memory=memory, cluster_id="here")


OURS, OTHERS = member(0, host="/10.1.1.0"), member(0, host=f"/{ELSEWHERE}")
OLDER = RolloutMemory(target_hash="abc")
TABLE: list[tuple[str, World, str | None]] = [
    ("it is at the pod's address", given(OURS), HERE),
    ("at its node's, soon after the start", given(member(0, host="/10.2.2.2")), HERE),
    ("a dynamic one at the pod's", given(dynamic_member(0, host="/10.1.1.0")), ""),
    ("elsewhere, and no pod's address is seen: it joined soon after the start", given(OTHERS), HERE),
    ("elsewhere, while another one is at the pod's", given(OTHERS, member(7, host="/10.1.1.0")), ""),
    ("nobody is in it", given(), ""),
    ("of one that was begun before this was noted", given(OTHERS, OURS, memory=OLDER), HERE),
    ("of one like that, where nobody is seen", given(memory=OLDER), None),
    ("nothing was begun", given(memory=RolloutMemory()), ""),
    ("it was seen there before", given(memory=replace(NOWHERE, seen_in=HERE)), HERE),
    (
        "it was seen in another Kafka",
        given(memory=replace(NOWHERE, seen_in="KafkaConnection main in x")),
        "KafkaConnection main in x",
    ),
]


@pytest.mark.parametrize(("seen", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_where_a_pod_of_ours_was_seen(seen: World, expected: str | None) -> None:
    assert seen_in(seen) == expected


def test_one_that_came_long_after_the_start_may_be_anybodys() -> None:
    """As where others restart who have the same ids; and one that was there at the first look."""
    late = given(OTHERS)
    early = changed(late, pods=(replace(late.pods[0], started_at=NOW - 1_000),))
    assert seen_in(early) == ""
    patient = {"rejoinTimeout": "999h"}
    assert seen_in(changed(early, group=group(rollout=patient))) == "", "what is soon is not the tenant's to say"
    again = changed(late, pods=(replace(late.pods[0], restarts=1),))
    assert seen_in(again) == "", "a container that ends again and again meets everybody's restart"
    first = observation((OTHERS,), at=NOW)
    assert seen_in(replace(late, kafka=first, history=folded(first))) == ""


def test_the_node_s_address_is_that_of_others_as_well() -> None:
    """Of pods behind address translation, and of those that have it themselves."""
    at_the_node = given(member(0, host="/10.2.2.2"))
    started = replace(at_the_node.pods[0], started_at=NOW - 1_000)
    assert seen_in(changed(at_the_node, pods=(started,))) == ""
    assert seen_in(changed(at_the_node, pods=(replace(started, address="10.2.2.2"),))) == ""


IN_KAFKA = (RemoveMembers((), ""), ReleaseMembers((), ""), DeleteGroup(), AlterGroupSettings({}))


def test_brokers_that_have_not_said_their_cluster_s_id_yet_change_nothing() -> None:
    early = replace(given(OURS, memory=replace(NOWHERE, seen_in=HERE)), cluster_id=None)
    assert seen_in(early) == HERE
    assert was_in_it(early)


@pytest.mark.parametrize("remembered", [None, "", HERE, "KafkaConnection main in x", "KafkaConnection another in here"])
def test_nothing_is_done_in_another_kafka(remembered: str | None) -> None:
    seen = given(memory=replace(NOWHERE, seen_in=remembered))
    ours = remembered in (None, HERE)
    assert was_in_it(seen) is ours
    assert [may_be_done(seen, act) for act in IN_KAFKA] == [ours] * 4
    assert may_be_done(seen, DeletePod("payments-0", "uid", 0, Cause.DOWN))
    assert may_be_done(seen, None)
