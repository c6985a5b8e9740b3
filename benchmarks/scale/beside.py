"""The operator beside its twin in Go, in turn: passes that find nothing to do, groups created, and all of them changed.

Each writes to an API server of its own, of one program. In the end both servers have to hold the same objects: whoever
does less work than the other is not compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.figures import percentiles
from benchmarks.scale import sides
from benchmarks.scale.passes import ROUND_S, ROUNDS, at_rest, passes_a_cpu_second
from benchmarks.scale.recorded import NAMESPACE, NotAtRest, Recorded, name_of
from benchmarks.scale.sides import Process, Server, ask, wait_until
from slackwater.api.annotations import TEMPLATE_HASH
from slackwater.api.errors import SlackwaterError

Json = dict[str, Any]
Starts = Callable[[Server], AbstractContextManager[Process]]
Sample = tuple[float, float]
"""When, and how much CPU time had been used by then."""

QUIET_S: Final = 20.0
"""Without a write: longer than between two looks at a group at rest, after each of which the operator may have more to
do. Processor time after the last write is not counted."""
SETTLES_S: Final = 0.5
WITHIN_S: Final = 1_800.0
_LEAST: Final = 0.01
"""Seconds that the kernel counts."""
_WRITES: Final = ("PATCH", "POST", "PUT", "DELETE")
_COMPARED: Final = ("statefulsets", "services", "poddisruptionbudgets")
_NOT_COUNTED: Final = ("Event",)
"""The operator says what it does; its twin does not."""


class Differ(SlackwaterError):
    """The two have not done the same."""


@dataclass(frozen=True, slots=True)
class Phase:
    """Until all groups had their objects, their status had seen them, and nothing was written any more."""

    cpu_seconds: float
    p50_seconds: float
    p99_seconds: float
    """Of one group, until its StatefulSet is there and its status has seen its spec."""
    writes: int
    reads: int


@dataclass(frozen=True, slots=True)
class Played:
    created: Phase
    changed: Phase
    rss_mib: float
    """Of the whole process, at rest after both."""
    counts: Mapping[str, int]
    """Objects by kind."""


def compared(program: Path, groups: int, pods: int, rounds: int) -> Json:
    """All figures. Raises Differ, and TimeoutError."""
    starts: dict[str, Starts] = {"ours": sides.ours, "twin": partial(sides.twin, program=program)}
    played: dict[str, list[Played]] = {name: [] for name in starts}
    for number in range(rounds):
        manifests = {}
        for name in in_turn(list(starts), number):
            found, manifests[name] = _play(starts[name], groups, pods)
            played[name].append(found)
        same_work(manifests["ours"], manifests["twin"])
        same_counts(played["ours"][-1].counts, played["twin"][-1].counts)
    return {
        "groups": groups,
        "pods": pods,
        **{name: [asdict(each) for each in those] for name, those in played.items()},
        **ratios(played["ours"], played["twin"]),
    }


def in_turn(names: Sequence[str], number: int) -> list[str]:
    """Who comes first changes from round to round."""
    return [*names[number % len(names) :], *names[: number % len(names)]]


def ratios(ours: Sequence[Played], twin: Sequence[Played]) -> dict[str, float]:
    """Of medians; above 1 where the twin takes less."""

    def ratio(of: Callable[[Played], float]) -> float:
        return round(median(map(of, ours)) / max(median(map(of, twin)), _LEAST), 2)

    return {
        "create_cpu_ratio": ratio(lambda each: each.created.cpu_seconds),
        "change_cpu_ratio": ratio(lambda each: each.changed.cpu_seconds),
        "create_p99_ratio": ratio(lambda each: each.created.p99_seconds),
        "change_p99_ratio": ratio(lambda each: each.changed.p99_seconds),
        "rss_ratio": ratio(lambda each: each.rss_mib),
    }


def same_counts(ours: Mapping[str, int], twin: Mapping[str, int]) -> None:
    """Raises Differ where one has made more objects than the other."""
    here, there = ({kind: n for kind, n in each.items() if kind not in _NOT_COUNTED} for each in (ours, twin))
    if here != there:
        raise Differ(f"the operator's server holds {here}, and the twin's {there}")


def same_work(ours: Mapping[str, Json], twin: Mapping[str, Json]) -> None:
    """Raises Differ, with the first object that is not the same."""
    for name in sorted({*ours, *twin}):
        if ours.get(name) != twin.get(name):
            raise Differ(f"{name}: the operator wrote {ours.get(name)}, and the twin {twin.get(name)}")


def comparable(obj: Json) -> Json:
    """What was asked for, without the digest: each has its own."""
    metadata = {part: obj["metadata"].get(part) for part in ("name", "labels", "ownerReferences")}
    spec = dict(obj["spec"])
    if "template" in spec:
        template = spec["template"]
        kept = {key: value for key, value in template["metadata"]["annotations"].items() if key != TEMPLATE_HASH}
        spec["template"] = {**template, "metadata": {**template["metadata"], "annotations": kept}}
    return {"metadata": metadata, "spec": spec}


def _play(starts: Starts, groups: int, pods: int) -> tuple[Played, dict[str, Json]]:
    with sides.served() as server, starts(server) as process:
        created = _phase(server, process, lambda: server.make(groups, pods))
        changed = _phase(server, process, lambda: server.change(stable_for_s=2))
        counts = server.seen()["counts"]
        manifests = {
            f"{plural} {obj['metadata']['name']}": comparable(obj)
            for plural in _COMPARED
            for obj in server.objects(plural)
        }
        if len(manifests) != groups * len(_COMPARED):
            raise Differ(f"{groups} groups have {len(manifests)} objects, and not {len(_COMPARED)} each")
        return Played(created, changed, process.rss_mib(), counts), manifests


def _phase(server: Server, process: Process, begin: Callable[[], None]) -> Phase:
    before, began_cpu = server.seen()["requests"], process.cpu_s()
    begin()
    samples: list[Sample] = []
    seen: Json = {}

    def is_over() -> bool:
        nonlocal seen
        seen = server.seen()
        samples.append((time.monotonic(), process.cpu_s()))
        return seen["quiet_seconds"] > QUIET_S and None not in times_of(seen["groups"].values())

    wait_until(is_over, WITHIN_S, "all groups to be as wanted")
    last_write_at = samples[-1][0] - seen["quiet_seconds"]
    p50_s, p99_s = percentiles([each for each in times_of(seen["groups"].values()) if each is not None])
    writes, reads = requests_between(before, seen["requests"])
    return Phase(round(cpu_until(samples, last_write_at + SETTLES_S) - began_cpu, 2), p50_s, p99_s, writes, reads)


def times_of(groups: Iterable[Mapping[str, float | None]]) -> list[float | None]:
    """Seconds until each was whole and seen; None where it is not yet."""
    found: list[float | None] = []
    for group in groups:
        made_at, observed_at, asked_at = group["made_at"], group["observed_at"], group["asked_at"]
        whole = made_at is not None and observed_at is not None and asked_at is not None
        found.append(max(made_at, observed_at) - asked_at if whole else None)  # type: ignore[type-var, operator]
    return found


def cpu_until(samples: Sequence[Sample], at: float) -> float:
    """By the first sample from then on, or else by the last."""
    return next((cpu_s for when, cpu_s in samples if when >= at), samples[-1][1])


def requests_between(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[int, int]:
    """Writes, and reads of single objects or lists; watches are neither."""
    new = {what: count - before.get(what, 0) for what, count in after.items()}
    writes = sum(count for what, count in new.items() if what.partition(" ")[0] in _WRITES)
    return writes, sum(count for what, count in new.items() if what.partition(" ")[0] in ("GET", "LIST"))


async def noop_beside(program: Path, recorded: Recorded) -> dict[str, float]:
    """Passes a CPU second over a group of as many pods at rest, in turn. Raises NotAtRest."""
    ours: list[float] = []
    twin: list[float] = []
    async with await at_rest(recorded, 0) as around:
        with sides.served() as server, sides.twin(server, program) as process:
            server.make(1, recorded.pods)
            wait_until(partial(_is_at_rest, server, recorded.pods), WITHIN_S, "the twin's group to be at rest")
            for _ in range(ROUNDS):
                ours.append(await passes_a_cpu_second(around))
                twin.append(_twin(process))
    here, there = round(median(ours)), round(median(twin))
    return {"noop_per_second_of_ours": here, "noop_per_second_of_twin": there, "noop_ratio": round(here / there, 3)}


def _is_at_rest(server: Server, pods: int) -> bool:
    seen = server.seen()
    return bool(seen["quiet_seconds"] > QUIET_S and seen["counts"].get("Pod", 0) == pods)


def _twin(process: Process) -> float:
    found = ask(
        "POST", process.ready.replace("/readyz", "/noop"), seconds=ROUND_S, namespace=NAMESPACE, name=name_of(0)
    )
    if found["writes"]:
        raise NotAtRest(f"the twin's group at rest is written: {found['writes']} times")
    return float(found["passes"] / found["cpu_seconds"])
