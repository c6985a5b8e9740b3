"""Every version that can be bad, with every change of the spec that goes with an image, disturbed at every moment.

Three pods. From every state that can be reached, with an abort or one fault in it, the group comes to an end, or to a
hold whose way on leads to what people ask for; the invariants hold on the way: never more than one pod away because
of us.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import cycle, islice
from typing import Any, Final
from zlib import crc32

import pytest
from _pytest.mark import ParameterSet

from tests.core.simulation.everywhere import (
    CHANGES,
    DISTURBANCES,
    VERSIONS,
    case,
    disturbed,
    overtaken,
    states,
    states_on_the_way_back,
    states_with_pod_0_made_first,
)

OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "Pause": {"onFailure": "Pause"},
    "Rollback": {"onFailure": "Rollback", "shows_subscriptions": True},
    "WarmHandover": {"onFailure": "Rollback", "strategy": "WarmHandover", "shows_subscriptions": True},
}
"""With the first one nobody sees what members ask for, as of a pattern; then what they own has to do."""


def ways() -> Iterator[ParameterSet]:
    """A change, a version, how it is rolled out and what disturbs it: of each, every moment is one play."""
    for change in CHANGES:
        for version in VERSIONS:
            for options in OPTIONS:
                if options == "WarmHandover" and change in IN_PLACE_ONLY:
                    continue
                for kind in KINDS:
                    way = (change, version, options, kind)
                    yield pytest.param(*way, marks=_marks(*way), id="-".join(way))


def _marks(change: str, version: str, options: str, kind: str) -> list[pytest.MarkDecorator]:
    explored = kind == "abort" and options == "Rollback" and change in EXPLORED
    always = explored and change == EXPLORED[0] and version in ALWAYS
    if not explored:
        return [pytest.mark.long, pytest.mark.exhaustive]
    return [pytest.mark.slow] + [pytest.mark.long] * (not always)


EXPLORED: Final = ("nothing else", "static to dynamic", "three members to two", "to Cooperative")
"""What `make explore` plays, and `make test` a part of the first; `make exhaustive` has the others: an hour."""
ALWAYS: Final = ("nameless", "never-consumes")
KINDS: Final = {"abort": ("abort",), "one fault": tuple(each for each in DISTURBANCES if each != "abort")}
IN_PLACE_ONLY: Final = ("static to dynamic", "dynamic to static", "to KIP-848")
"""Dynamic members and those of KIP-848 cannot be handed over: the API server refuses it."""


@pytest.mark.parametrize(("change", "version", "options", "kind"), list(ways()))
def test_from_every_state_there_is_a_way_to_an_end(
    change: str, version: str, options: str, kind: str, record_property: Any
) -> None:
    reached = list(states(case(change, version, OPTIONS[options])))
    record_property("states", len(reached))
    assert len(reached) > 3, "the change brings nothing about"
    for number, state in enumerate(reached):
        for disturbance in KINDS[kind]:
            run = deepcopy(state)
            try:
                disturbed(run, disturbance)
            except AssertionError as error:
                log = "\n".join(run.operator.log[-60:])
                raise AssertionError(f"{disturbance} in state {number} of {len(reached)}: {error}\n{log}") from error


def ways_of_two(versions: Sequence[str]) -> Iterator[ParameterSet]:
    for change in CHANGES:
        for version in versions:
            for options in ("Pause", "WarmHandover"):
                if options == "WarmHandover" and change in IN_PLACE_ONLY:
                    continue
                always = (change, version, options) == (EXPLORED[0], ALWAYS[0], "Pause")
                marks = [pytest.mark.slow] if always else [pytest.mark.long, pytest.mark.exhaustive]
                yield pytest.param(change, version, options, marks=marks, id=f"{change}-{version}-{options}")


@pytest.mark.parametrize(("change", "version", "options"), list(ways_of_two(VERSIONS)))
def test_a_fault_at_any_moment_of_a_way_back_keeps_nobody_from_its_end(
    change: str, version: str, options: str, record_property: Any
) -> None:
    """Of the faults each moment meets one, in turn: all of them would take days."""
    faults = cycle(KINDS["one fault"])
    for _ in range(crc32(f"{change} {version} {options}".encode()) % len(KINDS["one fault"])):
        next(faults)
    met = 0
    for run, fault in zip(states_on_the_way_back(case(change, version, OPTIONS[options])), faults, strict=False):
        number, met = met, met + 1
        try:
            disturbed(run, fault)
        except AssertionError as error:
            log = "\n".join(run.operator.log[-60:])
            raise AssertionError(f"{fault} in state {number} of the way back: {error}\n{log}") from error
    record_property("states", met)
    assert met > 3, "the abort brings nothing about"


@pytest.mark.parametrize(("change", "version", "options"), list(ways_of_two([each for each in VERSIONS if each])))
def test_the_next_version_leads_on_whenever_it_comes(
    change: str, version: str, options: str, record_property: Any
) -> None:
    given = case(change, version, OPTIONS[options])
    number = 0
    for reached in (states, states_with_pod_0_made_first):
        for run in reached(given):
            number += 1
            try:
                overtaken(run)
            except AssertionError as error:
                log = "\n".join(run.operator.log[-60:])
                raise AssertionError(f"in state {number}, {reached.__name__}: {error}\n{log}") from error
    record_property("states", number)
    assert number > 6, "the change brings nothing about"


FOUND: Final = (
    ("three members to two", "loses-a-thread", "Pause", 0, "pod 0's container ends"),
    ("other topics", "loses-a-thread", "WarmHandover", 0, "a conflict"),
    ("one member to three", "calls-itself-0", "Pause", 0, "pod 0's container ends"),
    ("three members to one", "calls-itself-0", "WarmHandover", 10, "the status is lost"),
    ("other topics", "never-consumes", "Pause", 0, "pod 0's node is lost"),
    ("static to dynamic", "never-consumes", "Pause", 2, "pod 0's node is lost"),
    ("to KIP-848", "nameless", "Pause", 5, "pod 2's container ends"),
    ("three members to two", "refunds-only", "Rollback", 0, "the StatefulSet is deleted"),
)
"""Ways that did not end well once, each with the number of its state: a working pod that went before one which lacked a
member; a topic that was given up before anybody was asked to read it; a way back that led on to a version which could
not take over; one that reads only what nobody read before, of which nobody can tell whether it gets on; a pod that
works and went before the second one of a version which consumes nothing; one that joined without its id, and was
restarted as if it had been refused; a fix whose first pod was given nothing, and which failed for it, since members
that others lacked for good were waited for."""


@pytest.mark.slow
@pytest.mark.parametrize(("change", "version", "options", "number", "disturbance"), FOUND)
def test_what_was_found_once(change: str, version: str, options: str, number: int, disturbance: str) -> None:
    disturbed(next(islice(states(case(change, version, OPTIONS[options])), number, None)), disturbance)


@pytest.mark.slow
def test_the_fix_of_a_pod_that_comes_and_goes_is_never_prepared_in_vain() -> None:
    """Each time that its replacement was prepared it had just come back, and each time that was taken back again."""
    run = next(iter(states(case("static to dynamic", "comes-and-goes", {"onFailure": "Pause"}))))
    disturbed(run, "abort")
    assert len([line for line in run.operator.log if "out of order" in line]) <= 1, run.operator.log
    assert run.phase.value == "Complete"


@pytest.mark.slow
def test_a_retry_after_a_way_back_that_lost_its_version_reads_what_the_version_reads() -> None:
    """The last replacement of the way back was never made; the other topic was read by nobody, after each retry."""
    given = case("other topics", "refunds-only", OPTIONS["WarmHandover"])
    disturbed(next(islice(states_on_the_way_back(given), 73, None)), "the StatefulSet is deleted")
