"""What pages have people copy is taken: manifests by the models, command lines by the command, output as it is held."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import typer
import yaml
from typer.core import TyperGroup

from slackwater.api.parsing import (
    parse_consumer_fleet,
    parse_consumer_group,
    parse_fleet_campaign,
    parse_kafka_connection,
)
from slackwater.api.timestamps import moment
from slackwater.cli.main import app
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.times import Scope, gates_of
from tests.docs.test_links import PAGES
from tests.test_layout import ROOT

READ: Final = (*PAGES, ROOT / "README.md")
FLEETS: Final = [page for page in PAGES if page.name.startswith("fleet")]
VIEWS: Final = ROOT / "tests" / "cli" / "views"
PARSERS: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "ConsumerFleet": parse_consumer_fleet,
    "ConsumerGroup": parse_consumer_group,
    "FleetCampaign": parse_fleet_campaign,
    "KafkaConnection": parse_kafka_connection,
    "ClusterKafkaConnection": parse_kafka_connection,
}
A_FRIDAY: Final = moment("2026-11-27T12:00:00Z")
_SHELL: Final = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_YAML: Final = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VIEW: Final = re.compile(r"^<!-- as in tests/cli/views/(\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def objects(page: Path) -> Iterator[dict[str, Any]]:
    """Those of our kinds that are written out; what shows a part of one has no kind."""
    for block in _YAML.findall(page.read_text(encoding="utf-8")):
        yield from (
            each for each in yaml.safe_load_all(block) if isinstance(each, dict) and each.get("kind") in PARSERS
        )


def commands(page: Path) -> Iterator[list[str]]:
    """Command lines of ours, as words: all of a block of shell, and of a console's those after its prompt."""
    for kind, block in _SHELL.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            written = line.removeprefix("$ ")
            if (kind == "sh" or line.startswith("$ ")) and re.match(r"(kubectl )?slackwater ", written):
                yield shlex.split(written.partition(" | ")[0].partition(" > ")[0], comments=True)


MANIFESTS: Final = [(page, each) for page in READ for each in objects(page)]
COMMANDS: Final = [(page, line) for page in READ for line in commands(page)]
SHOWN: Final = [(page, *found) for page in READ for found in _VIEW.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("page", "obj"), MANIFESTS, ids=[f"{name_of(page)}-{each['metadata']['name']}" for page, each in MANIFESTS]
)
def test_a_manifest_is_valid_and_a_fleet_accepted(page: Path, obj: dict[str, Any]) -> None:
    obj["metadata"].setdefault("namespace", "team-pay")
    PARSERS[obj["kind"]](obj)
    if obj["kind"] == "ConsumerFleet":
        namespace, name, spec = obj["metadata"]["namespace"], obj["metadata"]["name"], parse_consumer_fleet(obj).spec
        assert gates_of(Fleet(namespace, name, spec, bool(spec.namespaces)), Scope(), A_FRIDAY).refused is None


@pytest.mark.parametrize("page", FLEETS, ids=name_of)
def test_pages_about_fleets_write_their_manifests_out(page: Path) -> None:
    blocks = _YAML.findall(page.read_text(encoding="utf-8"))
    assert [block for block in blocks if not all("kind" in each for each in yaml.safe_load_all(block))] == []


@pytest.mark.parametrize(
    ("page", "line"), COMMANDS, ids=[f"{name_of(page)}-{' '.join(line)}" for page, line in COMMANDS]
)
def test_a_command_line_is_one(page: Path, line: list[str]) -> None:
    words = line[line.index("slackwater") + 1 :]
    command, context = typer.main.get_command(app), None
    while isinstance(command, TyperGroup):
        word = words.pop(0)
        assert word in command.commands, f"{name_of(page)}: there is no {word}"
        context = typer.Context(command, parent=context)
        command = command.commands[word]
    command.make_context(command.name, words, parent=context)


@pytest.mark.parametrize(("page", "view", "block"), SHOWN, ids=[f"{name_of(page)}-{view}" for page, view, _ in SHOWN])
def test_what_a_command_prints_is_as_it_is_held(page: Path, view: str, block: str) -> None:
    printed = "".join(line for line in block.splitlines(keepends=True) if not line.startswith("$ "))
    assert printed.strip() in (VIEWS / view).read_text(encoding="utf-8")
