"""The newest recommendation for each group, from wherever the settings say that recommendations are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
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

_log = structlog.get_logger(__name__)


class AdviceBook:
    """`wake(group)` is called when something else is recommended for a group than before."""

    def __init__(self, wake: Callable[[Key], None], is_there: Callable[[Key], bool] = lambda _: False) -> None:
        self._wake = wake
        self._is_there = is_there
        self._advice: dict[Key, Advice] = {}
        self._unknown: dict[Key, None] = {}
        """Of these the groups were not there when it came, the oldest first."""
        self.reader = Reader()

    def forget(self, group: Key) -> None:
        """The group is gone: what is kept of it counts among the unknown ones."""
        if group in self._advice:
            self._unknown[group] = None
            self._throw_away()

    def get(self, group: Key) -> Advice | None:
        return self._advice.get(group)

    def take(self, namespace: str, name: str, advice: Advice | None) -> None:
        """An older recommendation never replaces a newer one: a topic tells them all, from its beginning."""
        key = Key(namespace, name)
        known = self._advice.get(key)
        if advice == known or (advice is not None and known is not None and advice.as_of < known.as_of):
            return
        self._unknown.pop(key, None)
        if advice is None:
            del self._advice[key]
        else:
            self._advice[key] = advice
        if self._is_there(key):
            self._wake(key)
        elif advice is not None:
            self._unknown[key] = None
            self._throw_away()

    def _throw_away(self) -> None:
        """What is too much. Who has come meanwhile is not unknown any more."""
        while len(self._unknown) > MOST_UNKNOWN:
            oldest = next(iter(self._unknown))
            del self._unknown[oldest]
            if not self._is_there(oldest):
                del self._advice[oldest]

    async def follow(self, place: Place, api: Cluster) -> NoReturn:
        """For ever; what is not there yet, or cannot be read, is told in the log and tried again."""
        match place:
            case FilePlace():
                await FileSource(place.path, self.take, self.reader).run()
            case TopicPlace():
                await self._follow_topic(place, api)

    async def _follow_topic(self, place: TopicPlace, api: Cluster) -> NoReturn:
        async def settings() -> Mapping[str, str]:
            return await read_client_settings(api, place.connection)

        while True:
            try:
                await TopicSource(settings, place.topic, self.take, self.reader).run()
            except SlackwaterError as error:
                _log.warning("recommendations_unreadable", error=str(error))
                await asyncio.sleep(AGAIN_S)
