"""When a rollout begins, and what is remembered then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import TEMPLATE_HASH
from slackwater.api.consumer_group import Membership
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import Template, wanted_template
from slackwater.core.members.work import what_is_read
from slackwater.core.rollout.beginning import begin, last_good, note_lag, note_pod_made, note_what_pods_are
from slackwater.core.world.made_with import ADOPTED, MadeWith
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupState, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import NAME, NEW, NOW, OLD, changed, observation, pod, workload, world
from tests.core.handover.stories import over

WANTED = wanted_template(world())
AT_REST = RolloutPhase.COMPLETE
UNSEEN = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)


def at(phase: RolloutPhase = AT_REST, **memory: Any) -> World:
    return world(memory=RolloutMemory(phase=phase, **memory))


NOTHING: dict[str, Any] = {"workload": None, "pods": (), "last_good_template": None}
GONE_BACK = RolloutMemory(phase=RolloutPhase.ROLLED_BACK, target_hash=WANTED.hash, failed_hash=WANTED.hash)
BEGINS = [
    ("it has failed, and there is nothing else", world(memory=GONE_BACK, **NOTHING), True),
    (
        "it has failed, and the good one is known",
        world(memory=GONE_BACK, **NOTHING | {"last_good_template": {}}),
        False,
    ),
    ("it has failed, and pods are left", world(memory=GONE_BACK, **NOTHING | {"pods": (pod(0),)}), False),
    ("another version is wanted", at(target_hash="before"), True),
    ("none was rolled out before", at(RolloutPhase.NONE), True),
    ("in the middle of another", at(RolloutPhase.PROGRESSING, target_hash="before"), True),
    ("this one is rolled out", at(target_hash=WANTED.hash), False),
    ("this one is known to have failed", at(RolloutPhase.FAILED, target_hash="before", failed_hash=WANTED.hash), False),
]


@pytest.mark.parametrize(("given", "begins"), [pytest.param(w, b, id=name) for name, w, b in BEGINS])
def test_a_rollout_begins(given: World, begins: bool) -> None:
    decided = begin(given, WANTED)
    assert (decided.memory.target_hash == WANTED.hash and decided.memory.started_at == NOW) is begins
    assert [note.reason for note in decided.notes] == ([Reason.ROLLOUT_STARTED] if begins else [])
    assert (replace(decided.memory, target_given="") == given.memory) is not begins


OTHERWISE = MadeWith(Membership.DYNAMIC, 2, "worker")
NOW_ASKED = MadeWith(Membership.STATIC, 1, "consumer")
NOTED = [
    ("of the version that is rolled out", {"target_hash": WANTED.hash}, NOW_ASKED),
    (
        "corrected, without another version",
        {"target_hash": WANTED.hash, "made_with": {WANTED.hash: OTHERWISE}},
        NOW_ASKED,
    ),
    ("of the version that has failed", {"target_hash": "other", "failed_hash": WANTED.hash}, NOW_ASKED),
    ("of no other version", {"target_hash": "other"}, None),
]


@pytest.mark.parametrize(("memory", "made"), [row[1:] for row in NOTED], ids=[row[0] for row in NOTED])
def test_what_pods_of_the_version_are_is_noted(memory: dict[str, Any], made: MadeWith | None) -> None:
    assert note_what_pods_are(at(**memory)).memory.made_with.get(WANTED.hash) == made


def test_versions_are_known_for_as_long_as_pods_have_them_or_may_get_them() -> None:
    known = dict.fromkeys(("of a pod", "of the set", "good", "failed", "nobody's"), OTHERWISE)
    given = world(
        memory=RolloutMemory(target_hash="x", last_good_hash="good", failed_hash="failed", made_with=known),
        workload=workload(template_hash="of the set"),
        pods=(pod(0, template_hash="of a pod"),),
    )
    assert {*note_what_pods_are(given).memory.made_with} == {"of a pod", "of the set", "good", "failed"}


ADOPTED_POD = {"pods": (pod(0, template_hash=""),)}


@pytest.mark.parametrize(
    ("known", "adopted"),
    [
        pytest.param({}, NOW_ASKED, id="first seen"),
        pytest.param({WANTED.hash: OTHERWISE, ADOPTED: OTHERWISE}, NOW_ASKED, id="corrected, without another version"),
        pytest.param({ADOPTED: OTHERWISE}, OTHERWISE, id="another version is asked for"),
        pytest.param({WANTED.hash: NOW_ASKED, ADOPTED: OTHERWISE}, OTHERWISE, id="and has begun"),
    ],
)
def test_adopted_pods_are_judged_by_what_was_asked_for_when_they_were(
    known: dict[str, MadeWith], adopted: MadeWith
) -> None:
    given = changed(at(target_hash=WANTED.hash, made_with=known), **ADOPTED_POD)
    assert note_what_pods_are(given).memory.made_with[ADOPTED] == adopted
    assert given.remembering(note_what_pods_are(given).memory).made_with(given.pods[0]) == adopted


def test_when_the_last_of_them_is_gone_that_is_forgotten() -> None:
    given = at(RolloutPhase.COMPLETE, target_hash=WANTED.hash, made_with={WANTED.hash: NOW_ASKED, ADOPTED: OTHERWISE})
    given = changed(given, pods=(pod(0, template_hash=WANTED.hash),))
    assert ADOPTED not in note_what_pods_are(given).memory.made_with


def test_what_the_last_one_left_is_forgotten() -> None:
    left = at(
        RolloutPhase.FAILED,
        failed_hash="before",
        canary=Canary(0, NOW),
        step=Step(1, NOW),
        handover=replace(over(), fenced=2, cold=True, returned=3),
        message="x",
        retried_at=NOW,
    )
    memory = begin(left, WANTED).memory
    assert memory.phase is RolloutPhase.PROGRESSING
    assert (memory.failed_hash, memory.canary, memory.step, memory.message) == ("", None, None, "")
    assert memory.retried_at is None
    assert memory.handover == over(), "how its pods came back says nothing of those of another version"


@pytest.mark.parametrize(
    ("failed", "before", "remembered"),
    [
        ("second", "", "second"),
        ("", "second", "second"),
        ("third", "second", "third"),
        ("", WANTED.hash, ""),
        ("", "", ""),
    ],
    ids=["it failed", "a fourth version", "two in a row", "somebody asks for it again", "none"],
)
def test_which_version_was_given_up_is_remembered_while_another_takes_its_place(
    failed: str, before: str, remembered: str
) -> None:
    given = at(RolloutPhase.FAILED, failed_hash=failed, given_up_before=before)
    given = at(RolloutPhase.FAILED, failed_hash=failed, given_up_before=before)
    assert begin(given, WANTED).memory.given_up_before == remembered


PODS = (pod(0), pod(1), pod(2))
KNOWN, GONE = f"{NAME}-5d9c", f"{NAME}-alt-5d9c"
"""Revisions of the StatefulSet that there is, and of one that a warm rollout has deleted."""
GOOD = [
    ("what is known stays", AT_REST, PODS, (KNOWN, "hash"), (KNOWN, "hash")),
    ("not where its StatefulSet is gone, and every pod runs another", AT_REST, PODS, (GONE, "hash"), (OLD, "in-use")),
    ("its set is gone, and one is not Ready", AT_REST, (pod(0), pod(1, ready=False)), (GONE, "hash"), (GONE, "hash")),
    ("its set is gone, and the last one failed", RolloutPhase.FAILED, PODS, (GONE, "hash"), (GONE, "hash")),
    ("where it was lost, what every pod runs", AT_REST, (pod(0), pod(1), pod(2)), ("", ""), (OLD, "in-use")),
    ("not where one is not Ready", AT_REST, (pod(0), pod(1), pod(2, ready=False)), ("", ""), ("", "")),
    ("not where one runs another", AT_REST, (pod(0), pod(1), pod(2, NEW)), ("", ""), ("", "")),
    ("not where there is none", AT_REST, (), ("", ""), ("", "")),
    ("not where the last one failed", RolloutPhase.FAILED, (pod(0), pod(1), pod(2)), ("", ""), ("", "")),
]


@pytest.mark.parametrize(("phase", "pods", "known", "expected"), [pytest.param(*row, id=name) for name, *row in GOOD])
def test_the_last_good_version(
    phase: RolloutPhase, pods: tuple[Pod, ...], known: tuple[str, str], expected: tuple[str, str]
) -> None:
    memory = RolloutMemory(phase=phase, target_hash="before", last_good_revision=known[0], last_good_hash=known[1])
    runs = workload(update_revision=OLD, template_hash="in-use")
    begun = begin(world(memory=memory, pods=pods, workload=runs), WANTED).memory
    assert (begun.last_good_revision, begun.last_good_hash) == expected


LAG = [
    ("is noted when Kafka answers", at(RolloutPhase.PROGRESSING), 7),
    ("stays as it was at the beginning", at(RolloutPhase.PROGRESSING, lag_before=3), 3),
    ("is not asked for at rest", at(), None),
    ("is not known yet", replace(at(RolloutPhase.PROGRESSING), kafka=UNSEEN), None),
]


@pytest.mark.parametrize(("given", "lag"), [pytest.param(w, lag, id=name) for name, w, lag in LAG])
def test_the_lag_before(given: World, lag: int | None) -> None:
    seen = replace(given, kafka=observation(lag=7)) if given.seen is not None else given
    assert note_lag(seen).memory.lag_before == lag


@pytest.mark.parametrize("phase", list(RolloutPhase))
def test_what_was_read_before(phase: RolloutPhase) -> None:
    """With the last good version: where another one was on its way, that is what is known already."""
    looked = observation()
    memory = RolloutMemory(phase=phase, target_hash="before", read_before="known")
    begun = begin(world(memory=memory, kafka=looked), WANTED).memory
    assert begun.read_before == (what_is_read(looked) if phase.at_rest else "known")
    rebalancing = replace(looked, state=GroupState.PREPARING_REBALANCE)
    assert begin(world(memory=RolloutMemory(target_hash="before"), kafka=rebalancing), WANTED).memory.read_before == ""


MADE = [
    ("since the restart", pod(1, created_at=NOW - 4), True),
    ("in the same second", pod(1, created_at=NOW - 5), True),
    ("before it: the old one", pod(1), False),
    ("not yet", None, False),
    ("but it is another", pod(2, created_at=NOW - 4), False),
]


@pytest.mark.parametrize(("there", "made"), [pytest.param(p, m, id=name) for name, p, m in MADE])
def test_the_pod_in_hand_was_made(there: Pod | None, made: bool) -> None:
    given = at(RolloutPhase.PROGRESSING, step=Step(1, NOW - 4.5))
    step = note_pod_made(replace(given, all_pods=() if there is None else (there,))).memory.step
    assert step is not None
    assert step.made is made


def test_each_of_several_pods_in_hand_was_made() -> None:
    given = at(RolloutPhase.PROGRESSING, step=Step(2, NOW - 4.5, also=(1, 0)))
    there = (pod(2, created_at=NOW - 3), pod(1), pod(0, created_at=NOW - 2))
    step = note_pod_made(replace(given, all_pods=there)).memory.step
    assert step is not None
    assert (step.made, step.made_also) == (True, (0,))


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (None, None),
        ({"metadata": {"annotations": {TEMPLATE_HASH: "good"}}}, "good"),
        ({"metadata": {}}, ""),
    ],
    ids=["cannot be read", "with its hash", "of before there were hashes"],
)
def test_the_last_good_template(kept: dict[str, Any] | None, expected: str | None) -> None:
    found = last_good(world(last_good_template=kept))
    assert found == (None if expected is None else Template(expected, kept or {}))
