"""`slackwater status --wait`: until a group is as its spec wants it, or all of many are, for scripts."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import aclosing
from typing import Final

from rich.markup import escape

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.adapters.cluster.snapshot import to_world
from slackwater.api.conditions import ConditionStatus
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.errors import NoSuchGroup, NotReached, WentWrong
from slackwater.cli.looking.looks import live_looks
from slackwater.cli.reaching.choice import Choice, Place, chosen
from slackwater.cli.reaching.cluster import cluster, read_group
from slackwater.cli.reaching.each import Outcome, each
from slackwater.cli.words.readiness import nothing_is_to_be_rolled_out, ready_condition, surplus
from slackwater.cli.words.standing import rollout_in_words
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import seconds
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import read_memory
from slackwater.core.world.observation import Unobserved
from slackwater.terminal import Terminal

_ENDED_BADLY: Final = {"Failed": "failed", "RolledBack": "was taken back", "RollingBack": "is being taken back"}
_READS_A_SECOND: Final = 50.0
"""Of all groups that are waited for together, at most; each is read once a second at most."""


async def wait_until_ready(context: str | None, place: Place, timeout_s: float | None) -> None:
    """Until every pod has the wanted version and is Ready; meanwhile a terminal shows how far it is.

    Raises WentWrong as soon as the rollout has failed, NotReached after `timeout_s`, NoSuchGroup where the group is
    deleted meanwhile, and what `read_group` raises.
    """
    last: ConsumerGroup | None = None
    left = ""
    try:
        async with asyncio.timeout(timeout_s), cluster(context) as api:
            await read_group(api, *place)
            async with aclosing(live_looks(api, *place)) as looks:
                with Terminal(stderr=True).status(f"waiting for {place.name}") as progress:
                    async for look in looks:
                        last, left = look.world.group, surplus(look.world)
                        progress.update(escape(f"{place.name} is {rollout_in_words(look.world, look.plan)}"))
                        if is_ready(last) and not left:
                            return
                        refuse_failed(last)
    except TimeoutError as error:
        raise _not_reached(place.name, timeout_s or 0.0, last, left) from error
    raise NoSuchGroup(f"ConsumerGroup {place.name} was deleted while it was waited for")


async def wait_for_each(choice: Choice, timeout_s: float | None) -> list[Outcome[bool]]:
    """Of many groups, asking the cluster only. What `wait_until_ready` raises for one is that one's outcome."""
    places = await chosen(choice)
    interval_s = max(1.0, len(places) / _READS_A_SECOND)
    deadline = time.monotonic() + (math.inf if timeout_s is None else timeout_s)
    async with cluster(choice.context) as api:

        async def act(place: Place) -> bool:
            last: ConsumerGroup | None = None
            left = ""
            while True:
                last = await _now(api, place, last)
                if is_ready(last) and not (left := await _left(api, place)):
                    return True
                refuse_failed(last)
                if time.monotonic() + interval_s > deadline:
                    raise _not_reached(place.name, timeout_s or 0.0, last, left)
                await asyncio.sleep(interval_s)

        return await each(places, act, "Ready", at_a_time=len(places))


async def _now(api: KubernetesApi, place: Place, last: ConsumerGroup | None) -> ConsumerGroup:
    """The last one again while the API server does not answer. Raises NoSuchGroup, NotInstalled and ClusterFailed."""
    if last is None:
        return parse_consumer_group((await read_group(api, *place)).group)
    try:
        found = await api.read(CONSUMER_GROUP, *place)
    except ClusterUnreachable:
        return last
    if found is None:
        raise NoSuchGroup(f"ConsumerGroup {place.name} was deleted while it was waited for")
    return parse_consumer_group(found)


async def _left(api: KubernetesApi, place: Place) -> str:
    """As `surplus`, of pods as they are now. Raises NoSuchGroup, NotInstalled and ClusterFailed."""
    try:
        snapshot, now = await read_group(api, *place), time.time()
    except ClusterUnreachable:
        return "its pods are not to be seen"
    not_looked = Unobserved(Reason.OBSERVATION_INCOMPLETE, "Kafka is not asked for this", now)
    return surplus(to_world(snapshot, not_looked, GroupHistory(), now))


def is_ready(group: ConsumerGroup) -> bool:
    """By the operator's word, which it cannot give while it does not see the group in Kafka. One that is paused is,
    too, where its pause holds nothing up: a StatefulSet that was adopted stays paused. What it says nothing of are pods
    that are to be scaled away, and have to end first (`surplus`)."""
    phase = _phase_of_this_generation(group)
    at_rest = phase == "Ready" or (phase == "Paused" and nothing_is_to_be_rolled_out(group.status))
    return at_rest and ready_condition(group.status).get("status") == ConditionStatus.TRUE


def refuse_failed(group: ConsumerGroup) -> None:
    """Raises WentWrong."""
    phase = _phase_of_this_generation(group)
    if phase in _ENDED_BADLY:
        why = read_memory(group.status).message or "no reason is given"
        raise WentWrong(f"the rollout of ConsumerGroup {group.name} {_ENDED_BADLY[phase]}: {why}")


def where_it_stands(group: ConsumerGroup, left: str = "") -> str:
    """In words, by the operator's; at rest, by its condition Ready. `left`: as `surplus`."""
    if not group.status.get("phase"):
        return "the operator has said nothing of it"
    if not (phase := _phase_of_this_generation(group)):
        return f"the operator has not taken up generation {group.metadata.generation} of it"
    told = ready_condition(group.status)
    if phase not in ("Ready", "NotReady", "Unknown") or told.get("status") in (None, ConditionStatus.TRUE):
        return f"it is {phase}, and {left}" if phase == "Ready" and left else f"it is {phase}"
    known = "it is not Ready" if told["status"] == ConditionStatus.FALSE else "it is not known whether it is"
    return f"{known} ({told.get('reason')}: {told.get('message')})"


def _not_reached(name: str, timeout_s: float, last: ConsumerGroup | None, left: str) -> NotReached:
    stands = "nothing is known of it" if last is None else where_it_stands(last, left)
    waited = f"ConsumerGroup {name} was not Ready within {seconds(timeout_s)}, {stands}"
    return NotReached(f"{waited}: slackwater why {name} says why")


def _phase_of_this_generation(group: ConsumerGroup) -> str:
    """Empty until the operator has looked at what was applied last."""
    current = group.status.get("observedGeneration") == group.metadata.generation
    return str(group.status.get("phase") or "") if current else ""
