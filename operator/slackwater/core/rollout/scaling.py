"""Another number of pods, asked for in the middle of a rollout: it waits until the rollout is over, or stands still.

Pods that come or go cost rebalances of their own, which the rollout would have to wait out, and whoever scales by lag
takes for a trend what the rollout causes. Where the rollout stands still on purpose nothing is gained by waiting; where
it waits for the lag to fall, or for room, another number may be the only way on; and where nobody would be disturbed
there is nothing to wait for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.api.annotations import PAUSE
from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note, workload_note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import seconds
from slackwater.core.fleet.turn import given, scale_refusal
from slackwater.core.manifests.template import Template
from slackwater.core.manifests.writes import keeps_the_good_one, shape
from slackwater.core.members.ownership import may_be_unrecognized
from slackwater.core.rollout.canary import canary_ahead, is_held_at_canary
from slackwater.core.rollout.ending import is_proven
from slackwater.core.rollout.gates import lag_is_bounded
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.pods import UNSCHEDULABLE
from slackwater.core.world.put_back import PutBack
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World

PUT_BACK_AT_ONCE: Final = 3
"""Who scales the StatefulSet by mistake is corrected at once, so often."""
PUT_BACK_AGAIN_S: Final = 300.0
PUT_BACK_UNTRIED_S: Final = 60.0
"""Where the pods that somebody adds have the version that is being tried: they are not to do its work for long."""
PUT_BACK_FORGOTTEN_S: Final = 900.0
IN_VAIN_AGAIN_S: Final = 10.0
"""A write that met a conflict is repeated at once, and comes through within moments; after this one it came to nothing,
as the next one may."""

_INSTEAD: Final = "scale the ConsumerGroup, and point autoscalers at it"


def keep_replicas(world: World) -> Decision:
    """A rollout goes on with the number that it began with.

    It never begins by taking pods away: a manifest with another version often brings an old number along, which an
    autoscaler corrects a moment later.

    The very first rollout may change its number of pods at any time. `replicas: 0` means stop, and is obeyed at once.
    """
    memory = world.memory
    if not memory.phase.under_way or not memory.last_good_revision:
        return Decision(memory if memory.replicas is None else replace(memory, replicas=None))
    asked = world.group.spec.replicas
    if memory.replicas is None and asked > 0:
        return Decision(_with(memory, max(asked, _as_we_wrote_it(world))))
    return Decision(_scaled(world) if asked == 0 else memory)


def scaled_if_it_stands(world: World, decided: Decision) -> Decision:
    """With what is asked for now, where the rollout stands still, or the change disturbs nobody."""
    if decided.act is not None or decided.hold is None or not is_held(world):
        return decided
    stands = PAUSE in world.group.metadata.annotations or decided.hold.reason.stands_still
    at_once = stands or _disturbs_nobody(world) or _makes_room(world)
    return replace(decided, memory=_scaled(world)) if at_once else decided


def is_held(world: World) -> bool:
    """Whether another number of pods is asked for than the rollout under way goes on with."""
    return world.replicas != world.group.spec.replicas


def put_back(world: World, workload: Workload, act: WriteWorkload) -> Decision | None:
    """Somebody else wrote the number. Who does so again and again, as an autoscaler does, is not fought all the time
    while the group rests or its rollout stands still: pods that come and go cost a rebalance or two.

    None: not now, see `rests_as_scaled`. The first time is no warning: the ConsumerGroup may have been scaled as well.
    """
    if rests_as_scaled(world, workload) is not None:
        return None
    counted = _counted(world, workload)
    note = workload_note(Purpose.SCALE, world)
    note = replace(note, message=f"{note.message}: {_by_whom(world, workload)}")
    if counted.is_known:
        message = f"{_by_whom(world, workload)}: {_INSTEAD}"
        note = Note(Reason.SCALED_BY_OTHERS, message, warning=True, of_act=True)
    return Decision(replace(world.memory, put_back=counted), act=act, notes=(note,))


def rests_as_scaled(world: World, workload: Workload) -> Hold | None:
    """Until when a number that somebody else wrote is left alone, and who it was."""
    last = _put_back_before(world)
    if last is None or not workload.replicas_by or workload.replicas == world.replicas:
        return None
    pause_s = _pause_s(world, workload) if last.count >= PUT_BACK_AT_ONCE else 0.0
    if last.generation == workload.generation:
        pause_s = max(pause_s, IN_VAIN_AGAIN_S) if last.in_vain or not _is_in_hand(world, last) else 0.0
    left_s = pause_s - (world.now - last.at)
    if not 0.0 < left_s <= pause_s:  # over; or the clock was put back
        return None
    soon = pause_s == PUT_BACK_UNTRIED_S
    why = ", since the pods that it adds have a version that is yet to prove itself" if soon else ""
    again = f"{_by_whom(world, workload)}: {_INSTEAD}. It is put back every {seconds(pause_s)}{why}"
    return Hold(Reason.SCALED_BY_OTHERS, again, left_s)


def who_scales(world: World) -> str:
    """Who else does so again and again, whether the number is left alone or put back at once; empty: nobody."""
    last = _put_back_before(world)
    if last is None or not last.is_known:
        return ""
    return f"its StatefulSet was scaled by {last.by or 'somebody else'} again and again: {_INSTEAD}"


def _pause_s(world: World, workload: Workload) -> float:
    """How long the number of somebody else stands, who has written it again and again; 0: not at all.

    Only where the rollout stands still on purpose, or the group rests with a version that is proven and that every pod
    has. Pods are to be stopped at once, and so are those of a version that has failed. Whether the StatefulSet
    controller has read the last change does not matter: an edited template has come before.
    """
    memory = world.memory
    if 0 in (workload.replicas, world.replicas) or memory.phase is RolloutPhase.FAILED:
        return 0.0
    if memory.phase.under_way:
        stands = PAUSE in world.group.metadata.annotations or is_held_at_canary(world)
        again_s = PUT_BACK_UNTRIED_S if _adds_untried(world, workload) else PUT_BACK_AGAIN_S
        return again_s if stands else 0.0
    is_good = memory.phase is RolloutPhase.ROLLED_BACK or is_proven(memory)
    return PUT_BACK_AGAIN_S if is_good and memory.upgrade is None and not world.outdated else 0.0


def _adds_untried(world: World, workload: Workload) -> bool:
    """Pods above the number that is asked for are above the partition, so they are of the newest version."""
    return workload.replicas > world.replicas and workload.update_revision != world.memory.last_good_revision


def _counted(world: World, workload: Workload) -> PutBack:
    """With this time, where it is another one than the last."""
    last, by = _put_back_before(world), workload.replicas_by
    if last is None:
        return PutBack(world.replicas, workload.generation, world.now, by=by)
    if last.generation != workload.generation:
        return replace(last, generation=workload.generation, at=world.now, times=last.times + 1, by=by)
    return last if _is_in_hand(world, last) else replace(last, at=world.now, in_vain=last.in_vain + 1, by=by)


def _is_in_hand(world: World, last: PutBack) -> bool:
    """Our write has just been refused, or has not been tried yet."""
    return 0.0 <= world.now - last.at < IN_VAIN_AGAIN_S


def _put_back_before(world: World) -> PutBack | None:
    """The last time that this very number was put back; None after a longer pause."""
    last = world.memory.put_back
    known = last is not None and last.replicas == world.replicas and world.now - last.at <= PUT_BACK_FORGOTTEN_S
    return last if known else None


def _by_whom(world: World, workload: Workload) -> str:
    return (
        f"StatefulSet {workload.name} was scaled to {workload.replicas} by {workload.replicas_by}, and the"
        f" ConsumerGroup asks for {world.replicas}"
    )


def scaled_by_turn(world: World, workload: Workload, template: Template) -> Decision:
    """Another number of pods; at rest, and where a fleet's budget counts that, once it is the group's turn."""
    if hold := scale_refusal(world):
        return Decision(world.memory, hold=hold)
    note = workload_note(Purpose.SCALE, world)
    return Decision(given(world, world.memory, {MoveReason.SCALE}), act=scale(world, workload, template), notes=(note,))


def scale(world: World, workload: Workload, template: Template) -> WriteWorkload:
    """The StatefulSet with the number of pods that there are to be now. None of an untried version is added, and on the
    way back none of the one that is given up."""
    replicas, as_it_is = world.replicas, shape(world, template, Purpose.SCALE)
    if workload.replicas == 0 and not world.pods:
        return as_it_is
    parked = workload.partition >= workload.replicas and not keeps_the_good_one(world, workload)
    in_doubt = world.memory.phase is RolloutPhase.FAILED or canary_ahead(world) or _waits_for_its_sake(world, workload)
    held = parked or (in_doubt and replicas > workload.replicas)  # more pods must not mean more of an untried version
    partition = replicas if held else min(workload.partition, replicas)
    strategy = UpdateStrategy.ROLLING_UPDATE if held else workload.strategy
    return replace(as_it_is, strategy=strategy, partition=partition)


def _waits_for_its_sake(world: World, workload: Workload) -> bool:
    """A rollout is paused, or waits for the lag to fall: either may be for what its version does.

    Where the version before is a good one. And not while a pod is away that is to come back with the new one: that
    would be taken back.
    """
    memory = world.memory
    in_hand = memory.step is not None and bool(memory.step.unmade)
    good_before = workload.current_revision == memory.last_good_revision
    if memory.phase is not RolloutPhase.PROGRESSING or in_hand or not good_before:
        return False
    if PAUSE in world.group.metadata.annotations:
        return True
    return world.seen is not None and lag_is_bounded(world, world.seen, frozenset()) is not None


def _scaled(world: World) -> RolloutMemory:
    return _with(world.memory, world.group.spec.replicas)


def _with(memory: RolloutMemory, replicas: int) -> RolloutMemory:
    return replace(memory, replicas=replicas, ids_given=max(memory.ids_given, replicas))


def _as_we_wrote_it(world: World) -> int:
    """How many pods the operator asked for before, or took over when it adopted them; 0 where somebody else has written
    the StatefulSet since."""
    return world.made if all(_is_ours(world, each) for each in world.sets) else 0


def _is_ours(world: World, workload: Workload) -> bool:
    """`workload`: one without a hash of ours in its template was adopted, and we have not written it yet."""
    known = world.memory.revisions.get(workload.name) == workload.update_revision
    return not workload.replicas_by and (workload.as_written or known or not workload.template_hash)


def _makes_room(world: World) -> bool:
    """No node has room for a pod that is not asked for any more."""
    going = [world.pod(ordinal) for ordinal in range(world.group.spec.replicas, world.replicas)]
    return any(pod is not None and pod.waiting == UNSCHEDULABLE for pod in going)


def _disturbs_nobody(world: World) -> bool:
    """There is no pod at all; or the pods that would go are not there, or known not to be in the group."""
    if not world.pods:
        return True
    if world.seen is None or world.group.spec.replicas > world.replicas:
        return False
    going = [world.pod(ordinal) for ordinal in range(world.group.spec.replicas, world.replicas)]
    there = [pod for pod in going if pod is not None]
    return not any(world.members_of(pod) or may_be_unrecognized(world, pod) for pod in there)
