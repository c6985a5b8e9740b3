"""What follows from a world's fields, the memory's way to the API server and back, small pieces of sentences."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any, Final

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from slackwater.api.consumer_group import Membership
from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.timestamps import moment, timestamp
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.behind import behind
from slackwater.core.world.broker import Bounds
from slackwater.core.world.claimed import Claimed, Outranked
from slackwater.core.world.handover import Begun, Handover, Held
from slackwater.core.world.inherited import Pin
from slackwater.core.world.made_with import MadeWith
from slackwater.core.world.memory import (
    Canary,
    LastHolder,
    Release,
    RolloutMemory,
    RolloutPhase,
    Upgrade,
    read_memory,
    write_memory,
)
from slackwater.core.world.observation import Member, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.put_back import PutBack
from slackwater.core.world.refusal import Refusal
from slackwater.core.world.remaking import Remaking
from slackwater.core.world.settings import Setting
from slackwater.core.world.step import Step
from slackwater.core.world.took import Took, with_another
from slackwater.core.world.tuning import Tuning
from slackwater.core.world.turn import TurnRecord
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World
from tests.core.factories import NAME, NEW, changed, dynamic_member, group, member, observation, pod, workload, world

ALT = f"{NAME}-alt"


def test_ordinals_are_numbers_and_not_text() -> None:
    many = world(group=group(replicas=11), pods=tuple(pod(o) for o in (10, 2, 1, 11)))
    assert [p.ordinal for p in many.wanted_pods] == [1, 2, 10]


def test_outdated_pods_are_those_of_another_revision_that_are_wanted() -> None:
    mixed = world(pods=(pod(0), pod(1, NEW), pod(2), pod(3)))
    assert [p.ordinal for p in mixed.outdated] == [0, 2]
    assert changed(mixed, workload=None).outdated == ()


@pytest.mark.parametrize(
    ("phase", "target", "expected"),
    [
        pytest.param(RolloutPhase.PROGRESSING, "new", [0, 2], id="the StatefulSet has the version"),
        pytest.param(RolloutPhase.PROGRESSING, "third", [0, 1, 2], id="it has another one yet"),
        pytest.param(RolloutPhase.ROLLING_BACK, "third", [0, 2], id="it goes back"),
        pytest.param(RolloutPhase.COMPLETE, "third", [0, 2], id="at rest"),
    ],
)
def test_pods_are_behind_while_no_template_has_what_is_rolled_out(
    phase: RolloutPhase, target: str, expected: list[int]
) -> None:
    """They have the StatefulSet's newest revision, and that is of a version before."""
    memory = RolloutMemory(phase=phase, target_hash=target)
    there = world(pods=(pod(0), pod(1, NEW), pod(2)), memory=memory, workload=workload(template_hash="new"))
    assert [p.ordinal for p in behind(there)] == expected


def test_pods_are_behind_while_the_controller_has_yet_to_read_their_version() -> None:
    """The newest revision is that of the version before until then: whoever counts by it finds all pods updated."""
    pods = tuple(replace(pod(ordinal), template_hash=NEW if ordinal == 2 else "old") for ordinal in range(3))
    memory = RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash=NEW)
    there = world(pods=pods, memory=memory, workload=workload(template_hash=NEW, update_revision=pod(0).revision))
    assert [p.ordinal for p in behind(there)] == []
    back = RolloutMemory(phase=RolloutPhase.ROLLING_BACK, target_hash=NEW, last_good_hash="old")
    assert [p.ordinal for p in behind(changed(there, memory=back))] == [2]
    unread = replace(there.sets[0], generation=there.sets[0].generation + 1)
    assert [p.ordinal for p in behind(changed(there, workload=unread))] == [0, 1]


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ((), (None, True, 0)),
        ((workload(),), (NAME, True, 3)),
        ((workload(generation=3),), (NAME, False, 3)),
        ((workload(start=2, replicas=2),), (NAME, True, 4)),
        ((workload(start=1, replicas=2), workload(name=ALT, replicas=1, created_at=5.0)), (NAME, True, 3)),
        ((workload(), workload(name=ALT, replicas=0, created_at=5.0, template_hash="new")), (ALT, True, 3)),
        ((workload(), workload(name=ALT, replicas=0, created_at=5.0, generation=9)), (NAME, False, 3)),
    ],
)
def test_what_the_stateful_sets_say_together(
    sets: tuple[Workload, ...], expected: tuple[str | None, bool, int]
) -> None:
    """Where the pods are to be, whether the controller has read the last changes, how many ordinals there are."""
    given = world(sets=sets, memory=RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash="new"))
    name = given.workload.name if given.workload is not None else None
    assert (name, given.settled, given.made) == expected


def test_nothing_is_made_up_of_two_stateful_sets() -> None:
    both = (workload(start=1, replicas=2, partition=1), workload(name=ALT, replicas=1, created_at=5.0))
    given = world(sets=both)
    assert given.workload in both
    assert given.beside is not None
    assert given.beside.sets == both


@pytest.mark.parametrize(
    ("membership", "found"),
    [("Static", ["payments-1-a", "payments-1-b"]), ("Dynamic", ["consumer-7", "payments-1-a"])],
)
def test_a_pod_s_members_are_known_by_id_or_by_address(membership: str, found: list[str]) -> None:
    elsewhere = member(1, "b", instance_id="payments-1-1", host="/10.7.7.7")
    here = dynamic_member(7, host="/10.0.0.1")
    given = world(group=group(membership=membership), kafka=observation((member(0), member(1), elsewhere, here)))
    assert sorted(each.member_id for each in given.members_of(pod(1))) == found


def test_a_pod_without_an_address_has_no_dynamic_member() -> None:
    given = world(group=group(membership="Dynamic"), kafka=observation((dynamic_member(0, host=""),)))
    assert given.members_of(pod(0, address="")) == ()


@pytest.mark.parametrize(("template_hash", "members_per_pod"), [("known", 2), ("newest", 3), ("", 3), ("forgotten", 1)])
def test_what_a_pod_was_made_with(template_hash: str, members_per_pod: int) -> None:
    """Of an older version that was forgotten with the status, today's spec says nothing."""
    memory = RolloutMemory(target_hash="newest", made_with={"known": MadeWith(Membership.STATIC, 2, "consumer")})
    given = world(group=group(membersPerPod=3), memory=memory)
    assert given.made_with(pod(0, template_hash=template_hash)).members_per_pod == members_per_pod


@pytest.mark.parametrize(
    ("listed", "membership"), [((member(0),), Membership.STATIC), ((member(1),), Membership.DYNAMIC)]
)
def test_what_was_forgotten_is_static_where_the_group_lists_its_ordinal(
    listed: tuple[Member, ...], membership: Membership
) -> None:
    """Today's spec says Dynamic: a pod that works under its instance id is not out of the group for that."""
    memory = RolloutMemory(target_hash="newest")
    given = world(group=group(membership="Dynamic"), memory=memory, kafka=observation(listed))
    assert given.made_with(pod(0, template_hash="forgotten")).membership is membership
    assert given.made_with(pod(0, template_hash="newest")).membership is Membership.DYNAMIC


def test_where_kafka_could_not_be_asked_nobody_is_seen() -> None:
    given = world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no answer", 1.0))
    assert (given.seen, given.members, given.members_of(pod(0))) == (None, (), ())
    assert given.ordinal_of("payments-2") == 2


def test_what_is_remembered_by_instance_id_is_found_by_ordinal() -> None:
    memory = RolloutMemory(released={"payments-1-0": Release("a", 1.0), "payments-10": Release("b", 1.0)})
    given = world(memory=memory)
    assert list(given.released_at(1)) == ["payments-1-0"]
    assert not given.released_at(0)
    assert not given.remembering(RolloutMemory()).released_at(1)


def test_a_function_of_a_pod_is_asked_once_for_each_world_and_pod() -> None:
    asked: list[str] = []

    def name(given: World, of: Pod) -> str:
        asked.append(of.name)
        return of.name

    given, one = world(), pod(0)
    assert [given.once_of(name, each) for each in (one, one, pod(1), replace(one, name="x"))] == [
        one.name,
        one.name,
        "payments-1",
        "x",
    ]
    assert replace(given, now=given.now + 1).once_of(name, one) == one.name
    assert asked == [one.name, "payments-1", "x", one.name]


def test_a_function_of_a_world_is_asked_once_for_each() -> None:
    asked = []

    def count(of: World) -> int:
        asked.append(of)
        return len(asked)

    given = world()
    other = given.remembering(replace(given.memory, protocol=Profile.CONSUMER))
    assert (given.once(count), given.once(count), given.remembering(given.memory).once(count)) == (1, 1, 1)
    assert other.once(count) == 2


MOMENTS = st.floats(1e9, 4e9).map(lambda value: moment(timestamp(value)))
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
FLOATS = st.floats(0.0, 1e6)
HALTED = st.lists(WORDS, max_size=2).map(tuple)
STEPS = st.builds(
    Step,
    st.integers(0, 99),
    MOMENTS,
    st.dictionaries(WORDS, WORDS, max_size=2),
    st.booleans(),
    st.dictionaries(WORDS, WORDS, max_size=2),
    HALTED,
    uid_before=WORDS,
)
CANARIES = st.builds(
    Canary,
    st.integers(0, 15),
    MOMENTS,
    st.booleans(),
    st.none() | st.integers(1, 20),
    st.booleans(),
    st.integers(0, 9),
)
UPGRADES = st.builds(
    Upgrade,
    st.sampled_from(Profile),
    st.sampled_from(StrategyName),
    st.lists(st.sampled_from(Profile), min_size=1, max_size=3).map(tuple),
    st.integers(1, 3),
    st.booleans(),
    st.none() | MOMENTS,
)
REFUSALS = st.builds(
    Refusal,
    MOMENTS,
    st.integers(1, 9),
    st.booleans(),
    WORDS,
    st.none() | MOMENTS,
    st.integers(0, 9),
    st.dictionaries(WORDS, WORDS, max_size=2),
)
VALUES = st.dictionaries(st.sampled_from(Setting), st.integers(1, 10**7), max_size=2)
TUNINGS = st.builds(
    Tuning,
    values=VALUES,
    as_of=st.none() | MOMENTS,
    came_from=VALUES,
    turned=st.lists(st.sampled_from(Setting), max_size=2).map(tuple),
    queued=VALUES,
    queued_as_of=st.none() | MOMENTS,
    good=VALUES,
    failed_as_of=st.none() | MOMENTS,
)
PUT_BACKS = st.builds(
    PutBack, st.integers(1, 5), st.integers(1, 99), MOMENTS, st.integers(1, 9), st.integers(0, 9), WORDS
)
HANDOVERS = st.builds(
    Handover,
    st.integers(0, 99),
    WORDS,
    MOMENTS,
    st.just(Begun(Held())),
    fenced=st.integers(0, 9),
    not_come=st.integers(0, 3),
)
"""Its states have tests of their own, in `test_handover_wire`."""
REMEMBERED: Final[dict[str, st.SearchStrategy[Any]]] = {
    "phase": st.sampled_from(RolloutPhase),
    "target_hash": WORDS,
    "last_good_revision": WORDS,
    "last_good_hash": WORDS,
    "failed_hash": WORDS,
    "target_given": WORDS,
    "started_at": st.none() | MOMENTS,
    "retried_at": st.none() | MOMENTS,
    "made_with": st.dictionaries(
        WORDS, st.builds(MadeWith, st.sampled_from(Membership), st.integers(1, 99), WORDS), max_size=2
    ),
    "restart": WORDS,
    "restart_refused": WORDS,
    "revisions": st.dictionaries(WORDS, WORDS, max_size=2),
    "forced_hash": WORDS,
    "onwards_hash": WORDS,
    "given_up_before": WORDS,
    "lag_before": st.none() | st.integers(0, 10**9),
    "read_before": WORDS,
    "read_by_each": st.none() | st.lists(WORDS, max_size=2).map(tuple),
    "session_timeout_ms": st.integers(0, 10**7),
    "replicas": st.none() | st.integers(0, 99),
    "protocol": st.sampled_from(Profile),
    "upgrade": st.none() | UPGRADES,
    "ids_given": st.integers(0, 99),
    "never_ran": st.booleans(),
    "seen_in": st.none() | WORDS,
    "tells_addresses": st.booleans(),
    "stood_still": st.booleans(),
    "session_bounds": st.none() | st.builds(Bounds, st.integers(0, 10**6), st.integers(0, 10**6)),
    "group_settings": st.dictionaries(WORDS, WORDS, max_size=2),
    "released": st.dictionaries(WORDS, st.builds(Release, WORDS, MOMENTS, st.booleans()), max_size=2),
    "holders": st.dictionaries(WORDS, st.builds(LastHolder, WORDS, MOMENTS), max_size=2),
    "refused": st.dictionaries(WORDS, REFUSALS, max_size=2),
    "grown": st.dictionaries(WORDS, st.integers(0, 99), max_size=2),
    "removed": st.dictionaries(WORDS, WORDS, max_size=2),
    "ended_since": st.none() | MOMENTS,
    "claimed": st.none() | st.builds(Claimed, WORDS, MOMENTS),
    "outranked": st.none() | st.builds(Outranked, st.none() | MOMENTS),
    "tuning": TUNINGS,
    "inherited": st.dictionaries(
        st.sampled_from(PinnedField), st.builds(Pin, st.booleans() | st.integers(1, 9) | WORDS, WORDS), max_size=2
    ),
    "step": st.none() | STEPS,
    "handover": st.none() | HANDOVERS,
    "canary": st.none() | CANARIES,
    "put_back": st.none() | PUT_BACKS,
    "remaking": st.none() | st.builds(Remaking, WORDS, MOMENTS, WORDS, st.dictionaries(WORDS, WORDS, max_size=2)),
    "turn": st.none()
    | st.builds(
        TurnRecord,
        st.sampled_from(MoveReason),
        MOMENTS,
        st.none() | MOMENTS,
        st.none() | MOMENTS,
        WORDS,
        st.none() | st.integers(0, 9),
        WORDS,
        st.integers(0, 9),
        st.booleans(),
    ),
    "took": st.none()
    | st.builds(
        with_another,
        st.none() | st.builds(Took, st.integers(1, 9), FLOATS, FLOATS, st.lists(FLOATS, max_size=5).map(tuple)),
        st.integers(1, 99),
        FLOATS,
    ),
    "message": WORDS,
    "commands": st.dictionaries(WORDS, WORDS, max_size=2),
}
MEMORIES = st.builds(RolloutMemory, **REMEMBERED)


@pytest.mark.parametrize("name", [each.name for each in fields(RolloutMemory)])
def test_every_field_of_the_memory_is_among_those_that_come_back(name: str) -> None:
    assert name in REMEMBERED, "what may be remembered in it?"
    any_will_do = settings(phases=(Phase.generate,))
    find(REMEMBERED[name], lambda value: value != getattr(RolloutMemory(), name), settings=any_will_do)


@given(MEMORIES)
def test_memory_comes_back_as_it_was_written(memory: RolloutMemory) -> None:
    status = json.loads(json.dumps({"rollout": write_memory(memory), "commands": dict(memory.commands)}))
    assert read_memory(status) == memory


def test_memory_of_an_object_that_was_never_worked_on() -> None:
    assert read_memory({}) == RolloutMemory()
    assert read_memory({"rollout": {"phase": "Complete", "fromTheFuture": 1}}).phase is RolloutPhase.COMPLETE


@pytest.mark.parametrize(("ordinal", "name"), [(0, f"{NAME}-alt-0"), (2, f"{NAME}-2")])
def test_a_pod_that_is_missing_is_called_as_its_statefulset_makes_it(ordinal: int, name: str) -> None:
    """In a warm rollout each of the two has its own ordinals."""
    sets = (workload(start=1, replicas=2), workload(name=f"{NAME}-alt", replicas=1))
    assert replace(world(pods=()), sets=sets).pod_name(ordinal) == name
