"""`slackwater why`: why a group waits, or what it does, in one paragraph. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from slackwater.api.annotations import PAUSE
from slackwater.api.conditions import ConditionType
from slackwater.cli.pictures.pod_rows import MISSING, PodRow, pod_rows
from slackwater.cli.words.explanation import Explanation, Outcome, explain
from slackwater.cli.words.fleets import TurnStory
from slackwater.cli.words.proofs import proof_awaited
from slackwater.cli.words.protocol import protocol_in_words, refused
from slackwater.cli.words.readiness import ready_condition
from slackwater.cli.words.standing import Standing, alarms, rollout_in_words, standing_of, taken_up, where_to_read
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import listing
from slackwater.core.status.conditions import verdicts
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.world import World
from slackwater.terminal import one_line

Json = dict[str, Any]


def paragraph(world: World, plan: Decision, turn: TurnStory | None = None) -> str:
    """One, whatever line breaks stand in an annotation or a message. `turn`: what the fleets' objects show, where it
    waits for its turn; None: that is not known."""
    return one_line(" ".join(f"{sentence.rstrip('.')}." for sentence in _sentences(world, plan, turn)))


def paragraph_and_pointer(world: World, plan: Decision, turn: TurnStory | None = None) -> str:
    """For people; and below it where to read more, on a line of its own, to be copied."""
    refusal, standing = refused(world, plan), standing_of(world, explain(world, plan))
    reason = standing.reason or standing.unready or (refusal.reason if refusal is not None else "")
    words = paragraph(world, plan, turn)
    return f"{words}\n{where_to_read(reason)}" if reason else words


def explain_document(world: World, plan: Decision, turn: TurnStory | None = None) -> Json:
    """Fields are added to it, never renamed. `reason`: of the hold; empty where nothing holds the group. `turn`: null
    where it waits for none, or that cannot be read."""
    standing = standing_of(world, explain(world, plan))
    return {
        "version": 1,
        "namespace": world.group.namespace,
        "name": world.group.name,
        "phase": world.group.status.get("phase"),
        "holds": standing.holds,
        "reason": standing.reason,
        "words": paragraph(world, plan, turn),
        "turn": None if turn is None else turn.document,
    }


def _sentences(world: World, plan: Decision, turn: TurnStory | None) -> Iterator[str]:
    explanation = explain(world, plan)
    standing = standing_of(world, explanation)
    yield from _of_the_operator(world)
    is_paused = PAUSE in world.group.metadata.annotations
    if plan.memory.phase.under_way or standing.holds or is_paused or world.group.metadata.is_being_deleted:
        yield from _of_the_phase(world, plan, standing)
    if standing.reason == Reason.AWAITING_TURN and turn is not None:
        yield from turn.sentences
    elif standing.holds:
        yield f"It waits, {standing.reason}: {standing.words}"
        if standing.reason == Reason.MEMBER_NOT_REJOINED and (proof := proof_awaited(world, plan)):
            yield proof
    elif explanation.outcome is Outcome.ACT:
        yield f"Nothing blocks it; next: {standing.words}"
    else:
        yield f"{world.group.name}: {standing.words}"
    if not world.group.metadata.is_being_deleted:
        yield from _of_what_goes_on(world, plan, explanation)
    if isinstance(world.kafka, Unobserved):
        yield from _of_what_is_not_seen(world, world.kafka, standing)


def _of_what_goes_on(world: World, plan: Decision, explanation: Explanation) -> Iterator[str]:
    standing = standing_of(world, explanation)
    if explanation.afterwards:
        yield f"After that, {explanation.afterwards}"
    rows = pod_rows(world, plan, explanation)
    if down := [row for row in rows if not row.ready and row.name not in standing.words]:
        yield _why_not_made(world, down) or f"Not Ready: {listing(map(_not_ready, down))}"
    if explanation.outcome is Outcome.NOTHING:
        unread = (gate.message for gate in explanation.gates if gate.reason == Reason.PARTITIONS_NOT_OWNED)
        yield from (f"{words[:1].upper()}{words[1:]}" for words in unread if not _is_in(standing, words))
    yield from _of_the_protocol(world, plan, standing)
    for label, message in alarms(world, explanation):
        yield f"{label}: {message}"


def _of_the_phase(world: World, plan: Decision, standing: Standing) -> Iterator[str]:
    """As `kubectl get` shows it; a pause hides that of the rollout there."""
    name, rollout = world.group.name, _rollout(world, plan, standing)
    if world.group.metadata.is_being_deleted:
        yield f"{name} is {rollout}"
    elif plan.memory.phase is RolloutPhase.NONE:
        phase = world.group.status.get("phase")
        yield f"{name} is {phase}, {rollout}" if phase else f"{name}: {rollout}"
    elif PAUSE in world.group.metadata.annotations:
        yield f"{name} is Paused, its rollout {rollout}"
    else:
        yield f"{name} is {rollout}"


def _rollout(world: World, plan: Decision, standing: Standing) -> str:
    why, phase = plan.memory.message, plan.memory.phase
    is_said = bool(why) and not phase.under_way and _is_in(standing, why)
    return phase.value if is_said and not world.group.metadata.is_being_deleted else rollout_in_words(world, plan)


def _of_the_protocol(world: World, plan: Decision, standing: Standing) -> Iterator[str]:
    if (refusal := refused(world, plan)) is not None:
        why = "" if _is_in(standing, refusal.message) else f": {refusal.message}"
        yield f"Its protocol stays {protocol_in_words(world, plan)}, {refusal.reason}{why}"


def _of_what_is_not_seen(world: World, kafka: Unobserved, standing: Standing) -> Iterator[str]:
    is_said = _is_in(standing, kafka.message)
    why = "" if is_said else f" ({kafka.message})"
    if world.group.status:
        yield f"From here the group cannot be seen{why}, so this is what the operator says"
    elif not is_said:
        yield f"From here the group cannot be seen{why}"


def _is_in(standing: Standing, sentence: str) -> bool:
    """It has been said, and is not said once more."""
    return sentence.rstrip(".") in standing.words


def _of_the_operator(world: World) -> Iterator[str]:
    group = world.group
    if not group.status:
        yield f"The operator has not taken {group.name} up yet: see that it runs, and that it watches {group.namespace}"
    elif not taken_up(group):
        yield f"The operator has not taken up generation {group.metadata.generation} of {group.name} yet"


def _why_not_made(world: World, down: Sequence[PodRow]) -> str:
    """Why a pod is missing is said by Events, which the operator reads; empty where it says no more than we see."""
    told = ready_condition(world.group.status)
    if told.get("reason") != Reason.NOT_ALL_READY or not taken_up(world.group) or MISSING not in {r.note for r in down}:
        return ""
    from_here = next(each for each in verdicts(world, None) if each.type is ConditionType.READY)
    said = str(told.get("message"))
    return f"{said[:1].upper()}{said[1:]}" if said != from_here.message else ""


def _not_ready(row: PodRow) -> str:
    return f"{row.name} ({row.note})" if row.note else row.name
