"""Who may disturb whom, by whose turn it is: a table for each question."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.annotations import CAMPAIGN, PAUSE
from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.turn import (
    RECHECK_S,
    awaiting,
    given,
    has_to_wait,
    is_awaited,
    judged,
    not_yet,
    scale_refusal,
    standing_of,
    start_refusal,
    turn_refusal,
)
from slackwater.core.manifests.template import wanted_template, what_people_gave
from slackwater.core.pace import in_motion
from slackwater.core.plan import plan
from slackwater.core.rollout.gates import first_refusal
from slackwater.core.status.compose import compose_status
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import GroupState
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.step import Step
from slackwater.core.world.turn import ALWAYS_ASKS, Turn, TurnRecord, TurnStanding
from slackwater.core.world.world import World
from tests.core.factories import NEW, NOW, changed, group, members, observation, pod, workload, world

NO_FLEET, WAITS, CALLED, HAS = TurnStanding
PROGRESSING = RolloutPhase.PROGRESSING
ASKED: Final = TurnRecord(MoveReason.ROLLOUT, NOW - 3600)
GIVEN: Final = replace(ASKED, given_at=NOW - 60)
DONE: Final = replace(GIVEN, done_at=NOW - 30)
YIELDED: Final = replace(ASKED, yielded=1)
MOVED: Final = Step(2, NOW - 3000, made=True)
PLATFORM: Final = ("slackwater/platform",)
UPGRADE: Final = Upgrade(Profile.EAGER, StrategyName.ONLINE_MIGRATION, (Profile.CONSUMER,), started_at=NOW - 3600)


def waiting(standing: TurnStanding = WAITS, turn: TurnRecord | None = ASKED, **memory: Any) -> World:
    """A group whose StatefulSet has the new version, and that has everything to restart its first pod but its turn."""
    asked_for = wanted_template(world())
    remembered = RolloutMemory(**{"phase": PROGRESSING, "turn": turn, "started_at": NOW - 3600} | memory)
    return world(
        memory=replace(remembered, target_hash=asked_for.hash, target_given=what_people_gave(world())),
        workload=workload(template=asked_for.body, template_hash=asked_for.hash),
        turn=Turn(standing, PLATFORM),
    )


def asking(seen: World, **spec: Any) -> World:
    """With more in its spec that makes no other version."""
    return replace(seen, group=group(**spec))


@pytest.mark.parametrize(
    ("standing", "turn", "may"),
    [
        (NO_FLEET, None, True),
        (NO_FLEET, ASKED, True),
        (WAITS, None, False),
        (WAITS, ASKED, False),
        (WAITS, GIVEN, False),  # not admitted, or stopped by its fleet
        (CALLED, None, False),  # called for what it asked before; it has to ask for this
        (CALLED, ASKED, True),
        (CALLED, GIVEN, True),  # written, and not known to be
        (CALLED, DONE, False),
        (HAS, GIVEN, True),
        (HAS, ASKED, False),
        (HAS, DONE, False),
        (HAS, None, False),
    ],
)
def test_a_rollout_may_disturb_by_its_turn_alone(standing: TurnStanding, turn: TurnRecord | None, may: bool) -> None:
    refusal = turn_refusal(waiting(standing, turn))
    assert (refusal is None) is may
    assert refusal is None or (refusal.reason, refusal.recheck_s) == (Reason.AWAITING_TURN, RECHECK_S)
    act = plan(waiting(standing, turn)).act
    assert act is None or may, "the plan asks"


def test_while_fleets_may_not_be_read_a_rollout_waits_and_says_so() -> None:
    unread = replace(waiting(), turn=Turn(WAITS, PLATFORM, unread=("team-a",)))
    refusal = turn_refusal(unread)
    assert refusal is not None
    assert (refusal.reason, refusal.recheck_s) == (Reason.AWAITING_TURN, RECHECK_S)
    assert refusal.message.startswith("waits until the operator may read the ConsumerFleets of namespace team-a:")
    assert not in_motion(unread, plan(unread))


def test_who_names_a_campaign_reads_that_it_waits_for_it() -> None:
    named = replace(waiting(), group=group({CAMPAIGN: "base-image"}))
    assert awaiting(named).message.endswith(
        "; by its annotation, changes wait for FleetCampaign default/base-image to order them: where that was deleted,"
        " make it again, or remove the annotation"
    )
    called = named.remembering(replace(named.memory, commands={CAMPAIGN: "default/base-image"}))
    assert "FleetCampaign" not in awaiting(called).message


@pytest.mark.parametrize("phase", [each for each in RolloutPhase if each is not PROGRESSING])
def test_nothing_but_a_rollout_that_goes_forward_asks(phase: RolloutPhase) -> None:
    assert turn_refusal(waiting(phase=phase)) is None


def test_who_is_paused_reads_that() -> None:
    paused = replace(waiting(), group=group({PAUSE: ""}))
    assert turn_refusal(paused) is None
    hold = plan(paused).hold
    assert hold is not None
    assert hold.reason is Reason.PAUSED


@pytest.mark.parametrize(
    ("reason", "upgrade", "may"),
    [
        (MoveReason.ROLLOUT, None, True),
        (MoveReason.RESTART, None, True),
        (MoveReason.ROLLOUT, UPGRADE, False),
        (MoveReason.PROTOCOL_UPGRADE, UPGRADE, True),
        (MoveReason.PROTOCOL_UPGRADE, None, True),  # turned back; the budget that counted it goes on counting it
        (MoveReason.SCALE, None, False),
        (MoveReason.START, None, False),
    ],
)
def test_a_turn_is_for_what_it_was_asked_for(reason: MoveReason, upgrade: Upgrade | None, may: bool) -> None:
    assert (turn_refusal(waiting(HAS, replace(GIVEN, reason=reason), upgrade=upgrade)) is None) is may


def test_the_sentence_names_the_fleets_and_stays_as_it_is() -> None:
    one, two = waiting(), replace(waiting(), turn=Turn(WAITS, (*PLATFORM, "team-pay/pay")))
    assert awaiting(one).message == (
        "waits for its turn in ConsumerFleet slackwater/platform: its conditions say what is open,"
        " `kubectl slackwater why payments` says who has it"
    )
    assert awaiting(two).message.startswith(
        "waits for its turn in ConsumerFleets slackwater/platform, team-pay/pay: their"
    )
    assert awaiting(replace(one, now=NOW + 999)) == awaiting(one)


def test_the_turn_is_given_with_the_step_and_the_rollout_begins_by_its_clock() -> None:
    """`maxLag.growth` is measured against the lag at that moment, and not against that of an hour ago."""
    seen = observation(lag=500, coordinator=3)
    asks = replace(
        waiting(CALLED, lag_before=3), kafka=seen, cluster_id="k1", group=group(rollout={"maxLag": {"growth": 9}})
    )
    decided = plan(asks)
    assert decided.act is not None
    memory = decided.memory
    assert memory.step is not None
    assert memory.turn == replace(ASKED, given_at=NOW, cluster="k1", coordinator=3)
    assert (memory.started_at, memory.lag_before, memory.step.started_at) == (NOW, 500, NOW)
    assert first_refusal(asks, frozenset()) is not None, "by the lag of an hour ago, a gate would refuse"


def test_where_it_ended_early_the_rollout_keeps_the_moment_of_its_beginning() -> None:
    """Lag that came by it is no reason to forget what there was before."""
    bound = group(rollout={"maxLag": {"growth": 9}})
    again = replace(waiting(CALLED, YIELDED, lag_before=3, step=MOVED), kafka=observation(lag=500), group=bound)
    hold = plan(again).hold
    assert hold is not None
    assert hold.reason is Reason.LAG_ABOVE_GATE
    calm = replace(again, kafka=observation(lag=5))
    memory = plan(calm).memory
    assert memory.turn == replace(YIELDED, given_at=NOW)
    assert (memory.started_at, memory.lag_before) == (NOW - 3600, 3)


@pytest.mark.parametrize(
    ("standing", "turn"),
    [(NO_FLEET, ASKED), (WAITS, ASKED), (HAS, GIVEN), (CALLED, None), (CALLED, GIVEN), (CALLED, DONE)],
)
def test_nothing_else_is_given(standing: TurnStanding, turn: TurnRecord | None) -> None:
    asks = waiting(standing, turn)
    assert given(asks, asks.memory) is asks.memory


def test_the_way_back_takes_no_turn_although_it_was_called() -> None:
    asks = waiting(CALLED, phase=RolloutPhase.ROLLING_BACK)
    assert given(asks, asks.memory) is asks.memory


def test_a_pod_that_is_down_is_replaced_without_a_turn() -> None:
    crashed = pod(1, ready=False, waiting="CrashLoopBackOff", restarts=9, started_at=None)
    down = replace(waiting(), all_pods=(pod(0), crashed, pod(2)))
    decided = plan(down)
    assert decided.act is not None
    assert decided.memory.turn == ASKED


def test_a_call_costs_no_write() -> None:
    """That a group at rest has to be looked at first is said of nobody who is called."""
    stale = replace(waiting(CALLED), kafka=observation(at=NOW - 14))
    hold = plan(stale).hold
    assert hold is not None
    assert (hold.reason, hold.message) == (Reason.AWAITING_TURN, awaiting(stale).message)
    assert hold.recheck_s == 1.0
    assert in_motion(stale, plan(stale)), "it is looked at within a second"
    before = compose_status(
        replace(stale, turn=Turn(WAITS, PLATFORM)), plan(replace(stale, turn=Turn(WAITS, PLATFORM))), {}
    )
    assert compose_status(stale, plan(stale), before) == before


def test_other_gates_are_told_of_whoever_is_called() -> None:
    other = Hold(Reason.LAG_ABOVE_GATE, "lag is about 90 records", 5.0)
    assert not_yet(waiting(CALLED), other) is other
    stale = Hold(Reason.OBSERVATION_STALE, "old", 1.0)
    assert not_yet(waiting(HAS, GIVEN), stale) is stale


def test_who_waits_is_at_rest_and_its_phase_says_so() -> None:
    waits = waiting()
    decided = plan(waits)
    assert decided.hold == awaiting(waits)
    assert is_awaited(waits, decided.hold)
    assert not in_motion(waits, decided)
    assert compose_status(waits, decided, {})["phase"] == "Waiting"
    free = replace(waits, turn=Turn())
    assert compose_status(free, plan(free), {})["phase"] == "Progressing"
    assert not has_to_wait(waiting(HAS, GIVEN))


def test_gates_judge_by_the_lag_of_now_only_whoever_is_called_for_the_first_time() -> None:
    for standing, turn in ((WAITS, ASKED), (HAS, GIVEN), (CALLED, YIELDED), (NO_FLEET, None)):
        asks = waiting(standing, turn, step=MOVED)
        assert judged(asks) is asks


@pytest.mark.parametrize(
    ("memory", "paused", "standing"),
    [
        (RolloutMemory(), False, Standing.RESTS),
        (RolloutMemory(PROGRESSING, turn=ASKED), False, Standing.ASKS),
        (RolloutMemory(PROGRESSING, turn=ASKED), True, Standing.RESTS),
        (RolloutMemory(PROGRESSING, turn=GIVEN), True, Standing.HAS),
        (RolloutMemory(PROGRESSING), False, Standing.RESTS),
        (RolloutMemory(RolloutPhase.ROLLING_BACK, turn=GIVEN), False, Standing.HAS),
        (RolloutMemory(RolloutPhase.ROLLING_BACK, turn=DONE), False, Standing.MENDS),
        (RolloutMemory(RolloutPhase.ROLLING_BACK, turn=ASKED), False, Standing.MENDS),
        (RolloutMemory(RolloutPhase.ROLLING_BACK), False, Standing.MENDS),
        (RolloutMemory(PROGRESSING, upgrade=replace(UPGRADE, stopped_at=NOW)), False, Standing.MENDS),
        (RolloutMemory(RolloutPhase.COMPLETE, turn=DONE), False, Standing.SETTLES),
        (RolloutMemory(RolloutPhase.FAILED, turn=DONE), False, Standing.SETTLES),
        (RolloutMemory(RolloutPhase.COMPLETE, turn=replace(ASKED, done_at=NOW)), False, Standing.RESTS),
    ],
)
def test_where_a_group_stands_for_the_allocator(memory: RolloutMemory, paused: bool, standing: Standing) -> None:
    assert standing_of(memory, paused=paused) is standing


AT_REST: Final = waiting(turn=None, phase=RolloutPhase.COMPLETE, last_good_revision=NEW, started_at=None)
SCALES: Final = changed(
    AT_REST,
    workload=replace(AT_REST.sets[0], replicas=2, partition=2, current_revision=NEW),
    pods=(pod(0, NEW), pod(1, NEW)),
    kafka=observation(members(0, 1)),
)
BY_TURN: Final = Turn(WAITS, PLATFORM, ALWAYS_ASKS | {MoveReason.SCALE, MoveReason.START})


def test_scaling_asks_where_a_budget_names_it() -> None:
    assert scale_refusal(SCALES) is None
    asks = replace(SCALES, turn=BY_TURN)
    assert scale_refusal(asks) is not None
    decided = plan(asks)
    assert decided.act is None
    assert decided.memory.turn == TurnRecord(MoveReason.SCALE, NOW)
    called = replace(asks, memory=decided.memory, turn=replace(BY_TURN, standing=CALLED))
    scaled = plan(called)
    assert scaled.act is not None
    assert scaled.memory.turn == TurnRecord(MoveReason.SCALE, NOW, NOW)
    assert scaled.memory.started_at is None, "no rollout begins"
    mid_rollout = replace(asks, memory=replace(asks.memory, phase=PROGRESSING))
    assert scale_refusal(mid_rollout) is None


def test_a_stop_is_obeyed_at_once() -> None:
    assert scale_refusal(replace(SCALES, turn=BY_TURN, group=group(replicas=0))) is None


def test_a_new_groups_first_pods_ask_where_a_budget_names_them() -> None:
    nobody = observation((), state=GroupState.EMPTY)
    new = changed(world(memory=RolloutMemory(), kafka=nobody, turn=Turn(WAITS, PLATFORM)), workload=None, pods=())
    assert start_refusal(new) is None
    asks = replace(new, turn=BY_TURN)
    decided = plan(asks)
    assert decided.act is None
    assert decided.hold == awaiting(asks)
    assert decided.memory.turn == TurnRecord(MoveReason.START, NOW)
    called = replace(asks, memory=decided.memory, turn=replace(BY_TURN, standing=CALLED))
    made = plan(called)
    assert made.act is not None
    assert made.memory.turn is not None
    assert made.memory.turn.is_held


def test_what_ran_before_is_made_again_at_once() -> None:
    ran = RolloutMemory(RolloutPhase.COMPLETE, last_good_revision="payments-1", step=Step(1, NOW - 9999))
    nobody = observation((), state=GroupState.EMPTY)
    lost = changed(replace(waiting(), memory=ran, kafka=nobody, turn=BY_TURN), workload=None, pods=())
    assert start_refusal(lost) is None
    assert plan(lost).act is not None
