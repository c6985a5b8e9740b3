"""Explores what a change of version meets: one disturbance at each distinct state of the undisturbed rollout.

States are told apart by what people and the operator could see: the phase, what each pod runs and how it is, how far
the step in hand is, and the group. From a deep copy of each, the disturbance goes its own way to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from slackwater.core.world.memory import RolloutPhase
from tests.core.coordinator.fleet import state_seen
from tests.core.simulation import ends
from tests.core.simulation.deeds import calm_down
from tests.core.simulation.edits import BAD, JOINS_WRONGLY, LOSES_A_THREAD, OF_TWO, WORKS_WRONGLY, image
from tests.core.simulation.life import Changes, Life, LifesRun

WITHIN_S: Final = 150.0
"""How long an undisturbed rollout is watched for new states: some never end by themselves."""
FAULT_S: Final = 8.0
"""How long a fault lasts that does not end by itself."""


@dataclass(frozen=True, slots=True)
class Case:
    """From `old` with `spec` to `new` with what else changes in the same edit."""

    old: str
    spec: Changes
    new: str
    changes: Changes
    options: Mapping[str, Any]


Disturbance = Callable[[LifesRun], None]


def _kafka_away(run: LifesRun) -> None:
    run.outside.set_kafka(reachable=False)


def _node_lost(ordinal: int) -> Disturbance:
    return lambda run: run.outside.lose_node(ordinal, power=True, evicted=True)


def _kicked(ordinal: int) -> Disturbance:
    return lambda run: run.outside.kick(ordinal)


DISTURBANCES: Final[Mapping[str, Disturbance]] = {
    "abort": lambda run: run.outside.abort(),
    "the operator restarts": lambda run: run.lifes_operator.restart(),
    "the status is lost": lambda run: run.outside.lose_status(),
    "Kafka is away": _kafka_away,
    "a stranger comes": lambda run: run.outside.foreign_member(there=True),
    "the controller stops": lambda run: run.outside.stop_controller(),
    "the StatefulSet is deleted": lambda run: run.outside.delete_set(),
    "a conflict": lambda run: setattr(run.outside, "conflicts", 1),
    **{f"pod {ordinal} is deleted": lambda run, o=ordinal: run.outside.evict(o) for ordinal in range(3)},  # type: ignore[misc]
    **{f"pod {ordinal}'s container ends": lambda run, o=ordinal: run.outside.crash(o) for ordinal in range(3)},  # type: ignore[misc]
    **{f"pod {ordinal}'s node is lost": _node_lost(ordinal) for ordinal in range(3)},
    **{f"pod {ordinal}'s members are taken out": _kicked(ordinal) for ordinal in range(3)},
}
CHANGES: Final[Mapping[str, tuple[str, Changes, str, Changes]]] = {
    "nothing else": ("v1", (), "v2", ()),
    "topics more": ("orders-only", (), "orders-and-refunds", (("topics", ["orders", "refunds"]),)),
    "topics less": (
        "orders-and-refunds",
        (("topics", ["orders", "refunds"]),),
        "orders-only",
        (("topics", ["orders"]),),
    ),
    "other topics": ("orders-only", (), "refunds-only", (("topics", ["refunds"]),)),
    "static to dynamic": ("v1", (), "v2", (("membership", "Dynamic"),)),
    "dynamic to static": ("v1", (("membership", "Dynamic"),), "v2", (("membership", "Static"),)),
    "one member to three": ("v1", (), "three-threads", ()),
    "three members to two": ("three-threads", (), "two-threads", ()),
    "three members to one": ("three-threads", (), "v2", ()),
    "container renamed": ("v1", (), "v2", (("client.container", "worker"),)),
    "to Cooperative": ("v1", (("client", {"library": "Java", "version": "4.3"}),), "v2", ()),
    "to KIP-848": ("v1", (), "v2", ()),
}
_FIXES: Final = {1: "v3", 2: "two-b", 3: "three-threads"}
"""By the members of a pod: what works, and is none of the versions above."""
_TARGETS: Final[Mapping[str, tuple[str, Changes]]] = {
    "to Cooperative": ("Eager", (("protocol.target", "Cooperative"),)),
    "to KIP-848": ("Eager", (("protocol.target", "Consumer"), ("timeouts.session", None))),
}


def case(change: str, version: str, options: Mapping[str, Any]) -> Case:
    """`version`: what the image really is; empty: the one that works."""
    old, spec, works, changes = CHANGES[change]
    if change in _TARGETS:
        origin, changes = _TARGETS[change]
        spec = (*spec, ("protocol.target", origin))
    name = next((value for path, value in changes if path == "client.container"), "consumer")
    members = next(value for path, value in image(works) if path == "membersPerPod")
    new = OF_TWO.get(version, version) if members == 2 else version
    new = new or works
    edit = (*changes, *image(new, name), ("membersPerPod", members))
    if version == LOSES_A_THREAD:  # seen only by who watches until its session has ended
        options = {**options, "stableFor": "22s"}
    return Case(old, spec, new, edit, options)


VERSIONS: Final = ("", *BAD, *JOINS_WRONGLY, LOSES_A_THREAD, *WORKS_WRONGLY)


def at_rest(case: Case) -> LifesRun:
    run = LifesRun(Life(replicas=3, **case.options))
    assert run.outside.edit((*case.spec, *image(case.old)))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(8)
    return run


def states(case: Case) -> Iterator[LifesRun]:
    """One run for each distinct state that the undisturbed rollout comes to, each a copy of its own."""
    run = at_rest(case)
    assert run.outside.edit(case.changes), "the API server refuses it"
    yield from _distinct(run, set())


def states_on_the_way_back(case: Case) -> Iterator[LifesRun]:
    """One run for each distinct state after an abort, whichever state of the rollout it met."""
    seen = set[Hashable]()
    for run in states(case):
        run.operator.say("-- abort")
        DISTURBANCES["abort"](run)
        yield from _distinct(run, seen)


def states_with_pod_0_made_first(case: Case) -> Iterator[LifesRun]:
    """The same where pod 0 is down as the version begins: it gets it first, out of order."""
    run = next(states(case))
    run.operator.say("-- pod 0's container ends")
    run.outside.crash(0)
    yield from _distinct(run, set())


def _distinct(run: LifesRun, seen: set[Hashable]) -> Iterator[LifesRun]:
    until = run.now + WITHIN_S
    while run.now < until:
        if (state := _state(run)) not in seen:
            seen.add(state)
            yield _copy(run)
        run.step()
        if not run.phase.under_way and not run.acting and run.now > until - WITHIN_S + 5:
            return


def _copy(run: LifesRun) -> LifesRun:
    """All but what never changes: the worlds that were seen, and what was decided of them."""
    operator = run.operator
    kept = [*operator.acted_upon, operator.last_world, operator.last, operator.history]
    return deepcopy(run, {id(each): each for each in kept})


def _state(run: LifesRun) -> Hashable:
    outside, memory = run.outside, run.outside.memory
    group = outside.broker.group
    pods = sorted(
        (
            pod.name,
            outside.image(pod),
            pod.ready,
            pod.gone_at is not None,
            pod.started_at is not None,
            bool(pod.processes) and all(group.member(process.member_id) for process in pod.processes),
        )
        for pod in outside.pods
    )
    sets = tuple((each.exists, each.partition, each.replicas, each.start) for each in outside.sets.values())
    step = memory.step.ordinal if memory.step is not None else None
    upgrade = memory.upgrade.step if memory.upgrade is not None else 0
    handover = None if memory.handover is None else type(memory.handover).__name__
    return memory.phase, step, upgrade, handover, sets, tuple(pods), state_seen(group, len(outside.broker.partitions))


def disturbed(run: LifesRun, disturbance: str) -> ends.End:
    """It ends, or goes on by the way that the page of its reason names; AssertionError where it does neither."""
    return _ends(run, disturbance, DISTURBANCES[disturbance])


def overtaken(run: LifesRun) -> ends.End:
    """The same where the next version comes, which works."""
    return _ends(run, "the fix", _fix)


def _fix(run: LifesRun) -> None:
    members = run.outside.wanted.get("membersPerPod", 1)
    container = run.outside.wanted["template"]["spec"]["containers"][0]["name"]
    assert run.outside.edit(image(_FIXES[members], container)), "the API server refuses it"


def _ends(run: LifesRun, what: str, happens: Disturbance) -> ends.End:
    run.operator.say(f"-- {what}")
    happens(run)
    run.for_seconds(FAULT_S)
    calm_down(run)
    return ends.end(run)
