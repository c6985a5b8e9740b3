"""What Spark's own event log says of a run: how long each stage worked, and whether one task worked for all."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LONG: Final = 0.1
"""Share of all tasks' time from which on a stage is worth a look."""
FEWEST_TASKS: Final = 3
"""With fewer, a task's share of its stage says nothing."""


@dataclass(frozen=True, slots=True)
class StageTime:
    """Seconds in tasks, added up over the cores."""

    stage: int
    tasks: int
    seconds: float
    longest_task_s: float

    @property
    def longest_task_share(self) -> float:
        return self.longest_task_s / self.seconds if self.seconds else 0.0

    def is_long_among(self, stages: tuple[StageTime, ...]) -> bool:
        return self.tasks >= FEWEST_TASKS and self.seconds >= LONG * sum(each.seconds for each in stages)


def stages_of(folder: Path) -> tuple[StageTime, ...]:
    """The stages of the one application whose log is in the folder, in their order."""
    (log,) = (path for path in folder.iterdir() if not path.name.startswith("."))
    times_s: dict[int, list[float]] = defaultdict(list)
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd":
            task = event["Task Info"]
            times_s[event["Stage ID"]].append((task["Finish Time"] - task["Launch Time"]) / 1000)
    return tuple(
        StageTime(stage, len(each), round(sum(each), 2), round(max(each), 2)) for stage, each in sorted(times_s.items())
    )
