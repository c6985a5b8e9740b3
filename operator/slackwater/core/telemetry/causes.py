"""Why a member's process ended, as far as the operator's own acts and the cluster tell."""

from __future__ import annotations

from collections.abc import Callable
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
    """The first clue that says something decides; a pod that is gone, for all that is known, was deleted."""
    return next((said for clue in CLUES if (said := clue(sight, episode)) is not None), RestartReason.DELETED)


def was_scaled_away(sight: Sight, episode: Episode) -> RestartReason | None:
    """The group has no such ordinal any more."""
    return RestartReason.SCALED_AWAY if episode.ordinal >= sight.world.replicas else None


def was_the_last_step(sight: Sight, episode: Episode) -> RestartReason | None:
    """It is just the member that the operator took down last."""
    step = sight.decided.memory.step
    same = step is not None and step.members_before.get(episode.place) in episode.member_ids
    return RestartReason.ROLLOUT if same else None


def ended_in_its_pod(sight: Sight, episode: Episode) -> RestartReason | None:
    """Its pod is still there, so only the process ended: as its container says, or by itself."""
    pod = sight.world.pod(episode.ordinal)
    if pod is None or pod.uid != episode.pod_uid or pod.terminating:
        return None
    return as_its_end_says(sight, episode) or RestartReason.CRASH


def was_taken_down(sight: Sight, episode: Episode) -> RestartReason | None:
    """The operator took its pod down: as a step of a rollout, or with all others for a cut-over."""
    return RestartReason.ROLLOUT if _fits_the_step(sight, episode) or _was_drained(sight, episode) else None


def as_its_end_says(sight: Sight, episode: Episode) -> RestartReason | None:
    """What the pod's status said when its process ended."""
    end = sight.ends.get(episode.pod_uid)
    return end.reason if end is not None else None


def had_no_pod_that_was_seen(sight: Sight, episode: Episode) -> RestartReason | None:
    """Nothing can be said of a pod that nobody saw."""
    return RestartReason.UNKNOWN if not episode.pod_uid else None


def came_back_with_another_version(sight: Sight, episode: Episode) -> RestartReason | None:
    """Another pod took its place, with another revision: the rollout's doing, though no step of it was seen."""
    pod = sight.world.pod(episode.ordinal)
    other = pod is not None and pod.uid != episode.pod_uid and pod.revision != episode.revision
    return RestartReason.ROLLOUT if other else None


CLUES: Final[tuple[Callable[[Sight, Episode], RestartReason | None], ...]] = (
    was_scaled_away,
    was_the_last_step,
    ended_in_its_pod,
    was_taken_down,
    as_its_end_says,
    had_no_pod_that_was_seen,
    came_back_with_another_version,
)
"""What is certain comes first; the operator's own doing before what the cluster says, which sees any deletion alike."""


def _fits_the_step(sight: Sight, episode: Episode) -> bool:
    """It ran before the rollout's last step, which was of its ordinal, and ended then."""
    memory, step = sight.decided.memory, sight.decided.memory.step
    if step is None or episode.ordinal not in step.ordinals or not memory.phase.under_way:
        return False
    ran_before = episode.ran_since is not None and episode.ran_since < step.started_at
    ended_at = episode.stopped_at if episode.stopped_at is not None else sight.world.now
    return ran_before and ended_at >= step.started_at - ROUNDING_S


def _was_drained(sight: Sight, episode: Episode) -> bool:
    """All pods were stopped, so that the protocol of all can change at once."""
    upgrade, world = sight.decided.memory.upgrade, sight.world
    drains = upgrade is not None and upgrade.drains
    return drains and bool(world.sets) and world.made <= episode.ordinal


def _mode(sight: Sight, reason: RestartReason) -> RestartMode:
    spec = sight.world.group.spec
    if spec.membership is Membership.DYNAMIC:
        return RestartMode.DYNAMIC
    handover = sight.decided.memory.handover
    warm = spec.rollout.strategy is RolloutStrategy.WARM_HANDOVER and not (handover is not None and handover.cold)
    handed_over = reason is RestartReason.ROLLOUT and warm
    return RestartMode.WARM_HANDOVER if handed_over else RestartMode.IN_PLACE
