"""What happens in histories: each deed by its name, as it is drawn and as it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from slackwater.api.annotations import ABORT, FORCE, PAUSE, PROMOTE, RESTART, RETRY
from tests.core.factories import BOOTSTRAP
from tests.core.simulation.edits import EDITS, GOOD, image
from tests.core.simulation.life import LifesRun, at

Args = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Deed:
    """`weight`: how often it is drawn, beside the others."""

    do: Callable[..., None]
    draw: Callable[[Random], Args] = lambda random: ()
    weight: float = 1.0


def _edit(run: LifesRun, changes: Any) -> None:
    run.outside.edit(changes)
    name = at(run.outside.wanted, "connectionRef.name")
    run.outside.bootstrap = "other:9092" if name == "other" else BOOTSTRAP


def _draw_edit(random: Random) -> Args:
    return (EDITS[random.choice(tuple(EDITS))](random),)


def _draw_version(random: Random) -> Args:
    """One that works, or not; now and then with one other field in the same edit."""
    with_it = EDITS[random.choice(tuple(EDITS))](random) if random.random() < 0.3 else ()
    return ((*with_it, *EDITS["template"](random)),)


def _draw_good(random: Random) -> Args:
    return (image(random.choice(GOOD)),)


def _ordinal(random: Random) -> Args:
    return (random.randrange(3),)


def _node(random: Random) -> Args:
    return (random.randrange(3), random.random() < 0.7, random.random() < 0.5)


def _drain(run: LifesRun) -> None:
    for ordinal in list(run.outside.set.pods):
        run.outside.evict(ordinal)


def _lose_node(run: LifesRun, ordinal: int, power: bool, evicted: bool) -> None:
    run.outside.lose_node(ordinal, power=power, evicted=evicted)


def _move_coordinator(run: LifesRun) -> None:
    """Two seconds; then every member has a whole session again."""
    run.outside.set_kafka(reachable=False)
    run.for_seconds(2)
    run.outside.set_kafka(reachable=True)


def _visit(run: LifesRun) -> None:
    """Somebody's console joins and leaves: two rebalances."""
    run.outside.foreign_member(there=True)
    run.for_seconds(3)
    run.outside.foreign_member(there=False)


def _limit(run: LifesRun, room: int | None) -> None:
    run.outside.room = room


def _conflict(run: LifesRun) -> None:
    run.outside.conflicts += 1


def _stop_operator(run: LifesRun) -> None:
    run.operator_runs = False


def _start_operator(run: LifesRun) -> None:
    if not run.operator_runs:
        run.lifes_operator.restart()
    run.operator_runs = True


def _lose_status(run: LifesRun) -> None:
    """Not of an object that goes: which members are its own stands there alone, and others are never taken out."""
    if not run.outside.deleting:
        run.outside.lose_status()


DEEDS: Final[Mapping[str, Deed]] = {
    "edit": Deed(_edit, _draw_edit, 14),
    "apply": Deed(_edit, _draw_version, 7),
    "apply what works": Deed(_edit, _draw_good, 3),
    "pause": Deed(lambda run: run.outside.pause()),
    "resume": Deed(lambda run: run.outside.resume()),
    "promote": Deed(lambda run: run.outside.promote()),
    "abort": Deed(lambda run: run.outside.abort(), weight=2),
    "retry": Deed(lambda run: run.outside.retry(), weight=2),
    "force": Deed(lambda run: run.outside.force(), weight=0.5),
    "restart": Deed(lambda run: run.outside.restart()),
    "remove a command": Deed(
        lambda run, name: run.outside.remove_command(name),
        lambda random: (random.choice((PAUSE, PROMOTE, ABORT, RETRY, FORCE, RESTART)),),
    ),
    "delete": Deed(lambda run: run.outside.delete_object(), weight=0.7),
    "create": Deed(lambda run: run.outside.make_object(), weight=1.4),
    "delete the StatefulSet": Deed(lambda run: run.outside.delete_set(), weight=0.7),
    "delete a pod": Deed(lambda run, ordinal: run.outside.evict(ordinal), _ordinal),
    "drain all nodes": Deed(_drain, weight=0.4),
    "a container ends": Deed(lambda run, ordinal: run.outside.crash(ordinal), _ordinal),
    "a node is lost": Deed(_lose_node, _node),
    "nodes are back": Deed(lambda run: run.outside.nodes_are_back()),
    "room on nodes": Deed(_limit, lambda random: (random.choice((1, 2, 3, None, None)),)),
    "Kafka is away": Deed(lambda run: run.outside.set_kafka(reachable=False)),
    "Kafka is back": Deed(lambda run: run.outside.set_kafka(reachable=True)),
    "the coordinator moves": Deed(_move_coordinator),
    "a member is taken out": Deed(lambda run, ordinal: run.outside.kick(ordinal), _ordinal),
    "a stranger comes": Deed(lambda run: run.outside.foreign_member(there=True), weight=0.7),
    "a stranger leaves": Deed(lambda run: run.outside.foreign_member(there=False), weight=0.7),
    "a visit": Deed(_visit, weight=0.7),
    "more partitions": Deed(lambda run: run.outside.grow(2), weight=0.5),
    "the operator stops": Deed(_stop_operator),
    "the operator starts": Deed(_start_operator),
    "the operator restarts": Deed(lambda run: run.lifes_operator.restart(), weight=2),
    "the StatefulSet controller stops": Deed(lambda run: run.outside.stop_controller(), weight=0.7),
    "the StatefulSet controller starts": Deed(lambda run: run.outside.start_controller(), weight=0.7),
    "a conflict": Deed(_conflict),
    "the status is lost": Deed(_lose_status, weight=0.7),
}


def calm_down(run: LifesRun) -> None:
    """Nothing happens any more, and what was away is back."""
    outside = run.outside
    outside.resume()
    outside.set_kafka(reachable=True)
    outside.foreign_member(there=False)
    outside.start_controller()
    outside.nodes_are_back()
    outside.room, outside.conflicts = None, 0
    _start_operator(run)
