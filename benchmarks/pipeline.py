"""`python -m benchmarks.pipeline`: recommendations for a big fleet on two cores, on Spark and without.

Both begin at the lake's silver tables and end with one recommendation a group on disk, in a process of their own that
is timed from its start. Which one takes long, and for what, is in the figures; whether both found the same is checked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import pyarrow.dataset as ds

from benchmarks.pipeline_data import AS_OF, make_lake, size_at
from benchmarks.process_tree import Run, run
from benchmarks.spark_stages import StageTime, stages_of

BUILD: Final = Path(__file__).resolve().parents[1] / "build" / "bench"
CORES: Final = 2
_HEAP: Final = "2g"


@dataclass(frozen=True, slots=True)
class Figures:
    """One run on `rows` restarts and poll windows; `…_at_tenth`: on a tenth of rows and groups."""

    rows: int
    groups: int
    cores: int
    seconds: float
    seconds_at_tenth: float
    cpu_seconds: float
    """Of both cores; where it is far below twice the seconds, something else ran here, or nothing could be shared."""
    cpu_seconds_at_tenth: float
    peak_mib: float
    peer: str
    peer_seconds: float
    peer_seconds_at_tenth: float
    peer_cpu_seconds: float
    peer_peak_mib: float
    different_recommendations: int
    """Of the two programs; the same functions judge for both, so any is a fault in one of the two countings."""
    longest_task_share: float
    """Of a Spark stage's time in tasks: the worst of the stages that take long. One straggler would be near 1."""
    stages: tuple[StageTime, ...]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pipeline", description=__doc__)
    parser.add_argument(
        "--scale", type=float, default=1.0, help="1 is 5,000 groups, 1 M restarts and 20 M poll windows"
    )
    parser.add_argument("--scratch", type=Path, default=None, help="where to make the lakes; a temporary folder")
    parser.add_argument("--spark", type=Path, default=None, help=argparse.SUPPRESS)  # the measured process itself
    options = parser.parse_args(arguments)
    if options.spark is not None:
        _recommend_on_spark(options.spark)
        return 0
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        figures = _measured(Path(scratch), options.scale)
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / "pipeline.json"
    path.write_text(json.dumps(asdict(figures), indent=2) + "\n")
    sys.stdout.write(f"{table(figures)}\nThe figures are in {path}.\n")
    return 0


def table(found: Figures) -> str:
    """For people, ours beside the peer's."""
    growth = found.seconds / found.seconds_at_tenth
    peer_growth = found.peer_seconds / found.peer_seconds_at_tenth
    rows = (
        ("", "Spark", found.peer),
        (f"seconds, {found.rows:,} rows of {found.groups:,} groups", f"{found.seconds}", f"{found.peer_seconds}"),
        ("seconds, a tenth of that", f"{found.seconds_at_tenth}", f"{found.peer_seconds_at_tenth}"),
        ("CPU seconds of both cores", f"{found.cpu_seconds}", f"{found.peer_cpu_seconds}"),
        ("times as long for ten times as much", f"{growth:.1f}", f"{peer_growth:.1f}"),
        ("peak memory, MiB", f"{found.peak_mib:.0f}", f"{found.peer_peak_mib:.0f}"),
        ("longest task's share of its stage", f"{found.longest_task_share:.2f}", ""),
        ("recommendations that differ", f"{found.different_recommendations}", ""),
    )
    return "\n".join(f"{title:<52}{ours:>10}  {theirs}" for title, ours, theirs in rows)


def _measured(scratch: Path, scale: float) -> Figures:
    small, whole = size_at(scale / 10), size_at(scale)
    tenth, lake = scratch / "tenth", scratch / "whole"
    make_lake(tenth, small)
    make_lake(lake, whole)
    at_tenth, peer_at_tenth = _on_spark(tenth), _on_peer(tenth)
    ours, peer = _on_spark(lake), _on_peer(lake)
    stages = stages_of(lake / "events")
    return Figures(
        rows=whole.rows,
        groups=whole.groups,
        cores=CORES,
        seconds=ours.seconds,
        seconds_at_tenth=at_tenth.seconds,
        cpu_seconds=ours.cpu_seconds,
        cpu_seconds_at_tenth=at_tenth.cpu_seconds,
        peak_mib=ours.peak_mib,
        peer="DuckDB",
        peer_seconds=peer.seconds,
        peer_seconds_at_tenth=peer_at_tenth.seconds,
        peer_cpu_seconds=peer.cpu_seconds,
        peer_peak_mib=peer.peak_mib,
        different_recommendations=_differences(lake),
        longest_task_share=max((each.longest_task_share for each in stages if each.is_long_among(stages)), default=0.0),
        stages=stages,
    )


def _on_spark(lake: Path) -> Run:
    (lake / "events").mkdir()
    return run([sys.executable, "-m", "benchmarks.pipeline", "--spark", str(lake)], _environment())


def _on_peer(lake: Path) -> Run:
    return run([sys.executable, "-m", "benchmarks.pipeline_peer", str(lake)], _environment())


def _environment() -> dict[str, str]:
    """One thread for each process' linear algebra, as Spark's workers have it: the two cores are for two processes."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _recommend_on_spark(lake: Path) -> None:
    from slackwater.pipeline.recommend.job import recommend  # noqa: PLC0415 - the peer's runs do without Spark
    from slackwater.pipeline.session import spark_session  # noqa: PLC0415

    settings = {
        "spark.driver.memory": _HEAP,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{lake}/events",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
    }
    with spark_session("benchmark", master=f"local[{CORES}]", settings=settings) as spark:
        recommend(spark, str(lake), AS_OF)


def _differences(lake: Path) -> int:
    ours, theirs = (_messages(lake / "gold" / name) for name in ("recommendations", "peer.parquet"))
    return sum(ours.get(key) != theirs.get(key) for key in ours.keys() | theirs.keys())


def _messages(path: Path) -> dict[tuple[str, str], str]:
    rows = ds.dataset(path, format="parquet").to_table(columns=["namespace", "name", "message"]).to_pylist()
    return {(row["namespace"], row["name"]): row["message"] for row in rows}


if __name__ == "__main__":
    sys.exit(main())
