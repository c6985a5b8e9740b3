"""`slackwater status --wait`: until a group is as its spec wants it, for scripts."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Final

from rich.markup import escape

from slackwater.api.conditions import ConditionStatus
from slackwater.cli.errors import NoSuchGroup, NotReached, WentWrong
from slackwater.cli.looking.looks import Look, live_looks
from slackwater.cli.reaching.cluster import cluster, read_group
from slackwater.cli.words.readiness import nothing_is_to_be_rolled_out, ready_condition, surplus
from slackwater.cli.words.standing import rollout_in_words
from slackwater.core.decision.words import seconds
from slackwater.terminal import Terminal

_ENDED_BADLY: Final = {"Failed": "failed", "RolledBack": "was taken back", "RollingBack": "is being taken back"}


async def wait_until_ready(context: str | None, namespace: str, name: str, timeout_s: float | None) -> None:
    """Until every pod has the wanted version and is Ready; meanwhile a terminal shows how far it is.

    Raises WentWrong as soon as the rollout has failed, NotReached after `timeout_s`, NoSuchGroup where the group is
    deleted meanwhile, and what `read_group` raises.
    """
    last: Look | None = None
    try:
        async with asyncio.timeout(timeout_s), cluster(context) as api:
            await read_group(api, namespace, name)
            async with aclosing(live_looks(api, namespace, name)) as looks:
                with Terminal(stderr=True).status(f"waiting for {name}") as progress:
                    async for last in looks:
                        progress.update(escape(f"{name} is {rollout_in_words(last.world, last.plan)}"))
                        if is_ready(last):
                            return
                        refuse_failed(last)
    except TimeoutError as error:
        stands = "nothing is known of it" if last is None else where_it_stands(last)
        waited = f"ConsumerGroup {name} was not Ready within {seconds(timeout_s or 0.0)}, {stands}"
        raise NotReached(f"{waited}: slackwater explain {name} says why") from error
    raise NoSuchGroup(f"ConsumerGroup {name} was deleted while it was waited for")


def is_ready(look: Look) -> bool:
    """By the operator's word, which it cannot give while it does not see the group in Kafka. One that is paused is,
    too, where its pause holds nothing up: a StatefulSet that was adopted stays paused. Pods that are to be scaled away
    have ended."""
    status, phase = look.world.group.status, _phase_of_this_generation(look)
    at_rest = phase == "Ready" or (phase == "Paused" and nothing_is_to_be_rolled_out(status))
    is_there = at_rest and ready_condition(status).get("status") == ConditionStatus.TRUE
    return is_there and not surplus(look.world)


def refuse_failed(look: Look) -> None:
    """Raises WentWrong."""
    group, phase = look.world.group, _phase_of_this_generation(look)
    if phase in _ENDED_BADLY:
        why = look.world.memory.message or "no reason is given"
        raise WentWrong(f"the rollout of ConsumerGroup {group.name} {_ENDED_BADLY[phase]}: {why}")


def where_it_stands(look: Look) -> str:
    """In words, by the operator's; at rest, by its condition Ready."""
    group = look.world.group
    if not group.status.get("phase"):
        return "the operator has said nothing of it"
    if not (phase := _phase_of_this_generation(look)):
        return f"the operator has not taken up generation {group.metadata.generation} of it"
    told = ready_condition(group.status)
    if phase not in ("Ready", "NotReady", "Unknown") or told.get("status") in (None, ConditionStatus.TRUE):
        left = f", and {words}" if phase == "Ready" and (words := surplus(look.world)) else ""
        return f"it is {phase}{left}"
    known = "it is not Ready" if told["status"] == ConditionStatus.FALSE else "it is not known whether it is"
    return f"{known} ({told.get('reason')}: {told.get('message')})"


def _phase_of_this_generation(look: Look) -> str:
    """Empty until the operator has looked at what was applied last."""
    group = look.world.group
    current = group.status.get("observedGeneration") == group.metadata.generation
    return str(group.status.get("phase") or "") if current else ""
