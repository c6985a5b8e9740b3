"""The newest recommendation for each group, from wherever the settings say that recommendations are."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final, NoReturn

import structlog

from slackwater.adapters.recommendations.file import FileSource
from slackwater.adapters.recommendations.reading import Reader
from slackwater.adapters.recommendations.topic import TopicSource
from slackwater.api.errors import SlackwaterError
from slackwater.core.world.advice import Advice
from slackwater.ports import Cluster
from slackwater.shell.own_kafka import read_client_settings
from slackwater.shell.places import FilePlace, Place, TopicPlace
from slackwater.shell.store import Key

AGAIN_S: Final = 30.0
MOST_UNKNOWN: Final = 10_000
"""Recommendations that are kept for groups which are not there, or not yet; the oldest goes first. Whoever may write
the topic can name any."""
MOST_BYTES: Final = 80 * 1024 * 1024
"""That these take together: texts of a thousand characters each have room."""
LONGEST_NAME: Final = 253
"""Characters of a name in Kubernetes, all of which are ASCII."""
LONGEST_TEXT: Final = 1_100
"""Bytes that one text takes which is kept whole: a kilobyte of ASCII. Python has four for each character of others."""
_CUT_AT: Final = LONGEST_TEXT // 4 - 25
_OF_EACH: Final = 1_000
"""Bytes of all but the texts."""

_log = structlog.get_logger(__name__)


class AdviceBook:
    """`wake(group)` is called when something else is recommended for a group than before."""

    def __init__(self, wake: Callable[[Key], None], is_there: Callable[[Key], bool] = lambda _: False) -> None:
        self._wake = wake
        self._is_there = is_there
        self._advice: dict[Key, Advice] = {}
        self._unknown: dict[Key, int] = {}
        """Of these the groups were not there when it came, the oldest first; bytes that they take."""
        self.unknown_bytes = 0
        self.reader = Reader()

    def forget(self, group: Key) -> None:
        """The group is gone: what is kept of it counts among the unknown ones."""
        if (advice := self._advice.get(group)) is not None:
            self._count(group, advice)

    def get(self, group: Key) -> Advice | None:
        return self._advice.get(group)

    def take(self, namespace: str, name: str, advice: Advice | None) -> None:
        """An older recommendation never replaces a newer one: a topic tells them all, from its beginning."""
        key = Key(namespace, name)
        if not all(each.isascii() and len(each) <= LONGEST_NAME for each in key):
            return  # there can be no such group
        known, advice = self._advice.get(key), None if advice is None else _short(advice)
        if advice == known or (advice is not None and known is not None and advice.as_of < known.as_of):
            return
        self._count_no_more(key)
        if advice is None:
            del self._advice[key]
        else:
            self._advice[key] = advice
        if self._is_there(key):
            self._wake(key)
        elif advice is not None:
            self._count(key, advice)

    def _count(self, key: Key, advice: Advice) -> None:
        """As unknown; what is too much goes. Who has come meanwhile is not unknown any more."""
        self._count_no_more(key)
        self._unknown[key] = size_of(key, advice)
        self.unknown_bytes += self._unknown[key]
        while len(self._unknown) > MOST_UNKNOWN or self.unknown_bytes > MOST_BYTES:
            oldest = next(iter(self._unknown))
            self._count_no_more(oldest)
            if not self._is_there(oldest):
                del self._advice[oldest]

    def _count_no_more(self, key: Key) -> None:
        self.unknown_bytes -= self._unknown.pop(key, 0)

    async def follow(self, place: Place, api: Cluster, token_hosts: Collection[str] = ()) -> NoReturn:
        """For ever; what is not there yet, or cannot be read, is told in the log and tried again."""
        match place:
            case FilePlace():
                await FileSource(place.path, self.take, self.reader).run()
            case TopicPlace():
                await self._follow_topic(place, api, token_hosts)

    async def _follow_topic(self, place: TopicPlace, api: Cluster, token_hosts: Collection[str]) -> NoReturn:
        async def settings() -> Mapping[str, str]:
            return await read_client_settings(api, place.connection, token_hosts)

        while True:
            try:
                await TopicSource(settings, place.topic, self.take, self.reader).run()
            except SlackwaterError as error:
                _log.warning("recommendations_unreadable", error=str(error))
                await asyncio.sleep(AGAIN_S)


def size_of(key: Key, advice: Advice) -> int:
    """Bytes, about."""
    texts = (*key, advice.group_id, advice.why, *(each.why for each in advice.ranges.values()))
    return _OF_EACH + sum(map(sys.getsizeof, texts))


def _short(advice: Advice) -> Advice:
    """With no text for people that takes more than one of ASCII may."""
    ranges = {subject: replace(each, why=_cut(each.why)) for subject, each in advice.ranges.items()}
    return replace(advice, why=_cut(advice.why), ranges=ranges)


def _cut(text: str) -> str:
    return text if sys.getsizeof(text) <= LONGEST_TEXT else f"{text[:_CUT_AT]}…"
