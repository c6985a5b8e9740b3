"""Watching a group: the picture goes on while the API server is away, and ends with the group."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.cli.looking.looks import Look, live_looks
from slackwater.cli.looking.watching import STATUS, line_by_line
from slackwater.core.plan import plan
from slackwater.core.world.observation import Unobserved
from slackwater.ports import Kind
from tests.api.manifests import consumer_group
from tests.cli import builders

AWAY = ClusterUnreachable("the Kubernetes API did not answer")


class FakeApi:
    """Answers for the ConsumerGroup come from a list, one a look; there is nothing else in this cluster."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)

    async def read(self, kind: Kind, namespace: str, name: str) -> Any:
        if kind is not CONSUMER_GROUP:
            return None
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def list_all(self, *_: Any) -> Any:
        return (), 1


def _group(generation: int) -> Any:
    manifest = consumer_group()
    manifest["metadata"] |= {"namespace": "shop", "uid": "u", "generation": generation, "resourceVersion": "1"}
    return manifest


async def _seen(*answers: Any) -> list[Look]:
    api: Any = FakeApi(*answers)
    async with aclosing(live_looks(api, "shop", "payments", interval_s=0.0)) as looks:
        return [look async for look in looks]


async def test_sights_come_until_the_group_is_deleted() -> None:
    seen = await _seen(_group(1), _group(2), None)
    assert [look.world.group.metadata.generation for look in seen] == [1, 2]


async def test_an_api_server_that_is_away_leaves_the_last_picture_with_a_word_about_it() -> None:
    seen = await _seen(_group(1), AWAY, _group(2), None)
    told = [(look.world.group.metadata.generation, look.trouble) for look in seen]
    assert told == [(1, ""), (1, f"not of now: {AWAY}"), (2, "")]


async def test_an_api_server_that_was_never_there_is_an_error() -> None:
    with pytest.raises(ClusterUnreachable):
        await _seen(AWAY)


async def test_a_missing_connection_shows_and_ends_nothing() -> None:
    (look,) = await _seen(_group(1), None)
    assert isinstance(look.world.kafka, Unobserved)
    assert look.world.kafka.reason == "ConnectionMissing"
    assert look.plan.hold is not None


def test_a_line_is_written_only_when_more_than_the_time_changed() -> None:
    lines: list[str] = []
    show = line_by_line(lines.append, STATUS)
    for world in (builders.world(), builders.world(now=builders.NOW + 1), builders.rolling()):
        show(Look(world, plan(world)))
    assert len(lines) == 2
