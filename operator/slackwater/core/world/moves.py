"""Which offsets grew from one look at a group to the next."""

from __future__ import annotations

from collections.abc import Mapping

from slackwater.core.world.observation import TopicPartition


def moved_after(
    before: Mapping[TopicPartition, int],
    now: Mapping[TopicPartition, int],
    known: Mapping[TopicPartition, float],
    last_look: float | None,
) -> dict[TopicPartition, float]:
    """A moment after which each grew: that of the look before the one that saw it. `known`: up to then."""
    result = {partition: moment for partition, moment in known.items() if partition in now}
    for partition, offset in now.items():
        if last_look is not None and partition in before and offset > before[partition]:
            result[partition] = last_look
    return result
