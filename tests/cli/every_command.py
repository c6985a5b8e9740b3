"""What can be said of a command in a case, such as a name that is wrong, and trying whether it is true.

The table is in `command_rows`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.api.campaign_refusals import campaign
from tests.api.manifests import consumer_group
from tests.cli.command import Done, typed

NAME, WRONG = "mistaken", "mistakn"
SILENT: Final = "127.0.0.1:1"
"""Nobody listens there."""


class Case(Enum):
    WRONG_NAME = "a name that is nearly right"
    NO_NAMESPACE = "a namespace that there is not"
    NO_KUBECONFIG = "a kubeconfig that there is not"
    NO_API_SERVER = "an API server that does not answer"
    NOT_LET_IN = "credentials that have expired"
    FORBIDDEN = "an account without rights"
    NO_BROKER = "a broker that does not answer"


@dataclass(frozen=True, slots=True)
class Fails:
    """One sentence on standard error that has `words`; what may be filled in is what `Place.fill` knows."""

    words: str
    code: int = 1


@dataclass(frozen=True, slots=True)
class Finds:
    """No failure of the command: it is what it was asked for, on standard output, and the exit code tells of it."""

    words: str
    code: int = 1


@dataclass(frozen=True, slots=True)
class Succeeds:
    """The case is none for this command, for it does what it is asked for."""

    why: str
    words: str = ""
    """On standard output."""


@dataclass(frozen=True, slots=True)
class ShownBy:
    """A test that is somewhere else, since it takes more than a command line."""

    test: str
    why: str


Cell = Fails | Finds | Succeeds | ShownBy


@dataclass(frozen=True, slots=True)
class Row:
    words: tuple[str, ...]
    """After `slackwater`; with {name}, {manifest}, {campaign} and {world}."""
    cells: Mapping[Case, Cell]
    in_namespace: bool = True
    """It takes -n."""
    wrong: tuple[str, ...] = ()
    """Instead of `words` in WRONG_NAME, where what it takes is another name than a group's."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster with one ConsumerGroup, NAME, in one namespace; files beside it."""

    kubeconfig: Path
    namespace: str
    folder: Path

    def words(self, row: Row, case: Case) -> list[str]:
        name = WRONG if case is Case.WRONG_NAME else NAME
        words = row.wrong if row.wrong and case is Case.WRONG_NAME else row.words
        files = {"manifest": self._manifest(name), "campaign": self._campaign(name), "world": self.folder / "world"}
        filled = [word.format(name=name, **files) for word in words]
        return [*filled, *(("-n", self.mistyped) if case is Case.NO_NAMESPACE and row.in_namespace else ())]

    def fill(self, words: str) -> str:
        return words.format(namespace=self.namespace, mistyped=self.mistyped)

    @property
    def mistyped(self) -> str:
        return self.namespace[:-1]

    def _campaign(self, fleet: str) -> Path:
        path = self.folder / f"campaign-{fleet}.yaml"
        if not path.exists():
            path.write_text(yaml.safe_dump({**campaign(fleetRef={"name": fleet}), "metadata": {"name": "rolls"}}))
        return path

    def _manifest(self, name: str) -> Path:
        path = self.folder / f"{name}.yaml"
        if not path.exists():
            path.write_text(yaml.safe_dump(consumer_group(name, replicas=0)))
        return path


def try_cell(place: Place, row: Row, case: Case, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
    patch.setenv("KUBECONFIG", str(place.kubeconfig))
    cell, done = row.cells[case], typed(capsys, *place.words(row, case))
    match cell:
        case Fails():
            assert place.fill(cell.words) in sentence_of(done), done
            assert done.code == cell.code, done
        case Finds():
            assert (done.code, done.err) == (cell.code, ""), done
            assert place.fill(cell.words) in " ".join(done.out.split())
        case Succeeds():
            assert (done.code, "Error" in done.err) == (0, False), done
            assert place.fill(cell.words) in " ".join(done.out.split())
        case ShownBy():
            raise AssertionError("it is tried elsewhere")


def sentence_of(done: Done) -> str:
    """One, however it is looked at; an AssertionError where there is anything else."""
    assert done.out == "", done
    assert re.fullmatch(r"Error: .+[.?]\n", done.err), done
    assert not re.search(r"[.?!] [A-Z]", done.err), f"two sentences: {done.err}"
    assert "Traceback" not in done.err
    assert "a mistake in slackwater" not in done.err
    return done.err
