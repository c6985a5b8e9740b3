"""Why a member's process ended, as far as the operator's own acts and the cluster tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.api.consumer_group import Membership
from slackwater.api.rollout import RolloutStrategy
from slackwater.api.telemetry.words import RestartMode, RestartReason
from slackwater.core.telemetry.lives import ROUNDING_S, Episode
from slackwater.core.telemetry.sight import Sight

_MAY_TURN_OUT_OTHERWISE: Final = (RestartReason.UNKNOWN, RestartReason.DELETED)


def with_reason(sight: Sight, episode: Episode) -> Episode:
    """With the reason, and what follows from it; one that is certain stays."""
    if episode.reason not in _MAY_TURN_OUT_OTHERWISE:
        return episode
    reason = _reason(sight, episode)
    return replace(episode, reason=reason, mode=_mode(sight, reason))


def _reason(sight: Sight, episode: Episode) -> RestartReason:
    told = sight.ends.get(episode.pod_uid)
    pod = sight.world.pod(episode.ordinal)
    if episode.ordinal >= sight.world.replicas:
        return RestartReason.SCALED_AWAY
    if _was_a_step(sight, episode):
        return RestartReason.ROLLOUT
    if pod is not None and pod.uid == episode.pod_uid and not pod.terminating:
        return told.reason if told is not None and told.reason is not None else RestartReason.CRASH
    if _was_taken_down(sight, episode):
        return RestartReason.ROLLOUT
    if told is not None and told.reason is not None:
        return told.reason
    if not episode.pod_uid:
        return RestartReason.UNKNOWN
    if pod is not None and pod.uid != episode.pod_uid and pod.revision != episode.revision:
        return RestartReason.ROLLOUT
    return RestartReason.DELETED


def _was_a_step(sight: Sight, episode: Episode) -> bool:
    """Whether it is just the member that the operator took down last."""
    step = sight.decided.memory.step
    return step is not None and step.members_before.get(episode.place) in episode.member_ids


def _was_taken_down(sight: Sight, episode: Episode) -> bool:
    """Whether the operator took its pod down: as a step of a rollout, or with all others for a cut-over."""
    memory, world = sight.decided.memory, sight.world
    step = memory.step
    if step is not None and step.ordinal == episode.ordinal and memory.phase.under_way:
        ran_before = episode.ran_since is not None and episode.ran_since < step.started_at
        ended_at = episode.stopped_at if episode.stopped_at is not None else world.now
        if ran_before and ended_at >= step.started_at - ROUNDING_S:
            return True
    drains = memory.upgrade is not None and memory.upgrade.drains
    return drains and bool(world.sets) and world.made <= episode.ordinal


def _mode(sight: Sight, reason: RestartReason) -> RestartMode:
    spec = sight.world.group.spec
    if spec.membership is Membership.DYNAMIC:
        return RestartMode.DYNAMIC
    handover = sight.decided.memory.handover
    warm = spec.rollout.strategy is RolloutStrategy.WARM_HANDOVER and not (handover is not None and handover.cold)
    handed_over = reason is RestartReason.ROLLOUT and warm
    return RestartMode.WARM_HANDOVER if handed_over else RestartMode.IN_PLACE
