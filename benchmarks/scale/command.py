"""`python -m benchmarks scale [--groups N …] [--pods N …] [--neighbours N …] [--rest SECONDS] [--twin N …]`."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import structlog

from benchmarks.scale.around import record
from benchmarks.scale.beside import compared, noop_beside
from benchmarks.scale.passes import Rates, rates_beside
from benchmarks.scale.sides import NoTwin, built
from benchmarks.scale.watched import watched

GROUPS: Final = (2_000,)
PODS: Final = (0, 2)
NEIGHBOURS: Final = (0, 2_000, 10_000, 50_000)
REST_S: Final = 75
"""In which each group has its pass at rest once, and five looks."""
TWIN: Final = (500,)
TWIN_ROUNDS: Final = 2
_PODS_OF_ONE: Final = 3


def run(arguments: Sequence[str], path: Path) -> int:
    """Measure, show, and write to `path`. The result is the exit code."""
    options = _options(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    rates = asyncio.run(_rates(options.neighbours)) if options.neighbours else {}
    wholes = [_whole(groups, pods, options.rest) for groups in options.groups for pods in options.pods]
    found: dict[str, Any] = {"rates": {str(number): asdict(each) for number, each in rates.items()}, "whole": wholes}
    found |= {
        "watched": [asdict(watched(groups, pods, options.rest)) for groups in options.watched for pods in options.pods]
    }
    twin = _twin(options, path.parent) if options.twin else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found | _headlines(rates, wholes) | twin, indent=2) + "\n")
    sys.stdout.write(f"{table(rates, [*wholes, *found['watched']])}\n{twin_table(twin)}The figures are in {path}.\n")
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks scale", description=__doc__)
    parser.add_argument("--groups", type=int, nargs="*", default=GROUPS, help="of the operator's process")
    parser.add_argument("--pods", type=int, nargs="+", default=PODS, help="of each of those groups")
    parser.add_argument("--neighbours", type=int, nargs="*", default=NEIGHBOURS, help="beside which passes are made")
    parser.add_argument("--rest", type=int, default=REST_S, help="seconds for which the process is watched at rest")
    parser.add_argument(
        "--watched", type=int, nargs="*", default=(), help="groups beside which the whole process starts"
    )
    parser.add_argument("--twin", type=int, nargs="*", default=TWIN, help="groups made beside the twin in Go")
    parser.add_argument("--twin-pods", type=int, default=0, help="of each of those groups")
    parser.add_argument("--twin-rounds", type=int, default=TWIN_ROUNDS, help="of the operator and the twin, in turn")
    return parser.parse_args(arguments)


async def _rates(neighbours: Sequence[int]) -> dict[int, Rates]:
    return await rates_beside(await record(_PODS_OF_ONE), neighbours)


def _whole(groups: int, pods: int, rest_s: int) -> dict[str, Any]:
    """In a process of its own, so that nothing else is in its memory."""
    command = [sys.executable, "-m", "benchmarks.scale.whole", str(groups), str(pods), str(rest_s)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def _twin(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Beside the twin; where there is none, the sentence that says why."""
    try:
        program = built(folder)
    except NoTwin as error:
        return {"no_twin": str(error)}
    passes = asyncio.run(_noop_beside(program))
    found = [compared(program, groups, options.twin_pods, options.twin_rounds) for groups in options.twin]
    last = {key: value for key, value in found[-1].items() if key.endswith("_ratio")}
    return {"twin": found, **passes, **last}


async def _noop_beside(program: Path) -> dict[str, float]:
    return await noop_beside(program, await record(_PODS_OF_ONE))


def _headlines(rates: dict[int, Rates], wholes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """As the issue names them, of the largest that were asked for."""
    found: dict[str, Any] = {}
    if rates:
        fewest, most = min(rates), max(rates)
        found |= {"noop_per_second": rates[fewest].passes, "noop_per_second_beside_most": rates[most].passes}
        found["noop_beside_most_ratio"] = round(rates[most].passes / rates[fewest].passes, 3)
    if wholes:
        last = wholes[-1]
        found |= {key: last[key] for key in ("rss_mib", "rest_cpu_percent", "rest_writes", "longest_stall_seconds")}
        found |= {"cold_cpu_seconds": last["cold_cpu_seconds"]}
        found |= _of_a_pod(wholes)
    return found


def _of_a_pod(wholes: Sequence[dict[str, Any]]) -> dict[str, float]:
    """What each pod adds, where as many groups were measured with and without."""
    without = {each["groups"]: each for each in wholes if each["pods"] == 0}
    grown = [
        (each["rss_mib"] - without[each["groups"]]["rss_mib"]) * 1024 / (each["groups"] * each["pods"])
        for each in wholes
        if each["pods"] and each["groups"] in without
    ]
    return {"kib_a_pod": round(grown[-1], 1)} if grown else {}


def table(rates: dict[int, Rates], wholes: Sequence[dict[str, Any]]) -> str:
    """For people."""
    lines = ["beside            passes/s    looks/s"] if rates else []
    lines += [f"{number:>7} groups {each.passes:>10} {each.looks:>10}" for number, each in rates.items()]
    for whole in wholes:
        lines.append("")
        lines += [f"{name.replace('_', ' '):<24}{value:>10}" for name, value in whole.items()]
    lines += [f"{name.replace('_', ' '):<24}{value:>10}" for name, value in _of_a_pod(wholes).items()]
    return "\n".join(lines)


def twin_table(twin: dict[str, Any]) -> str:
    """For people; ends with a line's end, where it has anything."""
    if "no_twin" in twin:
        return f"\n{twin['no_twin'][:1].upper()}{twin['no_twin'][1:]}.\n"
    lines = [f"{name.replace('_', ' '):<28}{value:>10}" for name, value in twin.items() if name != "twin"]
    for found in twin.get("twin", ()):
        lines += ["", f"{found['groups']} groups of {found['pods']} pods {'ours':>14} {'twin':>10}"]
        lines += [f"{name:<28}{ours:>10} {other:>10}" for name, ours, other in _rows(found)]
    return "\n".join(["", *lines, ""]) if lines else ""


def _rows(found: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Of the last round, but for what is a ratio of all."""
    ours, twin = found["ours"][-1], found["twin"][-1]
    rows = [
        (f"{phase} {part.replace('_', ' ')}", ours[phase][part], twin[phase][part])
        for phase in ("created", "changed")
        for part in ours[phase]
    ]
    return [*rows, ("rss mib", ours["rss_mib"], twin["rss_mib"])]
