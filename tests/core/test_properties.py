"""What holds of every decision, whatever the world: of worlds of any kind, and of those that a simulation reaches."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from slackwater.core.decision.acts import Act, DeletePod, ReleaseMembers, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.plan import plan
from slackwater.core.rollout.candidates import known_down, out_of_the_group, unready_at_work
from slackwater.core.rollout.gates import first_refusal
from slackwater.core.status.compose import compose_status
from slackwater.core.world.history import advance
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, read_memory, write_memory
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.recording import read_world, write_world
from slackwater.core.world.turn import TurnStanding
from slackwater.core.world.world import World
from tests.core.simulation import chance
from tests.core.worlds import worlds

A_MOMENT_S = 0.001


@st.composite
def reached(draw: st.DrawFn) -> World:
    """A world in which the operator of a simulation has decided to do something."""
    seed = draw(st.integers(0, 10**6))
    run = chance.draw_run(seed)
    chance.trouble(run, seed)
    return draw(st.sampled_from(run.operator.acted_upon))


def persisted(memory: RolloutMemory) -> RolloutMemory:
    """As it comes back from the API server."""
    return read_memory(json.loads(json.dumps({"rollout": write_memory(memory), "commands": dict(memory.commands)})))


def a_moment_later(world: World, memory: RolloutMemory) -> World:
    """The same world with the decision's memory written down, looked at once more."""
    kafka = world.kafka
    if isinstance(kafka, GroupObservation):
        kafka = replace(kafka, observed_at=max(world.now, kafka.observed_at) + A_MOMENT_S)
        return replace(world, memory=persisted(memory), kafka=kafka, history=advance(world.history, kafka))
    return replace(world, memory=persisted(memory))


def same_act(one: Act | None, other: Act | None) -> bool:
    if isinstance(one, WriteWorkload) and isinstance(other, WriteWorkload):
        return replace(one, ordinal=other.ordinal) == other
    return one == other


def is_spaced_out(decided: Decision) -> bool:
    """A release that is remembered as done is not done again for some seconds, though a crash may have come before."""
    return isinstance(decided.act, ReleaseMembers)


def check_gates(world: World, decided: Decision) -> None:
    """A disruptive act only when every gate holds, and on no pod but the one that is named."""
    act = decided.act
    event(f"disruptive: {act is not None and act.disruptive}, hold: {decided.hold is not None}")
    if not isinstance(act, WriteWorkload | DeletePod) or not act.disruptive or act.ordinal is None:
        return  # nothing is restarted, or all pods are stopped at once on purpose
    if isinstance(act, DeletePod) and not decided.memory.phase.under_way:
        return  # its consumer cannot join any more
    assert world.workload is not None
    step = world.memory.step if decided.memory.target_hash == world.memory.target_hash else None
    upon = replace(world, memory=replace(decided.memory, step=step))
    down, out = known_down(upon, world.workload), out_of_the_group(upon, world.workload)
    is_out = isinstance(act, DeletePod) and act.ordinal in out
    assert first_refusal(upon, down, who_is_out=is_out) is None
    pod = world.pod(act.ordinal)
    assert pod is not None
    assert decided.memory.step is not None
    assert (decided.memory.step.ordinal, decided.memory.step.started_at) == (act.ordinal, world.now)
    if isinstance(act, DeletePod):
        assert act.ordinal in down | unready_at_work(upon, world.workload)
        assert act.uid == pod.uid
    elif not down:
        assert act.ordinal == max(outdated.ordinal for outdated in world.outdated)


def check_turn(world: World, decided: Decision) -> None:
    """In a fleet nobody who works is taken away by a rollout without a turn that is written down; and without a fleet
    nothing is said of turns."""
    act, standing = decided.act, world.turn.standing
    before, after = world.memory.turn, decided.memory.turn
    event(f"turn: {standing}, given: {after is not None and after.is_held and before != after}")
    if standing is TurnStanding.NO_FLEET:
        assert after is None or after.asked_at == (before.asked_at if before is not None else None)
        assert decided.hold is None or decided.hold.reason is not Reason.AWAITING_TURN
        return
    if not isinstance(act, WriteWorkload | DeletePod) or not act.disruptive or act.ordinal is None:
        return
    if decided.memory.phase is not RolloutPhase.PROGRESSING or world.workload is None:
        return
    upon = replace(world, memory=replace(decided.memory, step=world.memory.step))
    if act.ordinal in known_down(upon, world.workload) and isinstance(act, DeletePod):
        return
    assert after is not None
    assert after.is_held
    assert standing in (TurnStanding.CALLED, TurnStanding.HAS)


def check_others(world: World, decided: Decision) -> None:
    """Nothing is done to a group in Kafka that another ConsumerGroup has."""
    if any(claim.since is not None and claim.since < world.now - 3600 for claim in world.claims):
        assert decided.act is None


def check_repetition(world: World, decided: Decision) -> None:
    """The same world gives the same plan; so does one that was recorded, or whose status was written before a crash."""
    assert plan(world) == decided
    assert plan(read_world(json.loads(json.dumps(write_world(world))))) == decided
    if decided.act is not None and not is_spaced_out(decided):
        assert same_act(decided.act, plan(a_moment_later(world, decided.memory)).act)
    status = json.loads(json.dumps(compose_status(world, decided, {})))
    assert compose_status(world, decided, status) == status


def check_progress(world: World, decided: Decision) -> None:
    """A world that stops changing comes to an act, a reason or an end."""
    for _ in range(6):
        if decided.act is not None or decided.memory == world.memory:
            break
        world = replace(world, memory=decided.memory)
        decided = plan(world)
    assert decided.act is not None or decided.memory == world.memory
    assert decided.act is not None or decided.hold is not None or not decided.memory.phase.under_way


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(worlds())
def test_any_world(world: World) -> None:
    decided = plan(world)
    check_gates(world, decided)
    check_turn(world, decided)
    check_others(world, decided)
    check_repetition(world, decided)
    check_progress(world, decided)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(reached())
def test_worlds_that_a_simulation_reaches(world: World) -> None:
    decided = plan(world)
    check_gates(world, decided)
    check_repetition(world, decided)
