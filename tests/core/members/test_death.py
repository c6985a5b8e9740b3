"""Which processes are known to be dead, and who is remembered to have held an id."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.api.consumer_group import Membership
from slackwater.core.decision.reasons import Reason
from slackwater.core.members.death import find_outlived, has_ended, known_holders, there_by, time_to_join
from slackwater.core.world.made_with import MadeWith
from slackwater.core.world.memory import LastHolder, RolloutMemory
from slackwater.core.world.observation import GroupObservation, GroupState, Member, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import NEW, NOW, changed, dynamic_member, folded, group, member, observation, pod, world
from tests.core.members.scenes import AT_REST, EPOCH, GONE, NEWLY_WATCHED, held, modern, restarted, scene

FIRST = "payments-1-a"
JUST_JOINED = folded(modern(at=NOW - 9), modern(member(1, "b", epoch=EPOCH), at=NOW - 5))
AHEAD = restarted(ago_s=2, told_running_at=NOW - 8)
"""Its node's clock is 6 s ahead: a watch saw the container run when it had just started."""
ENDED: list[tuple[str, World, bool]] = [
    ("it works", scene(), False),
    ("its container started again", scene(restarted()), True),
    ("its container has ended", scene(pod(1, NEW, started_at=None, ended_at=NOW - 1)), True),
    ("its pod was made again", scene(pod(1, NEW, created_at=NOW - 3, started_at=None)), True),
    ("its pod is to be made", changed(scene(), pods=(pod(0, NEW), pod(2, NEW))), False),
    ("nobody knows by when it was there", scene(restarted(), **NEWLY_WATCHED), False),
    ("the memory knows", scene(restarted(), **NEWLY_WATCHED, memory=held(1, NOW - 60)), True),
    ("the memory knows another one", scene(restarted(), **NEWLY_WATCHED, memory=held(1, NOW - 60, "z")), False),
    ("it joined while the container started", scene(restarted(), history=JUST_JOINED), False),
    ("within the clocks' margin", scene(restarted(), **NEWLY_WATCHED, memory=held(1, NOW - 6)), False),
    ("beyond it", scene(restarted(), **NEWLY_WATCHED, memory=held(1, NOW - 6.1)), True),
    ("the kubelet's clock is ahead by the margin", scene(restarted(ago_s=-2)), True),
    ("by more", scene(restarted(ago_s=-2.1)), False),
    ("by more, whenever a watch saw it run", scene(restarted(ago_s=-2.1, told_running_at=NOW - 1)), False),
    ("a watch saw it run before it joined", scene(AHEAD, **NEWLY_WATCHED, memory=held(1, NOW - 6)), False),
    ("and long after", scene(AHEAD, **NEWLY_WATCHED, memory=held(1, NOW - 11)), True),
]


@pytest.mark.parametrize(("given", "ended"), [row[1:] for row in ENDED], ids=[row[0] for row in ENDED])
def test_whose_process_has_ended(given: World, ended: bool) -> None:
    assert has_ended(given, member(1, epoch=EPOCH)) is ended


def one_of(made: MadeWith) -> RolloutMemory:
    return RolloutMemory(made_with={"v2": made})


def thread(number: int, of: str) -> Member:
    return member(1, of, instance_id=f"payments-1-{number}")


FEWER, DYNAMIC = MadeWith(Membership.STATIC, 1, "consumer"), MadeWith(Membership.DYNAMIC, 1, "consumer")
MADE_AGAIN = pod(1, NEW, created_at=NOW - 6, started_at=NOW - 5, template_hash="v2")
THREADS = (thread(0, "a"), thread(1, "a"))
OUTLIVED: list[tuple[str, MadeWith, tuple[Member, ...], tuple[Pod, ...], list[str]]] = [
    ("one thread fewer", FEWER, (thread(0, "b"), thread(1, "a")), (), ["payments-1-1"]),
    ("its only member is yet to come", FEWER, THREADS, (), []),
    ("its only member, which has come", FEWER, (thread(0, "b"),), (), []),
    ("its only member, which is the dead one", FEWER, (thread(0, "a"),), (), []),
    ("dynamic by now", DYNAMIC, (*THREADS, dynamic_member(1)), (), ["payments-1-0", "payments-1-1"]),
    ("dynamic by now, and yet to come", DYNAMIC, THREADS, (), []),
    ("another pod has the ordinal, too", FEWER, (thread(0, "b"), thread(1, "a")), (pod(1, uid="other"),), []),
]


@pytest.mark.parametrize(
    ("made", "there", "others", "expected"), [row[1:] for row in OUTLIVED], ids=[row[0] for row in OUTLIVED]
)
def test_who_has_outlived_the_version_that_needed_it(
    made: MadeWith, there: tuple[Member, ...], others: tuple[Pod, ...], expected: list[str]
) -> None:
    looks = [observation(THREADS, at=NOW - 60), observation(THREADS, at=NOW - 50), observation(there)]
    given = world(kafka=looks[-1], history=folded(*looks), memory=one_of(made), pods=(MADE_AGAIN, *others))
    assert [found.instance_id for found in find_outlived(given, looks[-1])] == expected


def test_of_members_without_an_id_of_ours_nothing_is_known() -> None:
    assert not has_ended(scene(restarted()), dynamic_member(1))
    assert not has_ended(scene(restarted()), member(7))


def test_the_earlier_of_what_is_watched_and_what_is_remembered_counts() -> None:
    watched = scene()
    assert there_by(watched, "payments-1", FIRST) == NOW - 3590
    assert there_by(replace(watched, memory=held(1, NOW - 5000)), "payments-1", FIRST) == NOW - 5000
    assert there_by(replace(watched, memory=held(1, NOW - 60)), "payments-1", FIRST) == NOW - 3590
    assert there_by(replace(watched, memory=held(1, NOW - 60, "z")), "payments-1", "payments-1-z") == NOW - 60
    assert there_by(watched, "payments-1", "payments-1-z") is None


LEFT = modern(member(1, epoch=-2), at=NOW - 30, state=GroupState.RECONCILING)


@pytest.mark.parametrize("look", [LEFT, replace(GONE, observed_at=NOW - 30)], ids=["away", "gone"])
def test_a_member_that_is_back_counts_from_its_return(look: GroupObservation) -> None:
    """Whatever is remembered of the time before: a process that joins lives, and may die after that."""
    back = folded(modern(at=NOW - 60), modern(at=NOW - 50), look, modern(at=NOW - 20))
    twice = scene(history=back, memory=held(1, NOW - 60), kafka=modern(at=NOW - 10))
    assert there_by(twice, "payments-1", FIRST) == NOW - 10
    assert known_holders(twice)["payments-1"].there_by == NOW - 10
    once = replace(twice, history=back, memory=held(1, NOW - 60))
    assert there_by(once, "payments-1", FIRST) is None
    assert known_holders(once)["payments-1"].there_by == NOW - 60
    assert there_by(replace(twice, memory=held(1, NOW - 25)), "payments-1", FIRST) == NOW - 25
    assert there_by(replace(twice, memory=held(1, NOW - 60, "z")), "payments-1", "payments-1-z") == NOW - 60


def test_one_that_is_away_was_there_before() -> None:
    """Else its successor would not be known to have been refused."""
    away = scene(history=folded(modern(at=NOW - 60), modern(at=NOW - 50)), kafka=replace(LEFT, observed_at=NOW))
    assert there_by(away, "payments-1", FIRST) == NOW - 50


def test_how_long_the_last_run_took_to_join() -> None:
    assert time_to_join(scene(), restarted(took_s=20), "payments-1", FIRST) == 20
    assert time_to_join(scene(), restarted(took_s=0), "payments-1", FIRST) == 0
    assert time_to_join(scene(), restarted(took_s=-1), "payments-1", FIRST) is None  # a member of an earlier run
    assert time_to_join(scene(), pod(1), "payments-1", FIRST) is None


def test_a_member_seen_in_one_look_may_have_come_while_that_was_under_way() -> None:
    """A slow look began before the container started, and was answered after its consumer had joined."""
    slow = modern(member(1, "b", epoch=EPOCH), at=NOW - 30)
    once = scene(restarted(ago_s=25), history=folded(modern(at=NOW - 40), slow), kafka=slow)
    assert not has_ended(once, slow.members[1])


def test_holders_are_remembered_while_they_can_matter() -> None:
    assert {k: (each.member_id, each.there_by) for k, each in known_holders(scene()).items()} == {
        f"payments-{o}": (f"payments-{o}-a", NOW - 3590) for o in range(3)
    }
    assert known_holders(scene(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW), memory=held(1, 5.0))).keys() == {
        "payments-1"
    }
    fewer = scene(group=group(replicas=1))
    assert len(known_holders(fewer)) == 3, "their pods are there as long as the StatefulSet has them"
    assert known_holders(replace(fewer, sets=(replace(AT_REST, replicas=1),))).keys() == {"payments-0"}
    assert known_holders(scene(kafka=observation(), memory=held(1, 5.0))) == {}
    once = scene(kafka=modern(member(1, "b", epoch=EPOCH)), memory=held(1, 5.0))
    assert known_holders(once)["payments-1"].member_id == "payments-1-a"


def test_who_is_there_longer_than_a_dead_one_could_be_is_its_pod_s_process() -> None:
    """For each run of the container: a dead one is listed for a session, and longer under a new coordinator."""
    known = LastHolder(FIRST, NOW - 3590)
    lately = scene(restarted(ago_s=68))

    def stayed(found: World, before: LastHolder = known) -> float | None:
        return known_holders(replace(found, memory=RolloutMemory(holders={"payments-1": before})))["payments-1"].stayed

    assert stayed(lately) == NOW
    assert stayed(scene(restarted(ago_s=65))) is None
    assert stayed(replace(lately, history=replace(lately.history, disturbed=(NOW - 20, NOW - 10)))) is None
    assert stayed(replace(lately, kafka=LEFT)) is None
    earlier = replace(known, stayed=NOW - 300)
    assert stayed(scene(restarted(ago_s=400)), earlier) == NOW - 300, "once for each run"
    assert stayed(lately, earlier) == NOW, "that was the run before"


def test_on_the_way_back_to_classic_only_those_kept_out_are_remembered() -> None:
    """Pod 1 is of KIP-848 and no member of the classic group; pod 0 is one, and pod 2 is classic."""
    pods = (pod(0, protocol=Profile.CONSUMER), pod(1, protocol=Profile.CONSUMER), pod(2, protocol=Profile.EAGER))
    memory = RolloutMemory(holders={f"payments-{o}": LastHolder(f"payments-{o}-a", NOW - 60) for o in range(3)})
    classic = scene(*pods, kafka=observation((member(0),)), memory=memory)
    assert known_holders(replace(classic, memory=memory)).keys() == {"payments-1"}
    empty = replace(classic, memory=memory, kafka=observation(()))
    assert known_holders(empty) == memory.holders
