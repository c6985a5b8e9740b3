"""How a rollout goes: which pod is next, and what to do to it.

The order of things in one pass: a restart under way is waited for; pods that are known to be down go first (under
OrderedReady, the lowest of them), since they have nothing to lose; then those that work although they are not Ready;
then the highest outdated ordinal, or as many of the highest as may be away at once (`together`). All gates hold before
each, but for pods that are out of the group: what goes on there keeps nobody out of it. A canary's hold comes after the
gates, and before any pod goes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.core.decision.acts import Cause, DeletePod, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason, waiting_for
from slackwater.core.fleet.turn import given, judged, not_yet, turn_refusal
from slackwater.core.manifests.template import Template
from slackwater.core.manifests.writes import in_place
from slackwater.core.members.kept_out import is_kept_out
from slackwater.core.members.presence import serves
from slackwater.core.members.standing import stood_before
from slackwater.core.rollout.canary import canary_hold, is_held_at_canary
from slackwater.core.rollout.candidates import (
    has_retry,
    incomplete,
    known_down,
    out_of_the_group,
    replaceable,
    step_with,
    unready_at_work,
)
from slackwater.core.rollout.gates import cannot_be_made, first_refusal
from slackwater.core.rollout.together import haste, is_left_open, let_go_together
from slackwater.core.rollout.way_back import has_had_its_time
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.pods import Pod
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World

_IN_MOTION: Final = (Reason.GROUP_REBALANCING, Reason.GROUP_STABILIZING)
_LATELY_S: Final = 10.0
"""At least; else for `stableFor`. A group with a pod that comes and goes is never calm for that long."""


def next_move(world: World, workload: Workload, template: Template) -> Decision:
    """Choose at most one step. The StatefulSet already holds `template`."""
    if somebody_else_lets_go(world, workload):
        return Decision(world.memory, act=_close(world, workload, template))
    return haste(world, workload) or _next_restart(world, workload, template)


def _next_restart(world: World, workload: Workload, template: Template) -> Decision:
    candidates = replaceable(world, workload)
    down, out = known_down(world, workload), out_of_the_group(world, workload)
    kept = _kept_by_its_controller(world, workload, candidates)
    unready = down | unready_at_work(world, workload) | kept
    stood = {pod.ordinal for pod in world.once(stood_before)}
    by_hand = unready | incomplete(world, candidates) | {pod.ordinal for pod in candidates if pod.ordinal in stood}
    waiting = frozenset(pod.ordinal for pod in candidates if is_kept_out(world, pod))
    chosen = _chosen(candidates, workload, (out - waiting, out, down, by_hand & stood, by_hand))
    is_out = chosen is not None and chosen.ordinal in out
    goes_at_once = is_out and world.memory.phase.goes_back
    if not goes_at_once and (hold := _restart_in_hand(world, workload, unready)):
        return Decision(world.memory, hold=hold)
    is_open = workload.settled and workload.strategy is UpdateStrategy.ON_DELETE
    if is_open and not by_hand:
        hold = first_refusal(world, down)
        moves_on = _came_lately(world) and not canary_hold(world, workload).hold
        if moves_on and hold is not None and hold.reason in _IN_MOTION:
            return Decision(world.memory, hold=hold)  # who came back may be about to leave again, as it did before
        return Decision(world.memory, act=_close(world, workload, template))
    needs_turn = chosen is not None and chosen.ordinal not in down
    if hold := _refusal(world, down, needs_turn=needs_turn, is_out=is_out):
        return Decision(world.memory, hold=hold)
    if chosen is None:
        return Decision(world.memory)
    canary = canary_hold(world, workload)
    if canary.hold and chosen.revision != workload.update_revision:
        return replace(canary, act=_close(world, workload, template) if is_open else None)
    if by_hand:
        by_hand_now = _replace_by_hand(world, workload, template, chosen, _cause(world, chosen, down, kept))
        return _by_turn(world, by_hand_now) if needs_turn else by_hand_now
    go = let_go_together(world, workload, candidates)
    act = in_place(world, workload, template, Purpose.RESTART, go[-1].ordinal, go[0].ordinal)
    act = replace(act, also=tuple(pod.ordinal for pod in go[1:]))
    return _by_turn(world, Decision(_with_step(world.remembering(canary.memory), go), act=act))


def _refusal(world: World, down: frozenset[int], *, needs_turn: bool, is_out: bool) -> Hold | None:
    """The turn is asked for before the gates: while it waits for that, a group is not looked at every second."""
    if needs_turn and not is_held_at_canary(world) and (hold := turn_refusal(world)):
        return hold
    hold = first_refusal(judged(world), down, who_is_out=is_out)
    return hold if hold is None or not needs_turn else not_yet(world, hold)


def _by_turn(world: World, decided: Decision) -> Decision:
    """It is given with the step that takes a pod away, and no pod is taken away without."""
    if decided.memory.step is world.memory.step:
        return decided
    if hold := turn_refusal(world):  # a canary's hold has just ended
        return Decision(world.memory, hold=hold)
    return replace(decided, memory=given(world, decided.memory))


def lets_go(world: World, workload: Workload) -> bool:
    """Its controller may restart pods, or make those that end, with the version that it holds."""
    opened = workload.strategy is UpdateStrategy.ON_DELETE or is_left_open(world, workload)
    return opened or somebody_else_lets_go(world, workload)


def somebody_else_lets_go(world: World, workload: Workload) -> bool:
    """Another revision than ours came (`kubectl rollout restart`), and the controller restarts the pods that the
    partition has let go by it, as soon as each is Ready. Those of the step go as they may, once; and on the way back
    one that is ending comes back with the newest, which may be ours, written just before the operator was restarted.
    """
    known = world.memory.revisions.get(workload.name, workload.update_revision)
    if not workload.settled or known == workload.update_revision:
        return False
    going_back = world.memory.phase.goes_back
    stay = [pod for pod in world.outdated if not _is_in_hand(world, pod) and not (going_back and pod.terminating)]
    rolls = workload.strategy is UpdateStrategy.ROLLING_UPDATE
    return rolls and any(each.ordinal >= workload.partition for each in stay)


def _is_in_hand(world: World, pod: Pod) -> bool:
    """By the step: it is yet to be restarted, or is not Ready again. Where the partition closed now, one that the
    controller has just taken would come back with the version before, and would have to go once more. One that it has
    not taken yet stays, where another one has gone meanwhile."""
    step = world.memory.step
    if step is None or pod.ordinal not in step.ordinals or stays_for_another(world):
        return False
    return pod.ordinal in step.unmade or not pod.ready


def stays_for_another(world: World) -> bool:
    """The controller has not taken a pod of the step yet, and another one has gone since: somebody edited the
    StatefulSet in that second."""
    step = world.memory.step
    if step is None or not step.unmade:
        return False
    ours = [world.pod(ordinal) for ordinal in step.unmade]
    if any(pod is None or pod.terminating or not pod.ready for pod in ours):
        return False
    return not all(serves(world, each) for each in world.wanted_pods if each.ordinal not in step.ordinals)


def _kept_by_its_controller(world: World, workload: Workload, candidates: tuple[Pod, ...]) -> frozenset[int]:
    """The next one on the way back, where a pod that is waited for no longer keeps the controller from restarting it:
    that restarts nobody while another pod is not Ready. Under OrderedReady it makes none above such a pod, either."""
    if not candidates or candidates[0].terminating or (workload.in_order and _waits_below(world, candidates[0])):
        return frozenset()
    outdated = {pod.ordinal for pod in world.outdated}
    others = ((each, world.pod(each)) for each in range(world.replicas) if each not in outdated)
    kept = any((pod is None or not pod.ready) and has_had_its_time(world, each) for each, pod in others)
    return frozenset({candidates[0].ordinal}) if kept else frozenset()


def _waits_below(world: World, pod: Pod) -> bool:
    below = (world.pod(ordinal) for ordinal in range(pod.ordinal))
    return any(each is None or not each.ready for each in below)


def _chosen(candidates: tuple[Pod, ...], workload: Workload, first: tuple[frozenset[int], ...]) -> Pod | None:
    """The highest of the first of these that has one; under OrderedReady the lowest that goes by hand at all."""
    if workload.in_order:
        candidates = tuple(pod for pod in reversed(candidates) if pod.ordinal in first[-1]) or candidates
        return next(iter(candidates), None)
    found = (pod for ordinals in first for pod in candidates if pod.ordinal in ordinals)
    return next(found, None) or next(iter(candidates), None)


def _restart_in_hand(world: World, workload: Workload, by_hand: frozenset[int]) -> Hold | None:
    """The StatefulSet controller is free to work on ordinals from the partition up: let it finish."""
    lowest = 0 if workload.strategy is UpdateStrategy.ON_DELETE else workload.partition
    for ordinal in range(world.replicas - 1, lowest - 1, -1):
        pod = world.pod(ordinal)
        name = f"{workload.name}-{ordinal}"
        if (pod is None and cannot_be_made(world, ordinal, by_hand)) or has_had_its_time(world, ordinal):
            continue
        if pod is None:
            why = f": {said}" if (said := world.why_not_made(ordinal)) else ""
            return waiting_for(Reason.RESTART_IN_HAND, f"pod {name} to be made{why}", 1.0)
        if pod.terminating:
            return waiting_for(Reason.RESTART_IN_HAND, f"the old pod {name} to end", 1.0)
        # With a pod not Ready, the controller may never get to this one (kubernetes feature MaxUnavailableStatefulSet).
        waits_for_controller = workload.strategy is UpdateStrategy.ROLLING_UPDATE and not by_hand
        if waits_for_controller and pod.revision != workload.update_revision:
            return waiting_for(Reason.RESTART_IN_HAND, f"the StatefulSet controller to restart pod {name}", 1.0)
    return None


def _replace_by_hand(world: World, workload: Workload, template: Template, pod: Pod, cause: Cause) -> Decision:
    """First make sure that the pod would come back with the new version, then delete it (F25: nobody else does).

    Not by lowering the partition: the controller may act on that when the pod has recovered and another one is down.
    """
    comes_back_new = (
        workload.strategy is UpdateStrategy.ON_DELETE
        or workload.current_revision == workload.update_revision
        or pod.ordinal >= workload.partition
    )
    if comes_back_new:
        act = DeletePod(pod.name, pod.uid, pod.ordinal, cause)
        return Decision(_with_step(world, (pod,)), act=act)
    return Decision(world.memory, act=in_place(world, workload, template, Purpose.OPEN_OUT_OF_ORDER, 0, pod.ordinal))


def _cause(world: World, pod: Pod, down: frozenset[int], kept: frozenset[int]) -> Cause:
    if has_retry(world, pod):
        return Cause.RETRIED
    if is_kept_out(world, pod):
        return Cause.KEPT_OUT
    if pod.ordinal in down:
        return Cause.DOWN
    if not pod.ready:
        return Cause.NOT_READY
    if pod in world.once(stood_before):
        return Cause.STANDS
    return Cause.KEPT if pod.ordinal in kept else Cause.INCOMPLETE


def _came_lately(world: World) -> bool:
    """A member of a pod that is to be replaced has not been in the group for as long as a calm group is calm."""
    members = (member for pod in world.outdated for member in world.members_of(pod))
    seen = (world.history.members.get(member.instance_id or member.member_id) for member in members)
    lately = world.now - max(world.group.spec.rollout.stable_for_s, _LATELY_S)
    return any(sighting is not None and sighting.since > lately for sighting in seen)


def _close(world: World, workload: Workload, template: Template) -> WriteWorkload:
    """While it is open, any pod that ends for another reason comes back with the new version."""
    floor = max((pod.ordinal + 1 for pod in world.outdated), default=0)
    return in_place(world, workload, template, Purpose.CLOSE_OUT_OF_ORDER, floor)


def _with_step(world: World, pods: tuple[Pod, ...]) -> RolloutMemory:
    members = (member for pod in pods for member in world.members_of(pod))
    before = {member.instance_id: member.member_id for member in members if member.instance_id}
    step = step_with(world, pods[0], before)
    return replace(world.memory, step=replace(step, also=tuple(pod.ordinal for pod in pods[1:])))
