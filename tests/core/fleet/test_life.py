"""How a turn begins and ends, as it stands in the status: each change in one pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.annotations import RESTARTED_AT
from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.decision.acts import Act, AlterGroupSettings, Cause, DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.fleet.allocation import HORIZON_S
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.life import CALM_S, STANDS_STILL_S, with_turn
from slackwater.core.fleet.standstill import STANDS_AFTER_S, came_before_its_turn
from slackwater.core.fleet.turn import standing_of
from slackwater.core.manifests.template import wanted_template
from slackwater.core.plan import plan
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.step import Step
from slackwater.core.world.turn import ALWAYS_ASKS, Turn, TurnRecord, TurnStanding
from slackwater.core.world.world import World
from tests.core.factories import NEW, NOW, changed, group, members, observation, pod, workload, world

WAITS, HAS = TurnStanding.WAITS, TurnStanding.HAS
PROGRESSING, COMPLETE = RolloutPhase.PROGRESSING, RolloutPhase.COMPLETE
ASKED: Final = TurnRecord(MoveReason.ROLLOUT, NOW - 3600)
GIVEN: Final = replace(ASKED, given_at=NOW - 600, cluster="k1", coordinator=2)
DONE: Final = replace(GIVEN, done_at=NOW - 500)
UPGRADE: Final = Upgrade(Profile.EAGER, StrategyName.TWO_BOUNCE, (Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE))


def rolling(turn: TurnRecord | None, standing: TurnStanding = HAS, **memory: Any) -> World:
    """Pods are left to be restarted; the last step was long ago."""
    remembered = {"phase": PROGRESSING, "turn": turn, "started_at": NOW - 700, "step": Step(2, NOW - 600, made=True)}
    return world(memory=RolloutMemory(**remembered | memory), turn=Turn(standing, ("slackwater/platform",)))


def after(seen: World, **memory: Any) -> TurnRecord | None:
    """What stands there when the pass remembers this."""
    return with_turn(seen, Decision(replace(seen.memory, **memory))).memory.turn


def at_rest(**changes: Any) -> World:
    """A group of which nothing was changed: every pod has its version."""
    seen = world(
        **{"pods": tuple(pod(n, NEW) for n in range(3)), "turn": Turn(WAITS, ("slackwater/platform",))} | changes
    )
    template = wanted_template(seen)
    memory = replace(seen.memory, phase=COMPLETE, target_hash=template.hash, last_good_revision=NEW)
    current = workload(template=template.body, template_hash=template.hash, current_revision=NEW, partition=0)
    return changed(seen, memory=memory, workload=current)


def test_a_rollout_asks_in_the_pass_in_which_it_begins() -> None:
    new = replace(at_rest(), group=group(timeouts={"maxPollInterval": "9m"}))
    decided = plan(new)
    assert decided.memory.phase is PROGRESSING
    assert decided.memory.turn == TurnRecord(MoveReason.ROLLOUT, NOW)
    assert plan(replace(new, turn=Turn())).memory.turn is None


def test_a_restart_is_told_from_another_version() -> None:
    restarted = at_rest()
    token = replace(restarted.memory, restart="monday")
    decided = plan(replace(restarted, memory=token))
    assert decided.memory.phase is PROGRESSING
    assert decided.memory.turn == TurnRecord(MoveReason.RESTART, NOW)
    taken_up = replace(restarted, memory=decided.memory)
    assert plan(taken_up).memory.turn == decided.memory.turn, "it stays what it was asked for"
    both = replace(restarted, memory=token, group=group(timeouts={"maxPollInterval": "9m"}))
    assert plan(both).memory.turn == TurnRecord(MoveReason.ROLLOUT, NOW)


def test_a_second_restart_is_one_too() -> None:
    first = at_rest(memory=RolloutMemory(restart="monday"))
    annotations = first.sets[0].template["metadata"]["annotations"]
    assert annotations[RESTARTED_AT] == "monday"
    again = replace(first, memory=replace(first.memory, restart="tuesday"))
    assert plan(again).memory.turn == TurnRecord(MoveReason.RESTART, NOW)


def test_another_version_before_the_first_one_was_called_for_asks_in_its_place() -> None:
    seen = rolling(replace(ASKED, reason=MoveReason.RESTART), WAITS, target_hash="first")
    assert after(seen, target_hash="second") == ASKED


def test_another_version_in_the_middle_goes_by_the_turn_that_is_held() -> None:
    assert after(rolling(replace(GIVEN, given_at=NOW - 9), target_hash="first"), target_hash="second") == replace(
        GIVEN, given_at=NOW - 9
    )


def test_another_protocol_in_the_middle_asks_again_near_the_front() -> None:
    """A budget may count upgrades apart, which this one has not been called for."""
    seen = rolling(replace(GIVEN, given_at=NOW - 9), step=Step(2, NOW - 9), upgrade=replace(UPGRADE, started_at=NOW))
    assert after(seen) == TurnRecord(MoveReason.PROTOCOL_UPGRADE, ASKED.asked_at)


def test_the_next_step_of_an_upgrade_asks_as_the_first_one_did() -> None:
    upgrade = replace(UPGRADE, step=2, started_at=ASKED.asked_at - 0.4)
    first = replace(DONE, reason=MoveReason.PROTOCOL_UPGRADE)
    second = rolling(first, WAITS, upgrade=upgrade, started_at=NOW - 5)
    assert after(second) == TurnRecord(MoveReason.PROTOCOL_UPGRADE, ASKED.asked_at)
    another = replace(upgrade, started_at=NOW - 5)
    assert after(rolling(first, WAITS, upgrade=another, started_at=NOW - 5)) == TurnRecord(
        MoveReason.PROTOCOL_UPGRADE, NOW
    )


def test_nobody_asks_who_has_nothing_to_restart() -> None:
    new = tuple(pod(n, NEW) for n in range(3))
    assert after(changed(rolling(None, WAITS), pods=new)) is None
    assert after(changed(rolling(DONE, WAITS), pods=new)) == DONE


def test_who_moved_before_a_fleet_came_counts_though_nobody_called_it() -> None:
    assert after(rolling(None, WAITS)) == TurnRecord(MoveReason.ROLLOUT, NOW, NOW)
    not_begun = rolling(None, WAITS, step=Step(2, NOW - 9999, made=True))
    assert after(not_begun) == TurnRecord(MoveReason.ROLLOUT, NOW)


@pytest.mark.parametrize("phase", [COMPLETE, RolloutPhase.ROLLED_BACK, RolloutPhase.FAILED])
def test_it_is_over_with_the_rollout_in_the_same_write(phase: RolloutPhase) -> None:
    for turn in (GIVEN, ASKED, replace(GIVEN, done_at=NOW - 50)):
        assert after(rolling(turn), phase=phase) == replace(turn, done_at=NOW)
    assert after(rolling(DONE, phase=phase)) == DONE, "and stays as it is"
    free = replace(rolling(GIVEN), turn=Turn())
    assert after(free, phase=phase) == replace(GIVEN, done_at=NOW), "though its fleet is gone"


def test_going_back_keeps_it() -> None:
    assert after(rolling(GIVEN), phase=RolloutPhase.ROLLING_BACK) == GIVEN


@pytest.mark.parametrize("phase", [RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK, RolloutPhase.ROLLING_BACK])
def test_what_follows_a_version_that_failed_is_a_fix(phase: RolloutPhase) -> None:
    failed = rolling(DONE, WAITS, phase=phase)
    assert after(failed, phase=PROGRESSING, started_at=NOW) == TurnRecord(MoveReason.ROLLOUT, NOW, is_a_fix=True)


GIVEN_BACK: Final = replace(ASKED, yielded=1, again_at=NOW)
LONG: Final = {"rejoinTimeout": "5m"}


@pytest.mark.parametrize(
    ("seen", "gives_way"),
    [
        (rolling(GIVEN), True),
        (rolling(replace(GIVEN, given_at=NOW - STANDS_STILL_S + 1)), False),
        (rolling(GIVEN, step=Step(2, NOW - STANDS_STILL_S + 1)), False),
        (replace(rolling(GIVEN), group=group(rollout={"stableFor": "10m"})), False),  # its pods take so long each
        (changed(rolling(GIVEN), pods=(pod(0), pod(1), pod(2, ready=False))), True),  # for longer than rejoinTimeout
        (changed(rolling(GIVEN, step=Step(2, NOW - 200)), pods=(pod(0), pod(1), pod(2, ready=False))), False),
        (changed(rolling(GIVEN, step=Step(2, NOW - 200)), pods=(pod(0), pod(1))), False),
        (changed(rolling(GIVEN, step=Step(2, NOW - 200)), kafka=observation(members(0, 1))), False),
        (changed(rolling(GIVEN, step=Step(2, NOW - 200)), kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW)), False),
        (changed(rolling(GIVEN), kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW)), True),
        (rolling(GIVEN, phase=RolloutPhase.ROLLING_BACK), False),
        (rolling(ASKED, WAITS), False),
    ],
)
def test_who_stands_still_gives_way(seen: World, gives_way: bool) -> None:
    """For two minutes with every pod up, or for longer than a pod may be away; and keeps its place."""
    assert (after(seen) == GIVEN_BACK) is gives_way


def test_nobody_gives_way_in_the_middle_of_an_act_or_of_a_stop() -> None:
    seen = rolling(GIVEN)
    assert with_turn(seen, Decision(seen.memory, AlterGroupSettings({}))).memory.turn == GIVEN
    stopped = replace(UPGRADE, strategy=StrategyName.DRAIN_CUTOVER, stopped_at=NOW - 500)
    turn = replace(GIVEN, reason=MoveReason.PROTOCOL_UPGRADE)
    drained = changed(rolling(turn, upgrade=stopped), pods=(), workload=workload(replicas=0))
    assert after(drained) == turn


def test_no_turn_ends_sooner_than_a_late_request_may_land() -> None:
    assert STANDS_STILL_S > HORIZON_S
    assert CALM_S > 0


def test_who_has_nothing_left_to_restart_is_done_before_it_is_complete() -> None:
    """As one that waits for its lag: it moves nobody any more, and would be called for nothing."""
    new = changed(rolling(GIVEN), pods=tuple(pod(n, NEW) for n in range(3)))
    assert after(new) == replace(GIVEN, done_at=NOW)


def test_a_canary_is_held_without_a_turn_and_asks_again_in_its_place() -> None:
    seen = rolling(replace(GIVEN, given_at=NOW - 650), started_at=NOW - 650)
    held = with_turn(seen, Decision(seen.memory), is_canary_held=True).memory
    assert held.turn == replace(GIVEN, given_at=NOW - 650, done_at=NOW)
    later = replace(seen, memory=held)
    assert with_turn(later, Decision(held), is_canary_held=True).memory.turn == held.turn
    assert with_turn(later, Decision(held)).memory.turn == GIVEN_BACK, "and goes on with what it has begun"
    fix = replace(later, memory=replace(held, turn=replace(held.turn or GIVEN, is_a_fix=True)))
    assert after(fix) == replace(GIVEN_BACK, is_a_fix=True), "a fix stays one"


def test_where_the_last_fleet_is_gone_a_rollout_that_waited_begins_now() -> None:
    seen = replace(rolling(ASKED, lag_before=0, step=None), turn=Turn(), kafka=observation(lag=70))
    freed = plan(seen).memory
    assert (freed.turn, freed.started_at, freed.lag_before) == (None, NOW, 70)
    begun = with_turn(replace(seen, memory=replace(seen.memory, turn=GIVEN_BACK)), Decision(seen.memory)).memory
    assert begun.turn is None


SCALING: Final = TurnRecord(MoveReason.SCALE, NOW - 600, NOW - 500)


@pytest.mark.parametrize(
    ("turn", "replicas", "pods", "following"),
    [
        (SCALING, 3, 3, replace(SCALING, done_at=NOW)),
        (SCALING, 3, 2, replace(SCALING, done_at=NOW)),  # for longer than a pod may be away
        (replace(SCALING, given_at=NOW - 5), 3, 2, replace(SCALING, given_at=NOW - 5)),
        (replace(SCALING, given_at=NOW - 5), 2, 2, replace(SCALING, given_at=NOW - 5)),
        (replace(SCALING, given_at=None), 2, 2, replace(SCALING, given_at=None)),
        (replace(SCALING, given_at=None), 3, 3, replace(SCALING, given_at=None, done_at=NOW)),  # wanted no more
    ],
)
def test_a_turn_to_scale_is_over_when_every_pod_is_up(
    turn: TurnRecord, replicas: int, pods: int, following: TurnRecord
) -> None:
    asks = Turn(WAITS, ("slackwater/platform",), ALWAYS_ASKS | {MoveReason.SCALE})
    memory = RolloutMemory(COMPLETE, turn=turn)
    seen = world(
        memory=memory,
        turn=asks,
        workload=workload(replicas=replicas),
        pods=tuple(pod(n, NEW) for n in range(pods)),
        kafka=observation(members(*range(pods))),
    )
    assert after(seen) == following


STOOD_S: Final = STANDS_AFTER_S + 1
LONG_AGO: Final = replace(GIVEN, given_at=NOW - STOOD_S)
DRAINED: Final = replace(UPGRADE, strategy=StrategyName.DRAIN_CUTOVER, stopped_at=NOW - STOOD_S)


REPLACED: Final = DeletePod("payments-1", "uid-1", 1, Cause.DOWN)


def standing_still(turn: TurnRecord | None = LONG_AGO, since_s: float = STOOD_S, **memory: Any) -> World:
    """A way back that has made no step for so long."""
    step = Step(2, NOW - since_s, made=True)
    back: dict[str, Any] = {"phase": RolloutPhase.ROLLING_BACK, "started_at": NOW - 2 * STOOD_S, "step": step}
    return rolling(turn, **back | memory)


@pytest.mark.parametrize("turn", [LONG_AGO, replace(LONG_AGO, done_at=NOW - 5), replace(ASKED, yielded=1)])
def test_a_way_back_that_stands_for_an_hour_counts_nowhere_until_its_next_step(turn: TurnRecord) -> None:
    seen = standing_still(turn)
    stands = after(seen)
    assert stands == replace(turn, stands=True)
    assert standing_of(replace(seen.memory, turn=stands)) is Standing.STANDS
    still = standing_still(stands)
    assert after(still) == stands, "a status that says so is not written again"
    going_on = with_turn(still, Decision(replace(still.memory, step=Step(1, NOW)), AlterGroupSettings({})))
    assert going_on.act is not None
    assert going_on.memory.turn == replace(turn, tried_since=NOW)
    assert standing_of(going_on.memory).counts
    made = changed(standing_still(going_on.memory.turn), pods=(pod(0), replace(pod(1), created_at=NOW), pod(2)))
    assert after(made) == turn, "something came of it"


def test_it_counts_while_it_moves_and_for_as_long_as_a_pod_may_take() -> None:
    assert after(standing_still(since_s=STANDS_AFTER_S - 1)) == LONG_AGO
    slow = standing_still()
    assert after(replace(slow, group=group(rollout={"rejoinTimeout": "2h"}))) == LONG_AGO
    made = changed(standing_still(), pods=(pod(0), replace(pod(1), created_at=NOW - 60), pod(2)))
    assert after(made) == LONG_AGO, "a pod was made just now"


def test_a_way_back_from_before_the_fleet_gets_a_record_while_it_stands_and_halts_nothing() -> None:
    seen = standing_still(None)
    stands = after(seen)
    assert stands == TurnRecord(MoveReason.ROLLOUT, NOW, stands=True)
    assert came_before_its_turn(stands)
    moves = standing_still(stands)
    tries = after(moves, step=Step(1, NOW))
    assert tries == TurnRecord(MoveReason.ROLLOUT, NOW, tried_since=NOW)
    assert came_before_its_turn(tries)
    made = changed(standing_still(tries, since_s=0), pods=(pod(0), replace(pod(1), created_at=NOW), pod(2)))
    assert after(made) is None
    fixed = rolling(stands, WAITS, target_hash="old")
    assert not (after(fixed, target_hash="new") or LONG_AGO).stands, "another template asks as any other"


def tried(seen: World, act: Act | None = REPLACED, **memory: Any) -> TurnRecord | None:
    """What stands there when the pass tries this."""
    return with_turn(seen, Decision(replace(seen.memory, **memory), act)).memory.turn


def test_a_way_back_whose_acts_are_refused_for_an_hour_stands_as_one_that_does_nothing() -> None:
    """Each try is a step, written down before it is refused: by that alone it moved for ever."""
    refused: dict[str, Any] = {"step": Step(1, NOW - 15)}
    first = tried(standing_still(**refused), step=Step(1, NOW))
    assert first == replace(LONG_AGO, tried_since=NOW), "it counts for as long as a step may take"
    for since_s, stands in ((STANDS_AFTER_S - 1, False), (STOOD_S, True)):
        turn = replace(LONG_AGO, tried_since=NOW - since_s)
        assert tried(standing_still(turn, **refused), step=Step(1, NOW)) == replace(turn, stands=stands)
        assert after(standing_still(turn, **refused)) == replace(turn, stands=stands), "looked at between two tries"
    stood = replace(LONG_AGO, tried_since=NOW - STOOD_S, stands=True)
    assert tried(standing_still(stood, **refused), step=Step(1, NOW)) == stood, "no write for each try"
    assert tried(standing_still(stood, **refused), step=Step(0, NOW)) == stood, "nor where another pod is tried"
    made = changed(standing_still(stood, **refused), pods=(pod(0), replace(pod(1), created_at=NOW - 1), pod(2)))
    assert after(made, step=Step(1, NOW - 15, made=True)) == LONG_AGO, "one came through"


def test_a_step_that_was_made_lately_counts_before_its_pod_is_made() -> None:
    seen = standing_still(step=Step(1, NOW - 60))
    assert after(seen) == replace(LONG_AGO, tried_since=NOW - 60)


def test_a_start_that_is_refused_for_an_hour_gives_way_too() -> None:
    """As by a policy that does not take the template with the other protocol."""
    turn = replace(LONG_AGO, reason=MoveReason.PROTOCOL_UPGRADE)
    drained = changed(
        rolling(turn, upgrade=DRAINED, step=None, started_at=NOW - 2 * STOOD_S), pods=(), workload=workload(replicas=0)
    )
    assert tried(drained) == replace(turn, tried_since=NOW)
    since = replace(turn, tried_since=NOW - STOOD_S)
    again = drained.remembering(replace(drained.memory, turn=since))
    assert tried(again) == replace(since, stands=True)
    assert standing_of(replace(again.memory, turn=tried(again))) is Standing.STANDS


def test_a_stop_on_the_way_back_that_is_refused_for_an_hour_gives_way_too() -> None:
    turn = replace(LONG_AGO, tried_since=NOW - STOOD_S)
    upgrade = replace(DRAINED, stopped_at=NOW - 15)
    seen = standing_still(turn, upgrade=upgrade, step=None)
    assert tried(seen, upgrade=replace(upgrade, stopped_at=NOW)) == replace(turn, stands=True)
    stopped = changed(seen, pods=(), workload=workload(replicas=0))
    assert after(stopped) == LONG_AGO, "it came through"


def test_a_cut_over_that_has_stopped_all_gives_way_while_it_stands() -> None:
    turn = replace(LONG_AGO, reason=MoveReason.PROTOCOL_UPGRADE)
    drained = changed(
        rolling(turn, upgrade=DRAINED, step=None, started_at=NOW - 2 * STOOD_S), pods=(), workload=workload(replicas=0)
    )
    assert after(drained) == replace(turn, stands=True)
    unseen = replace(drained, kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "away", NOW - STOOD_S))
    assert after(unseen) == replace(turn, stands=True)
    assert after(replace(drained, turn=Turn())) == turn, "no fleet counts it"
    over = replace(drained.memory, phase=COMPLETE, turn=replace(turn, stands=True))
    assert after(drained, phase=COMPLETE, turn=over.turn) == replace(turn, done_at=NOW)


def test_a_stop_that_was_only_written_down_is_no_remedy() -> None:
    """Its pods run yet: it asks again before it stops them."""
    turn = replace(LONG_AGO, reason=MoveReason.PROTOCOL_UPGRADE)
    seen = rolling(turn, upgrade=DRAINED, step=None, started_at=NOW - 2 * STOOD_S)
    seen = replace(seen, kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "away", NOW - STOOD_S))
    decided = with_turn(seen, Decision(seen.memory)).memory
    assert decided.upgrade == replace(DRAINED, stopped_at=None)
    assert decided.turn is not None
    assert decided.turn.asks
    assert standing_of(decided) is Standing.ASKS
