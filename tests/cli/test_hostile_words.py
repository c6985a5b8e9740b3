"""What others chose - client ids, topics, images, reasons, messages - steers no terminal, and crashes no command."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from rich.console import RenderableType

from slackwater.api.annotations import PAUSE
from slackwater.cli.pictures.groups import groups_table
from slackwater.cli.pictures.history import history_picture
from slackwater.cli.pictures.members import lag_table, members_table
from slackwater.cli.pictures.paragraph import paragraph_and_pointer
from slackwater.cli.pictures.view import render_view
from slackwater.cli.planning.difference import difference_picture
from slackwater.core.decision.words import harmless
from slackwater.core.plan import plan
from slackwater.core.world.observation import GroupObservation, Member, PartitionOffsets, TopicPartition
from slackwater.core.world.world import World
from slackwater.terminal import Terminal
from tests.cli import builders
from tests.cli.test_difference import applied
from tests.cli.test_history import rolled_back
from tests.cli.test_planning import manifest_of, with_image
from tests.cli.test_tables import as_object
from tests.core.factories import changed

EVIL: Final = (
    "\x1b]0;title\x07\x1b[2J\x9b2J\x1b]52;c;cm0gLXJm\x07[/red][link=https://evil.example]payments-3[/link]"
    "\u202e\nfalse-row 1 Ready\r\v[bold]:boom:"
)
STYLES: Final = re.compile(r"\x1b\[[0-9;]*m")
"""Colours are rich's own."""
STEERS: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def hostile() -> World:
    topic = TopicPartition(EVIL, 0)
    strangers = (
        Member(f"{EVIL}-1", None, EVIL, f"/{EVIL}", frozenset({topic})),
        Member(f"{EVIL}-2", EVIL, EVIL, EVIL, frozenset()),
    )
    seen = builders.observation(assignor=EVIL)
    offsets = {**seen.offsets, topic: PartitionOffsets(committed=1, end=2)}
    kafka = replace(seen, members=(*seen.members, *strangers), partitions=seen.partitions | {topic}, offsets=offsets)
    found = changed(
        builders.world(builders.group({PAUSE: EVIL})),
        kafka=kafka,
        history=builders.history(kafka),
        pods=(builders.pod(0), builders.pod(1, ready=False, waiting=EVIL, waiting_message=EVIL), builders.pod(2)),
    )
    conditions = [{"type": "Degraded", "status": "True", "reason": EVIL, "message": EVIL, "lastTransitionTime": EVIL}]
    status = {**builders.with_status(found).group.status, "phase": EVIL, "conditions": conditions}
    return replace(found, group=found.group.model_copy(update={"status": status}))


def seen(world: World) -> GroupObservation:
    assert isinstance(world.kafka, GroupObservation)
    return world.kafka


def versions() -> Any:
    found = rolled_back()
    return replace(found, versions=tuple(replace(each, image=EVIL, name=EVIL) for each in found.versions))


def difference() -> RenderableType:
    at_rest = builders.with_status(builders.world())
    return difference_picture(applied(at_rest, with_image(manifest_of(at_rest), EVIL)))


WORLD: Final = hostile()
PICTURES: Final[dict[str, Callable[[], RenderableType]]] = {
    "status": lambda: render_view(WORLD, plan(WORLD)),
    "why": lambda: paragraph_and_pointer(WORLD, plan(WORLD)),
    "members": lambda: members_table(WORLD, seen(WORLD)),
    "lag": lambda: lag_table(WORLD, seen(WORLD)),
    "list": lambda: groups_table([as_object(WORLD, EVIL)], with_namespace=True),
    "history": lambda: history_picture(versions()),
    "diff": difference,
}


def printed(picture: RenderableType, **settings: Any) -> str:
    out = io.StringIO()
    Terminal(file=out, width=300, **settings).print(picture)
    return STYLES.sub("", out.getvalue())


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("on_a_terminal", [True, False])
def test_a_picture_shows_what_others_wrote_and_obeys_none_of_it(name: str, on_a_terminal: bool) -> None:
    text = printed(PICTURES[name](), force_terminal=on_a_terminal, color_system="truecolor" if on_a_terminal else None)
    assert not STEERS.search(text)
    assert "\\x1b" in text, "it is shown, so that people see what somebody tried"


def test_square_brackets_are_square_brackets() -> None:
    text = "[link=https://evil.example]payments-3[/link] [/red] [bold]:boom:"
    assert printed(text) == f"{text}\n"


def test_a_line_break_in_a_name_makes_no_row_of_its_own() -> None:
    for name, picture in PICTURES.items():
        assert not any(line.startswith("false-row") for line in printed(picture()).splitlines()), name


def test_what_is_harmless_stays_in_its_lines() -> None:
    assert harmless("a\n\tb\x1b[0m ü") == "a\n\\x09b\\x1b[0m ü"
