"""Why a process ended: what each clue says, and which of two that contradict each other is believed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.telemetry.words import RestartMode, RestartReason
from slackwater.core.decision.decision import Decision
from slackwater.core.telemetry import causes
from slackwater.core.telemetry.causes import CLUES, with_reason
from slackwater.core.telemetry.lives import Episode
from slackwater.core.telemetry.sight import PodEnd, Sight
from slackwater.core.world.handover import Begun, Handover, Held
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.step import Step
from tests.core.factories import NEW, NOW, OLD, group, pod, workload, world

R: Final = RestartReason
GONE: Final = (pod(0), pod(1))
"""Pod 2, of which all the rows are, is not there."""
THERE: Final = (*GONE, pod(2))
EPISODE: Final = Episode(
    id="e",
    place="payments-2",
    ordinal=2,
    instance_id="payments-2",
    pod="payments-2",
    reason=R.UNKNOWN,
    mode=RestartMode.IN_PLACE,
    member_ids=frozenset({"payments-2-a"}),
    pod_uid=pod(2).uid,
    ran_since=NOW - 5_000,
    revision=OLD,
    stopped_at=NOW,
)
LAST_STEP: Final = RolloutMemory(step=Step(2, NOW - 1, {"payments-2": "payments-2-a"}))
OF_SEVERAL: Final = RolloutMemory(phase=RolloutPhase.PROGRESSING, step=Step(5, NOW - 1, {}, also=(3, 2)))
ITS_ORDINAL: Final = RolloutMemory(phase=RolloutPhase.PROGRESSING, step=Step(2, NOW - 1, {}))
DRAINS: Final = RolloutMemory(
    upgrade=Upgrade(Profile.EAGER, StrategyName.DRAIN_CUTOVER, (Profile.COOPERATIVE,), step=1)
)
OUT_OF_MEMORY: Final = {EPISODE.pod_uid: PodEnd(NOW, R.OUT_OF_MEMORY)}
SILENT: Final = {EPISODE.pod_uid: PodEnd(NOW)}


def sight(memory: RolloutMemory | None = None, ends: Any = None, **changes: Any) -> Sight:
    given = world(**{"pods": GONE} | changes)
    return Sight(given, Decision(memory or RolloutMemory()), None, ends or {})


Row = tuple[str, Sight, Episode, RestartReason | None]
TABLES: Final[dict[str, list[Row]]] = {
    "was_scaled_away": [
        ("there are fewer pods now", sight(group=group(replicas=2)), EPISODE, R.SCALED_AWAY),
        ("its ordinal is still wanted", sight(), EPISODE, None),
    ],
    "was_the_last_step": [
        ("the member that was taken down", sight(LAST_STEP), EPISODE, R.ROLLOUT),
        ("its successor", sight(LAST_STEP), replace(EPISODE, member_ids=frozenset({"payments-2-b"})), None),
        ("another place", sight(LAST_STEP), replace(EPISODE, place="payments-1"), None),
        ("no step is known", sight(), EPISODE, None),
    ],
    "ended_in_its_pod": [
        ("the pod is there, and silent", sight(pods=THERE), EPISODE, R.CRASH),
        ("the pod is there, and its end gave no reason", sight(pods=THERE, ends=SILENT), EPISODE, R.CRASH),
        ("the pod is there, and says why", sight(pods=THERE, ends=OUT_OF_MEMORY), EPISODE, R.OUT_OF_MEMORY),
        ("it is being deleted", sight(pods=(*GONE, pod(2, terminating=True))), EPISODE, None),
        ("it is another pod", sight(pods=(*GONE, pod(2, uid="other"))), EPISODE, None),
        ("it is gone", sight(), EPISODE, None),
    ],
    "was_taken_down": [
        ("its ordinal's step", sight(ITS_ORDINAL), EPISODE, R.ROLLOUT),
        ("the step of several", sight(OF_SEVERAL), EPISODE, R.ROLLOUT),
        ("no rollout is under way", sight(replace(ITS_ORDINAL, phase=RolloutPhase.COMPLETE)), EPISODE, None),
        ("another ordinal's step", sight(ITS_ORDINAL), replace(EPISODE, ordinal=1), None),
        ("it ended before the step", sight(ITS_ORDINAL), replace(EPISODE, stopped_at=NOW - 3), None),
        ("ended in the second before", sight(ITS_ORDINAL), replace(EPISODE, stopped_at=NOW - 2), R.ROLLOUT),
        ("it started after the step", sight(ITS_ORDINAL), replace(EPISODE, ran_since=NOW), None),
        ("when it started is not known", sight(ITS_ORDINAL), replace(EPISODE, ran_since=None), None),
        ("when it ended is not known", sight(ITS_ORDINAL), replace(EPISODE, stopped_at=None), R.ROLLOUT),
        ("all were stopped", sight(DRAINS, workload=workload(replicas=0)), EPISODE, R.ROLLOUT),
        ("they are about to be stopped", sight(DRAINS), EPISODE, None),
        ("none are there to stop", sight(DRAINS, workload=None), EPISODE, None),
    ],
    "as_its_end_says": [
        ("it says why", sight(ends=OUT_OF_MEMORY), EPISODE, R.OUT_OF_MEMORY),
        ("it gives no reason", sight(ends=SILENT), EPISODE, None),
        ("another pod's end", sight(ends={"other": PodEnd(NOW, R.EVICTED)}), EPISODE, None),
    ],
    "had_no_pod_that_was_seen": [
        ("nobody saw its pod", sight(), replace(EPISODE, pod_uid=""), R.UNKNOWN),
        ("its pod was seen", sight(), EPISODE, None),
    ],
    "came_back_with_another_version": [
        ("another revision", sight(pods=(*GONE, pod(2, NEW, uid="other"))), EPISODE, R.ROLLOUT),
        ("the same revision", sight(pods=(*GONE, pod(2, uid="other"))), EPISODE, None),
        ("the same pod", sight(pods=(*GONE, pod(2, NEW))), EPISODE, None),
        ("nobody came yet", sight(), EPISODE, None),
    ],
}
ROWS: Final = [pytest.param(clue, *row[1:], id=f"{clue}: {row[0]}") for clue, rows in TABLES.items() for row in rows]


@pytest.mark.parametrize(("clue", "given", "episode", "said"), ROWS)
def test_clue(clue: str, given: Sight, episode: Episode, said: RestartReason | None) -> None:
    assert getattr(causes, clue)(given, episode) is said


def test_every_clue_has_its_table_in_the_order_in_which_they_are_believed() -> None:
    assert [clue.__name__ for clue in CLUES] == list(TABLES)


@pytest.mark.parametrize(
    ("given", "episode", "reason"),
    [
        pytest.param(sight(LAST_STEP, group=group(replicas=2)), EPISODE, R.SCALED_AWAY, id="scaled away before a step"),
        pytest.param(sight(LAST_STEP, ends=OUT_OF_MEMORY, pods=THERE), EPISODE, R.ROLLOUT, id="a step before the end"),
        pytest.param(
            sight(ITS_ORDINAL, pods=THERE), EPISODE, R.CRASH, id="a crash in its pod before its ordinal's step"
        ),
        pytest.param(sight(ITS_ORDINAL, ends=OUT_OF_MEMORY), EPISODE, R.ROLLOUT, id="the operator before the cluster"),
        pytest.param(
            sight(pods=(*GONE, pod(2, NEW, uid="other"))),
            replace(EPISODE, pod_uid=""),
            R.UNKNOWN,
            id="no pod, no guess",
        ),
        pytest.param(sight(), EPISODE, R.DELETED, id="no clue at all"),
        pytest.param(sight(), replace(EPISODE, reason=R.CRASH), R.CRASH, id="what is certain stays"),
        pytest.param(sight(LAST_STEP), replace(EPISODE, reason=R.DELETED), R.ROLLOUT, id="a deletion may be explained"),
    ],
)
def test_the_first_clue_decides(given: Sight, episode: Episode, reason: RestartReason) -> None:
    assert with_reason(given, episode).reason is reason


@pytest.mark.parametrize(
    ("cold", "mode"),
    [(False, RestartMode.WARM_HANDOVER), (True, RestartMode.IN_PLACE)],
    ids=["warm", "gone on without"],
)
def test_a_handover_without_an_overlap_is_none(cold: bool, mode: RestartMode) -> None:
    """There was no room for one pod more: see `surgeTimeout`."""
    memory = replace(LAST_STEP, handover=Handover(2, "payments-alt", NOW - 9, Begun(Held({}, None)), cold=cold))
    given = sight(memory, group=group(rollout={"strategy": "WarmHandover"}))
    assert with_reason(given, EPISODE).mode is mode
