"""What was played is kept after each run, and a run that fails takes no other with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from demo.cascade import __main__ as command
from demo.cascade.brokers import Brokers
from demo.cascade.figures import Run
from demo.cascade.modes import Mode
from demo.cascade.stage import CascadeStage
from sandbox.errors import SandboxError, StartFailed
from tests.demo.cascade.samples import BY_NAME, CAST

RUN = Run(0, 6, 20.0, 0, 0, 3, 240.0, 1, 0, 0, 0.4, 0.3, 0)
EXPIRED = (
    "12:00:01.500 INFO [GroupCoordinator id=1] Member rdkafka-2 in group {} has failed,"
    " removing it from the group. (GroupMetadataManager)\n"
)


class Plays:
    """A player whose first run of one mode does not start."""

    def __init__(self, *_: object) -> None:
        self.played: list[tuple[str, int]] = []

    def play(self, mode: Mode, number: int) -> Run:
        self.played.append((mode.name, number))
        if (mode.name, number) == ("quarter", 1):
            raise StartFailed("Not done within 9 s: the first version of all groups.")
        return RUN


class Nowhere:
    cluster = None

    def brokers(self) -> None:
        return None


def test_modes_take_turns_and_every_run_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player, file = Plays(), tmp_path / "build" / "demo-fleet.json"
    monkeypatch.setattr(command, "Player", lambda *_: player)
    monkeypatch.setattr(command, "FIGURES", file)
    books = [command.Book(BY_NAME[name], 2) for name in ("coordinators-1", "quarter")]
    command._play_all(cast("CascadeStage", Nowhere()), books, 2)
    assert player.played == [("coordinators-1", 1), ("quarter", 1), ("coordinators-1", 2), ("quarter", 2)]
    found = json.loads(file.read_text())["modes"]
    assert {name: (len(mode["runs"]), mode["ok"]) for name, mode in found.items()} == {
        "coordinators-1": (2, True),
        "quarter": (1, False),
    }
    assert found["quarter"]["problems"][0].startswith("Run 1 has no figures: Not done within 9 s")


def test_an_unknown_mode_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(SandboxError, match="coordinators-1"):
        command._chosen(["coordinators-2"])
    assert [mode.name for mode in command._chosen(["quarter", "no-fleet"])] == ["no-fleet", "quarter"]


def test_only_what_a_log_says_after_the_mark_is_of_this_run(tmp_path: Path) -> None:
    logs = [tmp_path / f"kafka-{number}.log" for number in (1, 2)]
    group, bystander = CAST.groups[0], CAST.bystanders[0]
    for log in logs:
        log.write_text(EXPIRED.format(group.group_id))
    brokers = Brokers("127.0.0.1:1", logs)
    marks = brokers.marks()
    with logs[1].open("a") as file:
        file.write(EXPIRED.format(bystander.group_id) + EXPIRED.format("cascade-of-another-run"))
    found = brokers.ended_sessions(CAST, marks)
    assert {name: count for name, count in found.items() if count} == {bystander.name: 1}
