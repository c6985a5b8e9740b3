"""Random histories: edits of every field, commands, deletions, and what pods, nodes and Kafka do, 5 to 30 in a row.

`make check` plays a few, `make explore` some more, `make exhaustive` the rest of ten thousand. Each seed is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.model import ApiModel
from slackwater.api.pod_template import PodTemplate
from tests.core.simulation.deeds import DEEDS
from tests.core.simulation.edits import NEVER_EDITED
from tests.core.simulation.ends import End, end
from tests.core.simulation.histories import FEWEST, MOST, draw, play

QUICK, SLOW, ALL = 5, 60, 10_000
"""How many seeds are played by `make check`, by it and `make explore`, and by all."""
OF_THE_PROTOCOL: Final = ("protocol", "KAFKA_PARTITION_ASSIGNMENT_STRATEGY", "KAFKA_GROUP_PROTOCOL")
OF_A_CLASSIC_ONE: Final = ("KAFKA_SESSION_TIMEOUT_MS", "KAFKA_HEARTBEAT_INTERVAL_MS")
BLOCK: Final = 5
"""Seeds of one test: long enough that collecting them costs nothing."""


def blocks() -> Iterator[ParameterSet]:
    begin = 0
    while begin < ALL:
        size = BLOCK if begin < SLOW else 100
        marks = (
            () if begin < QUICK else pytest.mark.slow if begin < SLOW else (pytest.mark.long, pytest.mark.exhaustive)
        )
        yield pytest.param(range(begin, begin + size), marks=marks, id=f"{begin}-{begin + size - 1}")
        begin += size


def ended(seed: int, timing: int) -> End:
    history = draw(seed)
    try:
        run = play(history, timing)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, timing {timing}: {error}\n{history}") from error
    try:
        return end(run)
    except AssertionError as error:
        log = "\n".join(run.operator.log[-60:])
        raise AssertionError(f"seed {seed}, timing {timing}: {error}\n{history}\n{log}") from error


def in_force(of: End, other: End) -> list[dict[str, object]]:
    """What pods have. Where people ask for no protocol, a group keeps the one it has, or the one it began to get: in
    two plays that may be another one, and a session timeout of its own goes with a classic one."""
    kept: tuple[str, ...] = () if (of.wanted.get("protocol") or {}).get("target") else OF_THE_PROTOCOL
    if kept and profiles(of) != profiles(other):
        kept = (*kept, *OF_A_CLASSIC_ONE)
    return [{name: value for name, value in pod.items() if name not in kept} for pod in of.pods]


def profiles(of: End) -> list[tuple[object, ...]]:
    return [tuple(pod.get(name) for name in OF_THE_PROTOCOL) for pod in of.pods]


@pytest.mark.parametrize("seeds", list(blocks()))
def test_what_is_in_force_at_the_end_is_what_the_last_edits_say_twice_over(seeds: range) -> None:
    """Each history twice, with another order of things, and an operator that dies in one of three second plays."""
    for seed in seeds:
        first, second = ended(seed, 2 * seed), ended(seed, 2 * seed + 1)
        assert first.exists == second.exists, draw(seed)
        assert first.wanted != second.wanted or in_force(first, second) == in_force(second, first), draw(seed)


FOUND: Final = (
    "77/154 202/405 306/612 310/620 323/646 541/1082 717/1435 771/1543 824/1649 1278/2557 1363/2726 "
    "1423/2846 1453/2907 1542/3084 1558/3116 2046/4092 2153/4307 2267/4534 2312/4624 2453/4906 2591/5182 2902/5805 "
    "3553/7106 3883/7766 4028/8056 4240/8480 4332/8664 5070/10140 5111/10223 5176/10353 5210/10421 "
    "5681/11362 6647/13294 6663/13326 6753/13507 7556/15112 9029/18059 20757/41514 40859/81718 41236/82472 41673/83346 "
    "41902/83804 42430/84861 43709/87418 43581/87162 44529/89058"
)
"""Seeds that did not end well once, each with its timing."""


@pytest.mark.slow
@pytest.mark.parametrize("found", FOUND.split())
def test_what_was_found_once(found: str) -> None:
    """Replacements that were taken back again and again, of pods that come and go, or that take no instance id.

    A second pod away on a way back, or after a version that consumes nothing and was overtaken; such a version at the
    next pod, with `stableFor: 0s`; a pod that was known to consume nothing until a rebalance gave it other partitions,
    and was waited for no more. A working pod that was restarted as a fenced one, since somebody had removed its
    member; as one that was down, since the status was lost and the spec said another membership; or as one that was
    refused, which had joined without the id that it was given. Holds that no other version led on from.
    """
    seed, timing = found.split("/")
    ended(int(seed), int(timing))


@pytest.mark.parametrize("seed", range(4))
def test_a_history_is_its_seed(seed: int) -> None:
    """Nothing but the seeds decides: a failure can be played again."""
    assert draw(seed) == draw(seed)
    assert play(draw(seed), seed).operator.log == play(draw(seed), seed).operator.log


def test_histories_have_what_they_are_to_have() -> None:
    drawn = [draw(seed) for seed in range(400)]
    assert all(FEWEST <= len(history.steps) <= MOST for history in drawn)
    assert {step.name for history in drawn for step in history.steps} == DEEDS.keys()


def test_every_field_is_edited_or_it_says_why_not() -> None:
    drawn = [draw(seed) for seed in range(400)]
    changes = (
        changes
        for history in drawn
        for step in history.steps
        if "apply" in step.name or step.name == "edit"
        for changes in step.args
    )
    edited = {path for each in changes if isinstance(each, tuple) for change in each for path in _leaves(*change)}
    missing = set(_fields(ConsumerGroupSpec)) - edited - NEVER_EDITED.keys()
    assert not missing
    assert not NEVER_EDITED.keys() & edited


def _fields(model: type[ApiModel], before: str = "") -> Iterator[str]:
    """Paths of all fields that hold values; a pod template and what stands in lists are one each."""
    for name, field in model.model_fields.items():
        path = f"{before}{field.alias or name}"
        kinds = [kind for kind in _kinds(field.annotation) if issubclass(kind, ApiModel)]
        if not kinds or kinds[0] is PodTemplate:
            yield path
        else:
            yield from _fields(kinds[0], f"{path}.")


def _kinds(annotation: object) -> Iterator[type]:
    """The type, or those of a union."""
    if isinstance(annotation, type):
        yield annotation
    for each in getattr(annotation, "__args__", ()) if not isinstance(annotation, type) else ():
        yield from _kinds(each)


def _leaves(path: str, value: object) -> Iterator[str]:
    yield path
    if path.startswith("template"):
        yield "template"
    for each in value if isinstance(value, list) else ():
        yield from _leaves(path, each)
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(f"{path}.{name}", inner)
