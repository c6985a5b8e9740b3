"""`member_restarted`: what is told of members that end, come back, stay away or are not to come back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.telemetry.bodies import MemberRestarted
from slackwater.api.telemetry.words import Outcome, RestartMode, RestartReason
from slackwater.core.telemetry.sight import PodEnd
from slackwater.core.world.handover import Begun, Handover, Held, TakenOver
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupType, Member
from slackwater.core.world.pods import Pod, Run
from tests.core.factories import NEW, NOW, dynamic_member, group, member, members, pod, tp
from tests.core.telemetry.stories import AT_REST, UNREACHABLE, Story, step

GONE = "uid-1"
"""The pod of ordinal 1 that the stories begin with."""


def crashed(at: float, **changes: Any) -> Pod:
    """Its container ended then, and does not run yet."""
    return pod(1, ready=False, ready_changed_at=NOW + at, started_at=None, ended_at=NOW + at, **changes)


def running(since: float, ready: float | None = None, **changes: Any) -> Pod:
    """Its container started again then."""
    at = NOW + ready if ready is not None else None
    return pod(1, started_at=NOW + since, ready=ready is not None, ready_changed_at=at, restarts=1, **changes)


def successor(made: float, started: float | None, ready: float | None = None, **changes: Any) -> Pod:
    """Another pod under the same name."""
    at = NOW + ready if ready is not None else None
    began = NOW + started if started is not None else None
    usual = pod(1, NEW, uid="uid-1b", created_at=NOW + made, started_at=began, ready_changed_at=at)
    return replace(usual, **{"ready": at is not None} | changes)


def two_each(*ordinals: int, incarnation: str = "a") -> list[Member]:
    """Two static members for each pod, with a partition each."""
    return [
        member(o, f"{incarnation}{n}", instance_id=f"payments-{o}-{n}", assignment=frozenset({tp(2 * o + n)}))
        for o in ordinals
        for n in (0, 1)
    ]


def crash_and_return(story: Story, *, back: Member | None = None) -> None:
    story.look(0)
    story.look(10, pods=story.replaced(1, crashed(10)))
    story.look(12, pods=story.replaced(1, running(12, ended_at=NOW + 10)))
    story.members = (member(0), back or member(1, "b"), member(2))
    story.look(15, pods=story.replaced(1, running(12, ready=14, ended_at=NOW + 10)))


def handing_over(after: Member | None = None) -> RolloutMemory:
    """The pod of ordinal 1 is being handed over, or has been to this member."""
    memory, old = step(1, 9, {"payments-1": member(1).member_id}), pod(1)
    before = Held({"payments-1": member(1).member_id}, Run(old.uid, None, 0))
    taken = TakenOver(Held({"payments-1": after.member_id}), before.ids) if after is not None else None
    return replace(memory, handover=Handover(1, "payments-alt", NOW + 9, taken or Begun(before)))


@pytest.mark.parametrize("start_s", [0.5, 30.0])
def test_a_handover_is_told_as_one_however_quickly_the_new_pod_starts(start_s: float) -> None:
    story = Story(group=group(rollout={"strategy": "WarmHandover"}))
    story.look(0)
    story.look(9.5 + start_s, memory=handing_over())
    story.members = (member(0), new := member(1, "b"), member(2))
    story.look(10 + start_s)  # who has taken the id over is decided after this look
    beside = successor(9, 10, 10.5, name="payments-alt-1")
    story.look(10.2 + start_s, pods=story.replaced(1, beside), memory=handing_over(new))
    (told,) = story.restarts
    assert (told.outcome, told.reason, told.mode) == (
        Outcome.RETURNED,
        RestartReason.ROLLOUT,
        RestartMode.WARM_HANDOVER,
    )
    assert times(told)["rejoined"] == 10 + start_s
    assert times(told)["last_seen"] >= times(told)["rejoined"]


def times(told: MemberRestarted) -> dict[str, float]:
    found = {name: getattr(told, f"{name}_at") for name in ("last_seen", "stopped", "started", "ready", "rejoined")}
    return {name: at - NOW for name, at in found.items() if at is not None}


def test_a_crash_is_told_when_it_is_seen_and_when_it_is_over() -> None:
    story = Story()
    crash_and_return(story)
    away, back = story.restarts
    assert (away.outcome, back.outcome) == (Outcome.AWAY, Outcome.RETURNED)
    assert away.episode == back.episode
    assert (back.reason, back.mode, back.instance_id) == (RestartReason.CRASH, RestartMode.IN_PLACE, "payments-1")
    assert (back.pod, back.ordinal, back.partitions, back.evicted) == ("payments-1", 1, 2, False)
    assert times(away) == {"last_seen": 10, "stopped": 10}
    assert times(back) == {"last_seen": 10, "stopped": 10, "started": 12, "ready": 14, "rejoined": 15}


def test_nothing_is_told_of_members_that_just_work() -> None:
    story = Story()
    for at in range(5):
        story.look(at)
    assert story.restarts == []


def test_members_that_come_for_the_first_time_have_not_restarted() -> None:
    story = Story(members=(), pods=())
    story.look(0)
    story.look(1, pods=tuple(pod(o, created_at=NOW, started_at=NOW + 1, ready=False) for o in range(3)))
    story.members = members(0, 1, 2)
    story.look(5, pods=tuple(pod(o, created_at=NOW, started_at=NOW + 1, ready_changed_at=NOW + 4) for o in range(3)))
    assert story.restarts == []


def test_a_first_member_in_kafka_before_its_process_in_the_cluster_has_not_restarted() -> None:
    """Its node reports later that it runs; seen on a loaded machine as an absence of an unknown reason."""
    pods = tuple(replace(pod(ordinal), created_at=NOW, started_at=None, ready=False) for ordinal in range(3))
    story = Story(members=(), pods=pods)
    story.look(0)
    story.members = members(0, 1, 2)
    story.look(1)
    story.look(3, pods=tuple(replace(each, started_at=NOW + 1, ready=True) for each in pods))
    assert story.restarts == []


def test_a_member_may_be_back_before_its_pod_is_ready() -> None:
    story = Story()
    story.look(0)
    story.look(10, pods=story.replaced(1, crashed(10)))
    story.members = (member(0), member(1, "b"), member(2))
    story.look(12, pods=story.replaced(1, running(11)))
    story.look(20, pods=story.replaced(1, running(11, ready=19)))
    story.look(21)
    away, back, ready = story.restarts
    assert (times(away), back.ready_at, times(ready)["ready"]) == ({"last_seen": 10, "stopped": 10}, None, 19)
    assert ready == back.model_copy(update={"ready_at": NOW + 19})


def test_a_restart_that_falls_between_two_looks_is_told_whole() -> None:
    story = Story()
    story.look(0)
    story.members = (member(0), member(1, "b"), member(2))
    story.look(10, pods=story.replaced(1, running(5, ready=8, ended_at=NOW + 3)))
    (back,) = story.restarts
    assert times(back) == {"last_seen": 3, "stopped": 3, "started": 5, "ready": 8, "rejoined": 10}


def test_a_successor_in_kafka_before_its_process_in_the_cluster_is_not_taken_for_who_ended() -> None:
    """The kubelet tells late."""
    prompt, late = Story(), Story()
    crash_and_return(prompt)
    late.look(0)
    late.members = (member(0), member(1, "b"), member(2))
    late.look(15)
    late.look(16, pods=late.replaced(1, running(12, ready=14, ended_at=NOW + 10)))
    assert [told.episode for told in late.restarts] == [prompt.restarts[0].episode]
    assert times(late.restarts[0])["rejoined"] == 15


def test_a_rollout_s_restart_is_last_seen_when_the_cluster_says_that_its_container_ended() -> None:
    story = Story()
    story.look(0)
    story.look(1, memory=step(1, 1, {"payments-1": "payments-1-a"}))
    story.look(2, pods=story.replaced(1, pod(1, terminating=True)))
    story.ends[GONE] = PodEnd(NOW + 4)
    story.look(5, pods=story.replaced(1, None))
    story.look(8, pods=story.replaced(1, successor(5, 7)))
    story.members = (member(0), member(1, "b"), member(2))
    story.look(9, pods=story.replaced(1, successor(5, 7, ready=8)))
    assert [told.reason for told in story.restarts] == [RestartReason.ROLLOUT] * 2
    assert times(story.restarts[-1]) == {"last_seen": 4, "stopped": 4, "started": 7, "ready": 8, "rejoined": 9}


def test_what_nobody_tells_is_null_and_the_last_look_at_which_it_ran_counts() -> None:
    story = Story()
    story.look(0)
    story.look(2, pods=story.replaced(1, pod(1, terminating=True)))
    story.look(3, pods=story.replaced(1, successor(3, None)))
    assert times(story.restarts[0]) == {"last_seen": 2}


def test_an_end_that_is_told_late_still_counts() -> None:
    story = Story()
    story.look(0)
    story.look(2, pods=story.replaced(1, None))
    story.ends[GONE] = PodEnd(NOW + 1)
    story.members = (member(0), member(1, "b"), member(2))
    story.look(9, pods=story.replaced(1, successor(2, 3, ready=8)))
    assert times(story.restarts[0]) == {"last_seen": 0}
    assert times(story.restarts[1]) == {"last_seen": 1, "stopped": 1, "started": 3, "ready": 8, "rejoined": 9}


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ({"ends": PodEnd(NOW + 5, RestartReason.OUT_OF_MEMORY), "pod": crashed(5)}, RestartReason.OUT_OF_MEMORY),
        ({"ends": PodEnd(NOW + 5), "pod": crashed(5)}, RestartReason.CRASH),
        ({"ends": PodEnd(NOW + 5, RestartReason.EVICTED), "pod": crashed(5)}, RestartReason.EVICTED),
        ({"pod": crashed(5)}, RestartReason.CRASH),
        ({"ends": PodEnd(NOW + 5, RestartReason.EVICTED), "pod": None}, RestartReason.EVICTED),
        ({"ends": PodEnd(None, RestartReason.NODE_LOST), "pod": None}, RestartReason.NODE_LOST),
        ({"ends": PodEnd(NOW + 5), "pod": None}, RestartReason.DELETED),
        ({"pod": successor(5, None, revision="payments-old")}, RestartReason.DELETED),
        ({"pod": successor(5, None)}, RestartReason.ROLLOUT),
        ({"pod": crashed(5), "memory": step(2, 4, {"payments-2": "payments-2-a"})}, RestartReason.CRASH),
        ({"pod": crashed(5), "memory": step(1, -60, {"payments-1": "payments-1-0"})}, RestartReason.CRASH),
        ({"pod": None, "memory": step(1, 4)}, RestartReason.ROLLOUT),
        ({"pod": crashed(5, terminating=True), "memory": step(1, 4)}, RestartReason.ROLLOUT),
        ({"pod": crashed(5, terminating=True)}, RestartReason.DELETED),
    ],
)
def test_why_it_ended(what: dict[str, Any], expected: RestartReason) -> None:
    story = Story()
    story.look(0)
    if "ends" in what:
        story.ends[GONE] = what["ends"]
    story.look(6, pods=story.replaced(1, what["pod"]), memory=what.get("memory", AT_REST))
    assert [told.reason for told in story.restarts] == [expected]


def test_a_pod_that_is_gone_turns_out_to_have_been_replaced_by_a_rollout() -> None:
    story = Story()
    story.look(0)
    story.look(5, pods=story.replaced(1, None))
    story.members = (member(0), member(1, "b"), member(2))
    story.look(9, pods=story.replaced(1, successor(6, 7)))
    assert [told.reason for told in story.restarts] == [RestartReason.DELETED, RestartReason.ROLLOUT]


def test_a_member_that_stays_away_is_told_of_once_in_five_minutes() -> None:
    """So that of an operator that dies meanwhile it is known until when it was known to be away."""
    story = Story()
    story.look(0)
    for at in range(10, 700, 10):
        story.look(at, pods=story.replaced(1, crashed(10)))
    told = [event.at - NOW for event in story.events if event.type == "member_restarted"]
    assert told == [10, 200, 500]
    assert {restart.outcome for restart in story.restarts} == {Outcome.AWAY}


@pytest.mark.parametrize("others", [(0, 2), (0,)])
def test_a_static_member_that_the_group_gave_up_was_evicted(others: tuple[int, ...]) -> None:
    story = Story()
    story.look(0)
    story.look(10, pods=story.replaced(1, crashed(10)))
    story.members = members(*others)
    story.look(30)
    story.members = (*story.members, member(1, "b"))
    story.look(40, pods=story.replaced(1, running(35)))
    assert [told.evicted for told in story.restarts] == [None, True]


def test_whether_it_was_evicted_while_kafka_was_away_is_not_known() -> None:
    story = Story()
    story.look(0)
    story.look(10, pods=story.replaced(1, crashed(10)))
    story.look(30, kafka=UNREACHABLE)
    story.members = (member(0), member(1, "b"), member(2))
    story.look(40, pods=story.replaced(1, running(35)))
    assert story.restarts[-1].evicted is None
    assert story.restarts[-1].rejoined_at is None  # some time in half a minute


def test_a_dynamic_member_s_partitions_go_to_others_and_it_has_no_instance_id() -> None:
    dynamic = group(membership="Dynamic")
    ids = [dynamic_member(ordinal) for ordinal in range(3)]
    story = Story(members=ids, group=dynamic)
    story.look(0)
    story.members = (ids[0], replace(ids[2], assignment=ids[2].assignment | ids[1].assignment))
    story.look(10, pods=story.replaced(1, crashed(10)))
    back = replace(ids[1], member_id="consumer-1b", assignment=frozenset())
    story.members = (*story.members, back)
    story.look(15, pods=story.replaced(1, running(12)))
    (told, ready) = story.restarts
    assert (told.instance_id, told.mode, told.evicted) == (None, RestartMode.DYNAMIC, True)
    assert (ready.outcome, ready.rejoined_at) == (Outcome.RETURNED, NOW + 15)


def test_each_member_of_a_pod_has_an_episode_of_its_own() -> None:
    story = Story(members=two_each(0, 1, 2), group=group(membersPerPod=2))
    story.look(0)
    story.look(10, pods=story.replaced(1, crashed(10)))
    assert sorted(told.instance_id or "" for told in story.restarts) == ["payments-1-0", "payments-1-1"]
    assert {told.partitions for told in story.restarts} == {1}
    assert len({told.episode for told in story.restarts}) == 2


def test_a_pod_that_is_scaled_away_ends_for_good() -> None:
    story = Story()
    story.look(0)
    story.look(5, group=None, pods=story.replaced(2, pod(2, terminating=True)))
    story.world = replace(story.world, group=group(replicas=2))
    story.look(6, pods=story.replaced(2, None))
    story.look(400)
    (told,) = story.restarts
    assert (told.outcome, told.reason, told.ordinal) == (Outcome.SCALED_AWAY, RestartReason.SCALED_AWAY, 2)


def test_a_member_that_is_away_may_be_scaled_away() -> None:
    story = Story()
    story.look(0)
    story.look(5, pods=story.replaced(2, replace(crashed(5), ordinal=2, name="payments-2", uid="uid-2")))
    story.world = replace(story.world, group=group(replicas=2))
    story.look(60)
    assert [told.outcome for told in story.restarts] == [Outcome.AWAY, Outcome.SCALED_AWAY]
    assert [told.reason for told in story.restarts] == [RestartReason.CRASH] * 2


def test_an_operator_that_comes_in_the_middle_tells_the_rest_under_the_same_id() -> None:
    story = Story()
    crash_and_return(story)
    later = Story()
    later.look(11, pods=later.replaced(1, crashed(10)))
    later.members = (member(0), member(1, "b"), member(2))
    later.look(15, pods=later.replaced(1, running(12, ready=14)))
    away, back = later.restarts
    assert (away.episode, back.episode) == (story.restarts[0].episode,) * 2
    assert {event.id for event in later.events if event.type == "member_restarted"} == {
        event.id for event in story.events if event.type == "member_restarted"
    }
    assert times(back) == {"started": 12, "ready": 14, "rejoined": 15}
    assert back.evicted is None


def test_an_operator_that_comes_in_the_middle_of_a_rollout_s_step_knows_who_was_there_before() -> None:
    """Of a KIP-848 group: its member may be gone from the group while it is away."""
    memory = step(1, 1, {"payments-1": "payments-1-a"})
    watched, later = Story(), Story(memory=memory, members=members(0, 2))
    watched.look(0)
    watched.look(2, pods=watched.replaced(1, None), memory=memory)
    later.look(3, pods=later.replaced(1, successor(2, None)), group={"type": GroupType.CONSUMER})
    assert [told.episode for told in later.restarts] == [watched.restarts[0].episode]
    assert later.restarts[0].reason is RestartReason.ROLLOUT


def test_a_return_that_kafka_shows_before_the_cluster_shows_the_pod_is_told_once() -> None:
    memory = step(1, 1, {"payments-1": "payments-1-a"})
    story = Story(memory=memory)
    story.look(0)
    story.members = (member(0), member(1, "b"), member(2))
    story.look(5, pods=story.replaced(1, None))
    for at in (6, 7):
        story.look(at, pods=story.replaced(1, successor(2, 3, ready=5)))
    assert [told.outcome for told in story.restarts] == [Outcome.RETURNED]


def test_what_contradicts_itself_is_not_known() -> None:
    """A node's clock is an hour behind."""
    story = Story()
    story.look(0)
    story.look(5, pods=story.replaced(1, None))
    story.members = (member(0), member(1, "b"), member(2))
    story.look(9, pods=story.replaced(1, successor(6, -3600, ready=-3590)))
    assert times(story.restarts[-1]) == {"last_seen": 0, "rejoined": 9}


def test_a_member_whose_place_nobody_takes_any_more_is_not_told_of_for_ever() -> None:
    """Two members a pod before, one now."""
    story = Story(members=two_each(0, 1, 2), group=group(membersPerPod=2))
    story.look(0)
    story.look(10, pods=story.replaced(1, None))
    story.world = replace(story.world, group=group(membersPerPod=1))
    story.members = (*two_each(0), two_each(1, incarnation="b")[0], *two_each(2))
    for at in range(20, 1000, 10):
        story.look(at, pods=story.replaced(1, successor(11, 12, ready=13)))
    last = max(event.at for event in story.events if event.type == "member_restarted")
    assert last <= NOW + 20
