"""The newest recommendation for each group; who is told of it, and where it comes from."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from slackwater.core.world.advice import Advice
from slackwater.shell.advice import MOST_UNKNOWN, AdviceBook
from slackwater.shell.places import FilePlace, TopicPlace, parse_place
from slackwater.shell.settings import InvalidSettings, read_settings
from slackwater.shell.store import Key
from tests.adapters.recommendations.messages import recommendation
from tests.core.timeouts.advised import advice
from tests.shell.fakes import FakeApi

GROUP = Key("shop", "a")


class Woken:
    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.book = AdviceBook(self.keys.append, lambda _: True)

    def after(self, told: Advice | None) -> list[Key]:
        self.keys.clear()
        self.book.take(*GROUP, told)
        return list(self.keys)


def test_a_group_is_woken_when_something_else_is_recommended() -> None:
    woken = Woken()
    assert woken.after(advice(as_of=1.0)) == [GROUP]
    assert woken.after(advice(as_of=1.0)) == []
    assert woken.after(advice(as_of=2.0)) == [GROUP]
    assert woken.after(None) == [GROUP]
    assert woken.after(None) == []
    assert woken.book.get(GROUP) is None


def test_an_older_recommendation_does_not_replace_a_newer_one() -> None:
    woken = Woken()
    woken.after(advice(as_of=2.0))
    assert woken.after(advice(as_of=1.0)) == []
    known = woken.book.get(GROUP)
    assert known is not None and known.as_of == 2.0


def test_what_is_recommended_for_groups_that_are_not_there_is_bounded() -> None:
    """Anybody who may write the topic can name any."""
    there = {GROUP}
    book = AdviceBook(lambda _: None, lambda key: key in there)
    book.take(*GROUP, advice(as_of=1.0))
    for number in range(MOST_UNKNOWN):
        book.take("nowhere", str(number), advice(as_of=1.0))
    there.add(Key("nowhere", "1"))  # it is made
    for number in range(2):
        book.take("nowhere", f"another-{number}", advice(as_of=1.0))
    kept = [book.get(Key("nowhere", each)) is not None for each in ("0", "1", "2", "another-0", "another-1")]
    assert kept == [False, True, True, True, True]
    assert book.get(GROUP) is not None


def test_what_was_recommended_for_groups_that_are_gone_counts_among_it() -> None:
    there = {Key("shop", str(number)) for number in range(2 * MOST_UNKNOWN)}
    book = AdviceBook(lambda _: None, lambda key: key in there)
    for key in sorted(there):
        book.take(*key, advice(as_of=1.0))
    for key in sorted(there):
        there.remove(key)
        book.forget(key)
    assert len(book._advice) == MOST_UNKNOWN


async def test_a_file_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "recommendations.jsonl"
    path.write_text(recommendation("a").message() + "\n")
    heard = asyncio.Event()
    book = AdviceBook(lambda key: heard.set(), lambda _: True)
    api: Any = FakeApi()
    following = asyncio.create_task(book.follow(FilePlace(path), api))
    async with asyncio.timeout(30):
        await heard.wait()
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    assert book.get(GROUP) is not None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("file:/a/b.jsonl", FilePlace(Path("/a/b.jsonl"))),
        ("kafka:shop/main/slackwater.recommendations", TopicPlace(Key("shop", "main"), "slackwater.recommendations")),
    ],
)
def test_a_place_is_read(text: str, place: object) -> None:
    assert parse_place(text) == place
    assert read_settings({"SLACKWATER_RECOMMENDATIONS": text}).recommendations == place


@pytest.mark.parametrize("text", ["", "x", "file:", "kafka:topic", "kafka:a/b/", "kafka:a/b/no spaces", "s3:x"])
def test_a_place_that_is_none_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="write file:<path> or kafka:"):
        parse_place(text)
    if text:
        with pytest.raises(InvalidSettings, match=r"SLACKWATER_RECOMMENDATIONS cannot be '.*': write file:<path>"):
            read_settings({"SLACKWATER_RECOMMENDATIONS": text})
