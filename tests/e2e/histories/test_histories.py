"""200 random histories of 5 to 30 steps on real pods and a real broker, several at a time, each by its own thread.

At the end of each, what is in force is what was asked for last, in the pods and in Kafka; the operator takes no two
pods of a group away at once but by scaling, and its log has no traceback. The seed is in a failure's text: `draw(seed)`
says the history.
"""

from __future__ import annotations

import os
import shutil
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from sandbox.layout import Layout
from tests.conftest import ROOT
from tests.e2e.histories.drawing import draw
from tests.e2e.histories.judging import away_by_us
from tests.e2e.histories.playing import Player
from tests.e2e.histories.writing import Writer
from tests.e2e.stage.stage import staged

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(30),
    pytest.mark.timeout(1200),
]

AT_A_TIME: Final = int(os.environ.get("HISTORIES_AT_A_TIME", "10"))
ROUNDS: Final = 200 // AT_A_TIME
FIRST_SEED: Final = int(os.environ.get("HISTORIES_SEED", "1"))


@pytest.mark.parametrize("number", range(ROUNDS))
def test_what_was_asked_for_last_is_in_force(crds: None, kubeconfig: Path, bootstrap_servers: str, number: int) -> None:
    """One group more has the first one's history, and they end alike."""
    seeds = [FIRST_SEED + number * AT_A_TIME + place for place in range(AT_A_TIME)]
    seeds.append(seeds[0])
    directory = ROOT / "build" / "e2e" / f"histories-{number}"
    with staged(f"histories-{number}", kubeconfig, bootstrap_servers, directory) as stage:
        writer = Writer(kubeconfig, stage.cluster.namespace)
        players = [Player(stage, writer, f"h{place}", draw(seed)) for place, seed in enumerate(seeds)]
        with _logs_kept_of_failures(stage.cluster.namespace, directory / "pods"):
            with ThreadPoolExecutor(len(seeds)) as threads:
                failures = [text for text in threads.map(_outcome, players) if text]
            together = [text for player in players for text in _two_away(player)]
            assert not failures, "\n\n".join(failures)
            assert not together, "\n".join(together)
            assert "Traceback (most recent call last)" not in (directory / "operator.log").read_text(errors="replace")
            assert players[0].end() == players[-1].end()


@contextmanager
def _logs_kept_of_failures(namespace: str, kept: Path) -> Iterator[None]:
    """What the consumers said goes with their pods, and is the only one to say why one of them was not in its group."""
    try:
        yield
    except Exception:
        for logs in Layout.from_environment().pod_logs.glob(f"{namespace}_*"):
            shutil.copytree(logs, kept / logs.name)
        raise


def _outcome(player: Player) -> str:
    """Empty when it ended well: one history that fails must not hide the others."""
    try:
        player.begin()
        player.play()
        player.calm_down()
    except Exception:  # noqa: BLE001 - whatever it is, it is a failure of this history alone
        return f"{player.name}, seed {player.history.seed}: {traceback.format_exc()}"
    return ""


def _two_away(player: Player) -> list[str]:
    """Moments at which two pods that were Ready were away that nobody but the operator had taken away."""
    found, recorder = [], player.stage.recorder
    sets = () if player.history.narrow else recorder.records("statefulsets")
    for record, away in away_by_us(recorder.records("pods"), player.name, player.struck, sets):
        if len(away) > 1:
            found.append(f"{player.history}: {sorted(away)} away together at {record.seen_at}, said {player.said}")
    return found
