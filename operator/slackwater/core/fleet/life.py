"""How a turn begins and ends: asked for with the rollout, given with its first act (`turn.given`), over with its end.

It ends early where the rollout stands still, or a pod is away that nobody can bring back: others go, and `asked_at`
stays, so that the group comes again near the front. Nothing ends sooner than requests of an earlier leader may land
(`allocation.HORIZON_S`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.api.annotations import RESTARTED_AT
from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.decision.acts import Act, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.fleet.standstill import given_back, going_on, made_no_step_for_long, of_a_remedy
from slackwater.core.fleet.turn import awaiting, beginning, is_first, is_for_the_rollout, is_new, mends
from slackwater.core.manifests.template import wanted_template
from slackwater.core.members.presence import serves
from slackwater.core.world.behind import behind
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.profile import profile_in
from slackwater.core.world.turn import ALWAYS_ASKS, TurnRecord, TurnStanding
from slackwater.core.world.world import World

STANDS_STILL_S: Final = 120.0
"""Without a step for so long, and every pod up: it waits for something that others need not wait for."""
CALM_S: Final = 60.0
"""Longer than the pods of a group with a long `stableFor` take to be found calm, one after the other."""
TRIED_AGAIN_S: Final = 10.0
"""What met a conflict is tried again at once. What is refused, as by a webhook or a quota, ever more seldom, in the end
every 15 s (`shell.queue`)."""


def with_turn(world: World, decided: Decision, *, is_canary_held: bool = False) -> Decision:
    """What becomes of the turn by what was decided; written with the rest of the memory.

    `is_canary_held`: the rollout stands at a canary step, so that a turn would be of no use to it.
    """
    memory, no_fleet = decided.memory, world.turn.standing is TurnStanding.NO_FLEET
    if memory.turn is None and no_fleet:
        return decided
    if no_fleet and memory.turn is not None and memory.turn.asks:
        return replace(decided, memory=_set_free(world, memory))
    held = memory.turn if memory.turn is not None and memory.turn.is_held and not no_fleet else None
    if held is not None and (_is_in_vain(world, decided, held) or _has_not_stopped(world, decided, held)):
        return _let_be(world, decided, held)
    following = _following(world, decided, is_canary_held=is_canary_held)
    return decided if following == memory.turn else replace(decided, memory=replace(memory, turn=following))


def _set_free(world: World, memory: RolloutMemory) -> RolloutMemory:
    """Its last fleet is gone: a rollout that has waited begins now."""
    turn = memory.turn
    waited = memory.phase is RolloutPhase.PROGRESSING and turn is not None and is_first(memory)
    return replace(beginning(world, memory) if waited else memory, turn=None)


def _following(world: World, decided: Decision, *, is_canary_held: bool) -> TurnRecord | None:
    turn, after = decided.memory.turn, world.remembering(decided.memory)
    if turn is not None and _is_over(world, decided.memory, turn):
        return replace(turn, done_at=world.now, stands=False, tried_since=None)
    if world.turn.standing is TurnStanding.NO_FLEET:
        return turn
    is_remedy, moves_nobody = mends(decided.memory), _moves_nobody(decided.act)
    turn = of_a_remedy(turn, after, tries=not moves_nobody) if is_remedy else going_on(turn)
    if turn is not None and turn.stands:
        return turn
    after = world.remembering(replace(decided.memory, turn=turn))
    has_more_to_do = not is_canary_held and bool(behind(after) or after.to_hand_over)
    if turn is not None and turn.is_held and moves_nobody and _gives_way(after, turn):
        return given_back(turn, world.now) if has_more_to_do else replace(turn, done_at=world.now)
    return _asked(world, decided, after, has_more_to_do=has_more_to_do) or turn


def _moves_nobody(act: Act | None) -> bool:
    """A template that is refused, as by a policy, is tried again in each pass."""
    return act is None or (isinstance(act, WriteWorkload) and act.purpose is Purpose.TAKE_TEMPLATE)


def _is_over(world: World, memory: RolloutMemory, turn: TurnRecord) -> bool:
    if turn.reason is MoveReason.SCALE:
        as_wanted = world.workload is None or world.workload.replicas == world.replicas
        return turn.done_at is None and as_wanted and (turn.asks or _is_whole(world))
    just_ended = memory.phase is not world.memory.phase
    return not memory.phase.under_way and (turn.done_at is None or just_ended)


def _gives_way(world: World, turn: TurnRecord) -> bool:
    """Not on the way back, which is counted with a turn or without, nor while all pods are stopped.

    Who is in a group that Kafka does not show, nobody knows: then it takes as long as a pod may be away.
    """
    memory, is_scaled = world.memory, turn.reason is MoveReason.SCALE
    if memory.phase is not RolloutPhase.PROGRESSING and not is_scaled:
        return False
    began_at = memory.step.started_at if memory.step is not None else 0.0
    return _stands_for_long(world, turn, max(turn.given_at or 0.0, began_at))


def _stands_for_long(world: World, turn: TurnRecord, since: float) -> bool:
    memory, spec, is_scaled = world.memory, world.group.spec.rollout, turn.reason is MoveReason.SCALE
    stands_for_s = world.now - since
    if _is_whole(world) and world.seen is not None:
        return stands_for_s > max(STANDS_STILL_S, 3 * spec.stable_for_s + CALM_S)
    is_stopped = memory.upgrade is not None and memory.upgrade.drains and not is_scaled
    return not is_stopped and stands_for_s > max(STANDS_STILL_S, spec.rejoin_timeout_s)


def _is_in_vain(world: World, decided: Decision, turn: TurnRecord) -> bool:
    """Its act has been refused all the time that it had its turn for: it would keep that for as long as it is."""
    tried_at, given_at = _tried_before_at(world, decided), turn.given_at or 0.0
    if tried_at is None or tried_at < given_at or decided.memory.phase is not RolloutPhase.PROGRESSING:
        return False
    return world.now - tried_at >= TRIED_AGAIN_S and _stands_for_long(world, turn, given_at)


def _has_not_stopped(world: World, decided: Decision, turn: TurnRecord) -> bool:
    """A stop that was written down and never came to its pods is no remedy yet. What it waits for may last."""
    memory, workload, upgrade = decided.memory, world.workload, decided.memory.upgrade
    if decided.act is not None or memory.phase is not RolloutPhase.PROGRESSING or workload is None or upgrade is None:
        return False
    is_to_stop = upgrade.stopped_at is not None and workload.replicas > 0
    if not is_to_stop or profile_in(workload.template) is upgrade.here:
        return False
    after = world.remembering(memory)
    return _gives_way(after, turn) or made_no_step_for_long(after)


def _tried_before_at(world: World, decided: Decision) -> float | None:
    """When the very act that is decided upon was written down before, and nothing came of it; None: it is the first."""
    before, after = world.memory, decided.memory
    if before.step is not None and after.step is not None and after.step != before.step:
        is_the_same = before.step.ordinal == after.step.ordinal and not before.step.made
        return before.step.started_at if is_the_same else None
    if before.upgrade is None or after.upgrade is None or after.upgrade.stopped_at == before.upgrade.stopped_at:
        return None
    return before.upgrade.stopped_at


def _let_be(world: World, decided: Decision, turn: TurnRecord) -> Decision:
    """Not now: others go. It comes again after all who wait, or it would be called before them, and be refused, for
    ever."""
    before, upgrade = world.memory, decided.memory.upgrade
    memory = replace(
        decided.memory,
        step=before.step if _some_have_moved(world, decided.memory) else None,
        handover=before.handover,
        canary=before.canary,
        upgrade=None if upgrade is None else replace(upgrade, stopped_at=None),
        turn=replace(given_back(turn, world.now), asked_at=world.now),
    )
    return replace(decided, memory=memory, act=None, hold=decided.hold or awaiting(world), notes=())


def _some_have_moved(world: World, memory: RolloutMemory) -> bool:
    return any(pod.template_hash == memory.target_hash for pod in world.all_pods)


def _is_whole(world: World) -> bool:
    """Every pod that there is to be is up, and in the group as far as that is known; there is none beside them."""
    up = [pod for pod in world.all_pods if pod.ready and not pod.terminating]
    known_up = world.seen is None or all(serves(world, pod) for pod in up)
    return known_up and len(up) == len(world.all_pods) == world.replicas == world.made


def _asked(world: World, decided: Decision, after: World, *, has_more_to_do: bool) -> TurnRecord | None:
    """A turn that is to be asked for; None where none is, or one is asked for or held already.

    `has_more_to_do`: a pod is left that the rollout has yet to take away.
    """
    memory, turn = after.memory, after.memory.turn
    is_live = turn is not None and turn.done_at is None
    if memory.phase is not RolloutPhase.PROGRESSING:
        return _asked_to_scale(decided, world.now) if not is_live else None
    if is_new(after):
        asks = MoveReason.START in world.turn.asks and not is_live
        return TurnRecord(MoveReason.START, world.now) if asks else None
    if turn is not None and turn.asks and world.memory.target_hash != memory.target_hash:
        return replace(turn, reason=_reason(after))  # another version, before it was called for the first one
    if (is_live and is_for_the_rollout(memory)) or not has_more_to_do:
        return None
    goes_on = turn is not None and _goes_on(after, turn)
    is_a_fix = world.memory.phase.gave_up or (turn is not None and turn.is_a_fix and (is_live or goes_on))
    yielded = turn.yielded + 1 if turn is not None and goes_on else 0
    asked = TurnRecord(
        _reason(after),
        _asked_at(after),
        campaign=world.turn.campaign,
        yielded=yielded,
        again_at=world.now if goes_on else None,
        is_a_fix=is_a_fix,
    )
    return replace(asked, given_at=world.now) if turn is None and _has_begun(after) else asked


def _asked_to_scale(decided: Decision, now: float) -> TurnRecord | None:
    """A rollout's record may be what a campaign goes by: whose it was is kept."""
    known, hold = decided.memory.turn, decided.hold
    if decided.memory.phase.under_way or hold is None or hold.reason is not Reason.AWAITING_TURN:
        return None
    return TurnRecord(MoveReason.SCALE, now, campaign=known.campaign if known is not None else "")


def _asked_at(world: World) -> float:
    """Each step of an upgrade asks as the first one did; and whoever goes on with what was begun, or takes the place of
    what has not moved yet, as that did."""
    memory, turn = world.memory, world.memory.turn
    if turn is None or turn.reason not in ALWAYS_ASKS:
        return world.now
    upgrade_at = memory.upgrade.started_at if memory.upgrade is not None else None
    is_upgrade = turn.reason is MoveReason.PROTOCOL_UPGRADE and upgrade_at is not None
    same_upgrade = is_upgrade and turn.asked_at >= int(upgrade_at or 0.0)
    return turn.asked_at if same_upgrade or turn.done_at is None or _goes_on(world, turn) else world.now


def _goes_on(world: World, turn: TurnRecord) -> bool:
    """The rollout had its turn once, as before a canary's hold: it keeps the moment of its beginning."""
    is_done_with = turn.done_at is not None and turn.given_at is not None
    return is_done_with and (turn.given_at or 0.0) >= (world.memory.started_at or 0.0)


def _reason(world: World) -> MoveReason:
    """`world`: with what the rollout begins with, and the StatefulSet as it was before."""
    if world.memory.upgrade is not None:
        return MoveReason.PROTOCOL_UPGRADE
    return MoveReason.RESTART if _only_restarts(world) else MoveReason.ROLLOUT


def _only_restarts(world: World) -> bool:
    """With the token of the last restart, the template would be the one that pods have."""
    workload = world.workload
    if workload is None or world.bootstrap_servers is None:
        return False
    annotations = workload.template.get("metadata", {}).get("annotations") or {}
    token = annotations.get(RESTARTED_AT, "")
    before = world.remembering(replace(world.memory, restart=token))
    return token != world.memory.restart and wanted_template(before).hash == workload.template_hash


def _has_begun(world: World) -> bool:
    """Before any fleet selected the group: it moves, and counts, though nobody has called it."""
    step, began_at = world.memory.step, world.memory.started_at
    return step is not None and began_at is not None and step.started_at >= began_at
