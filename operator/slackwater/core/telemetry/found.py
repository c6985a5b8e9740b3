"""Places in the group of which nothing is known yet, as when the operator has just started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from slackwater.api.consumer_group import Membership
from slackwater.api.telemetry.words import RestartMode, RestartReason
from slackwater.core.members.presence import Presence, presence
from slackwater.core.telemetry.causes import with_reason
from slackwater.core.telemetry.episodes import episode_id
from slackwater.core.telemetry.holdings import Holding
from slackwater.core.telemetry.lives import Episode, Life, life_of
from slackwater.core.telemetry.sight import Sight
from slackwater.core.world.pods import Pod


def places_to_take_up(sight: Sight, held: Mapping[str, Holding] | None) -> list[str]:
    step = sight.world.memory.step
    in_hand = list(step.members_before) if step is not None else []
    return list(dict.fromkeys([*(held or ()), *in_hand]))


def take_up(sight: Sight, place: str, held: Mapping[str, Holding] | None, ended: str | None) -> Life | Episode | None:
    """A place of which nothing is known yet: somebody works there, somebody has ended, or it cannot be told."""
    ordinal = sight.world.ordinal_of(place)
    if held is None or ordinal is None or ordinal >= sight.world.replicas:
        return None
    holding, pod = held.get(place), sight.world.pod(ordinal)
    found = _found_away(sight, place, ordinal, holding)
    if found is not None and found.id != ended:
        return found
    if holding is None or pod is None or pod.terminating or pod.started_at is None:
        return None
    works = presence(sight.world, pod) is Presence.YES
    return life_of(holding, pod, pod.started_at, sight.world.now) if works else None


def _found_away(sight: Sight, place: str, ordinal: int, holding: Holding | None) -> Episode | None:
    """A static member that has ended: nothing runs in its pod, or the restart in hand has replaced it. Since when it is
    away is not known; under the same id an operator that saw it end has told that."""
    world = sight.world
    if world.group.spec.membership is Membership.DYNAMIC:
        return None
    pod = world.pod(ordinal)
    ended, nothing_runs = _restarted_in_hand(sight, place, ordinal, pod), pod is None or pod.started_at is None
    if holding is not None and nothing_runs and not _is_of_the_pod(holding, pod):
        ended = holding.member_ids
    if not ended:
        return None
    found = Episode(
        id=episode_id(sight, place, ended),
        place=place,
        ordinal=ordinal,
        instance_id=place,
        pod=world.pod_name(ordinal),
        reason=RestartReason.UNKNOWN,
        mode=RestartMode.IN_PLACE,
        member_ids=ended,
        partitions=holding.partitions if holding is not None and holding.member_ids == ended else None,
        unwatched=True,
        spec_generation=world.group.metadata.generation,
    )
    if pod is not None and pod.restarts and not nothing_runs:  # when the run that came after it started, is not known
        found = replace(found, pod_uid=pod.uid, ran_since=pod.started_at)
    return with_reason(sight, found)


def _is_of_the_pod(holding: Holding, pod: Pod | None) -> bool:
    """Whether it joined when the pod was there: a process may be in the group before its node reports that it runs."""
    joined_at = holding.joined_by(holding.member_ids)
    if pod is None or pod.ended_at is not None or joined_at is None:
        return False
    return joined_at >= pod.created_at


def _restarted_in_hand(sight: Sight, place: str, ordinal: int, pod: Pod | None) -> frozenset[str]:
    """The member that the restart in hand has ended in this place."""
    memory = sight.world.memory
    step = memory.step
    if step is None or ordinal not in step.ordinals or place not in step.members_before or not memory.phase.under_way:
        return frozenset()
    replaced = pod is None or step.is_followed_by(pod)
    return frozenset((step.members_before[place],)) if replaced else frozenset()
