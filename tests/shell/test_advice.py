"""The newest recommendation for each group; who is told of it, and where it comes from."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slackwater.core.world.advice import Advice, Range, Subject
from slackwater.shell import advice as advice_module
from slackwater.shell.advice import LONGEST_TEXT, MOST_BYTES, MOST_UNKNOWN, AdviceBook, size_of
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


def sized(text: str, **changes: Any) -> Advice:
    ranges = dict.fromkeys(Subject, Range(1, 1, 1, text))
    return advice(ranges, as_of=1.0, why=text, group_id=text, **changes)


def test_what_is_recommended_for_groups_that_are_not_there_is_bounded_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice_module, "MOST_BYTES", 100_000)
    book = AdviceBook(lambda _: None)
    for number in range(100):
        book.take("nowhere", str(number), sized("x" * 1_000))
    kept = {key: each for key in map(str, range(100)) if (each := book.get(Key("nowhere", key))) is not None}
    together = sum(size_of(Key("nowhere", key), each) for key, each in kept.items())
    assert 90_000 < together == book.unknown_bytes <= 100_000
    assert list(kept) == [str(number) for number in range(100 - len(kept), 100)], "the newest"


def test_bytes_of_what_is_gone_or_replaced_or_has_come_count_no_more() -> None:
    there: set[Key] = set()
    book = AdviceBook(lambda _: None, lambda key: key in there)
    book.take(*GROUP, sized("x" * 1_000))
    book.take(*GROUP, sized("y", generation=7))
    assert book.unknown_bytes == size_of(GROUP, sized("y"))
    book.take(*GROUP, None)
    assert book.unknown_bytes == 0
    book.take(*GROUP, sized("x"))
    there.add(GROUP)
    book.take(*GROUP, sized("y"))
    assert book.unknown_bytes == 0
    for _ in range(2):
        book.forget(GROUP)
    assert book.unknown_bytes == size_of(GROUP, sized("y"))


def test_ten_thousand_groups_that_are_not_there_yet_have_room_whatever_is_said_of_them() -> None:
    """At the operator's start, before it has listed them."""
    longest = size_of(Key("n" * 63, "g" * 48), sized("x" * 1_000))
    assert MOST_UNKNOWN * longest <= MOST_BYTES


def test_one_wide_character_makes_no_text_that_is_kept_longer() -> None:
    book = AdviceBook(lambda _: None, lambda _: True)
    plain, wide = sized("x" * 1_024), "x" * 1_000 + "\U0001f600"
    book.take(*GROUP, plain)
    assert book.get(GROUP) == plain
    book.take(*GROUP, replace(sized(wide), group_id="payments"))
    kept = book.get(GROUP)
    assert kept is not None
    texts = [kept.why, *(each.why for each in kept.ranges.values())]
    assert {text.rstrip("…") for text in texts} == {"x" * 250}
    assert max(map(sys.getsizeof, texts)) <= LONGEST_TEXT


@pytest.mark.parametrize("name", ["x" * 254, "\U0001f600"])
def test_what_is_recommended_for_what_no_group_is_called_is_not_kept(name: str) -> None:
    book = AdviceBook(lambda _: None)
    book.take("shop", name, advice())
    book.take(name, "a", advice())
    book.take("shop", name, None)
    assert book.unknown_bytes == 0
    assert book.get(Key("shop", name)) is None
    assert book.get(Key(name, "a")) is None


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
