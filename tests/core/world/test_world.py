"""Ordinals, the memory's way to the API server and back, small pieces of sentences."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.api.timestamps import moment, timestamp
from slackwater.core.world.broker import Bounds
from slackwater.core.world.identity import ordinal_of
from slackwater.core.world.memory import (
    Canary,
    Release,
    RolloutMemory,
    RolloutPhase,
    Step,
    Upgrade,
    read_memory,
    write_memory,
)
from slackwater.core.world.observation import GroupObservation, PartitionOffsets
from slackwater.core.world.profile import Profile, StrategyName
from tests.core.factories import NEW, changed, group, observation, pod, tp, world


@pytest.mark.parametrize(
    ("instance_id", "ordinal"),
    [
        ("payments-0", 0),
        ("payments-10", 10),
        ("payments-3-7", 3),
        ("payments-3-thread-1", None),
        ("payments-", None),
        ("payments-x", None),
        ("payments-03", None),
        ("payments--1", None),
        ("payments-²", None),
        ("refunds-1", None),
        ("payments", None),
        (None, None),
    ],
)
def test_ordinals(instance_id: str | None, ordinal: int | None) -> None:
    assert ordinal_of(instance_id, "payments") == ordinal


def test_ordinals_are_numbers_and_not_text() -> None:
    many = world(group=group(replicas=11), pods=tuple(pod(o) for o in (10, 2, 1, 11)))
    assert [p.ordinal for p in many.wanted_pods] == [1, 2, 10]


def test_outdated_pods_are_those_of_another_revision_that_are_wanted() -> None:
    mixed = world(pods=(pod(0), pod(1, NEW), pod(2), pod(3)))
    assert [p.ordinal for p in mixed.outdated] == [0, 2]
    assert changed(mixed, workload=None).outdated == ()


def test_lag_is_the_sum_over_all_partitions_and_unknown_when_any_end_is() -> None:
    def lag(**offsets: PartitionOffsets) -> int | None:
        seen: GroupObservation = observation(offsets={tp(int(k[1:])): v for k, v in offsets.items()})
        return replace(seen, partitions=frozenset({tp(0), tp(1)})).lag

    assert lag(p0=PartitionOffsets(5, 9), p1=PartitionOffsets(None, 10)) == 14
    assert lag(p0=PartitionOffsets(9, 5), p1=PartitionOffsets(10, 10)) == 0
    assert lag(p0=PartitionOffsets(5, None), p1=PartitionOffsets(10, 10)) is None
    assert lag(p0=PartitionOffsets(5, 9)) is None


MOMENTS = st.floats(1e9, 4e9).map(lambda value: moment(timestamp(value)))
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
STEPS = st.builds(Step, st.integers(0, 99), MOMENTS, st.dictionaries(WORDS, WORDS, max_size=2), st.booleans())
CANARIES = st.builds(Canary, st.integers(0, 15), MOMENTS, st.booleans())
UPGRADES = st.builds(
    Upgrade,
    st.sampled_from(Profile),
    st.sampled_from(StrategyName),
    st.lists(st.sampled_from(Profile), min_size=1, max_size=3).map(tuple),
    st.integers(1, 3),
    st.booleans(),
    st.none() | MOMENTS,
)
MEMORIES = st.builds(
    RolloutMemory,
    phase=st.sampled_from(RolloutPhase),
    target_hash=WORDS,
    last_good_revision=WORDS,
    failed_hash=WORDS,
    started_at=st.none() | MOMENTS,
    retried_at=st.none() | MOMENTS,
    lag_before=st.none() | st.integers(0, 10**9),
    session_timeout_ms=st.integers(0, 10**7),
    protocol=st.sampled_from(Profile),
    upgrade=st.none() | UPGRADES,
    ids_given=st.integers(0, 99),
    session_bounds=st.none() | st.builds(Bounds, st.integers(0, 10**6), st.integers(0, 10**6)),
    group_settings=st.dictionaries(WORDS, WORDS, max_size=2),
    released=st.dictionaries(WORDS, st.builds(Release, WORDS, MOMENTS, st.booleans()), max_size=2),
    step=st.none() | STEPS,
    canary=st.none() | CANARIES,
    message=WORDS,
)


@given(MEMORIES)
def test_memory_comes_back_as_it_was_written(memory: RolloutMemory) -> None:
    status = json.loads(json.dumps({"rollout": write_memory(memory)}))
    assert read_memory(status) == memory


def test_memory_of_an_object_that_was_never_worked_on() -> None:
    assert read_memory({}) == RolloutMemory()
    assert read_memory({"rollout": {"phase": "Complete", "fromTheFuture": 1}}).phase is RolloutPhase.COMPLETE
