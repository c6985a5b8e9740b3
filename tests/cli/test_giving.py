"""Commands are given by annotation, and are done when the operator has taken them up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.api.annotations import ABORT, APPROVE, FORCE, PAUSE, PROMOTE, RESTART, RETRY
from slackwater.cli.errors import NoSuchGroup, NothingToDo, NotObeyed
from slackwater.cli.giving import one as giving
from slackwater.cli.reaching.choice import Place
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, write_memory
from slackwater.core.world.settings import Setting
from slackwater.core.world.tuning import Tuning
from tests.api.manifests import consumer_group
from tests.shell.fakes import FakeApi

KEY = Place("shop", "payments")
FAILED = RolloutMemory(
    phase=RolloutPhase.FAILED,
    target_hash="new",
    failed_hash="new",
    last_good_revision="payments-1",
    last_good_hash="old",
)
OBEDIENT = 5.0
"""Seconds that a command may wait for an operator that answers at once."""


class Cluster(FakeApi):
    """With an operator that does `obey` whenever somebody looks."""

    obey: Callable[[dict[str, Any]], None] | None = None

    async def read(self, kind: Any, namespace: str, name: str) -> Any:
        if kind.name == "APIResourceList":
            return {}  # Slackwater is installed
        if kind is CONSUMER_GROUP and self.obey is not None and (obj := self.group()) is not None:
            self.obey(obj)
        return await super().read(kind, namespace, name)

    def group(self) -> Any:
        return self.objects.get(("ConsumerGroup", *KEY))

    def annotations(self) -> dict[str, str]:
        found: dict[str, str] = self.group()["metadata"].get("annotations", {})
        return found


def obeys_tokens(obj: dict[str, Any]) -> None:
    tokens = {key: value for key, value in obj["metadata"].get("annotations", {}).items() if key != PAUSE}
    obj["status"] = {**obj.get("status", {}), "commands": tokens}


def obeys_pause(obj: dict[str, Any]) -> None:
    obj["status"] = {"phase": "Paused" if PAUSE in obj["metadata"].get("annotations", {}) else "Ready"}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    api = Cluster()
    manifest = consumer_group(timeouts={"mode": "Recommend"})
    manifest["metadata"] |= {"namespace": "shop", "uid": "u", "generation": 1, "resourceVersion": "1"}
    api.add(CONSUMER_GROUP, {**manifest, "status": {}})

    @asynccontextmanager
    async def reached(context: str | None) -> AsyncIterator[Cluster]:
        yield api

    monkeypatch.setattr(giving, "cluster", reached)
    return api


def remembers(cluster: Cluster, memory: RolloutMemory) -> None:
    cluster.group()["status"] = {"rollout": write_memory(memory)}


@pytest.mark.parametrize(
    ("command", "memory", "words"),
    [
        (ABORT, FAILED, "payments: abort: going back to the last good version"),
        (RETRY, FAILED, "payments: retry: trying the failed version again"),
        (RESTART, RolloutMemory(), "payments: every pod is replaced, each after its gates, as in any rollout"),
        (
            FORCE,
            RolloutMemory(),
            "payments: force: what was applied last goes on as a rollback does, without waiting for a calm group,"
            " if it is rolled out",
        ),
    ],
    ids=["abort", "retry", "restart", "force"],
)
async def test_it_is_told_when_the_operator_has_obeyed(
    cluster: Cluster, command: str, memory: RolloutMemory, words: str
) -> None:
    remembers(cluster, memory)
    cluster.obey = obeys_tokens
    assert await giving.give(None, KEY, giving.command(command), OBEDIENT) == words
    assert set(cluster.annotations()) == {command}


async def test_each_command_has_a_token_of_its_own(cluster: Cluster) -> None:
    await giving.give(None, KEY, giving.command(RESTART), 0.0)
    first = cluster.annotations()[RESTART]
    await giving.give(None, KEY, giving.command(RESTART), 0.0)
    assert cluster.annotations()[RESTART] != first


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (PROMOTE, "payments is as it was: promote: no canary is being held"),
        (ABORT, "payments is as it was: abort: no rollout is under way"),
        (RETRY, "payments is as it was: retry: nothing has failed"),
    ],
    ids=["promote", "abort", "retry"],
)
async def test_what_would_change_nothing_is_not_given(cluster: Cluster, command: str, why: str) -> None:
    with pytest.raises(NothingToDo, match=why):
        await giving.give(None, KEY, giving.command(command), OBEDIENT)
    assert cluster.writes() == []


@pytest.mark.parametrize(
    ("recommendation", "why"),
    [
        ({}, "there is no recommendation for this group"),
        ({"message": "too few restarts were seen"}, "too few restarts were seen"),
    ],
    ids=["none", "not fit"],
)
async def test_an_approval_of_which_nothing_came_ends_as_other_commands_that_change_nothing(
    cluster: Cluster, recommendation: dict[str, str], why: str
) -> None:
    """What is recommended, only the operator knows: it is asked first."""
    remembers(cluster, RolloutMemory())
    cluster.obey = obeys_tokens
    cluster.group()["status"]["recommendation"] = recommendation
    with pytest.raises(NothingToDo, match=f"^payments is as it was: approve: {why}$"):
        await giving.give(None, KEY, giving.command(APPROVE), OBEDIENT)


async def test_an_approval_that_was_obeyed_says_how_the_recommendation_stands(cluster: Cluster) -> None:
    remembers(cluster, RolloutMemory())

    def obeys(obj: dict[str, Any]) -> None:
        obeys_tokens(obj)
        if obj["status"]["commands"]:
            approved = Tuning(values={Setting.SESSION: 30_000}, as_of=1_000.0)
            obj["status"]["rollout"] = write_memory(RolloutMemory(tuning=approved))
            obj["status"]["recommendation"] = {"message": "the timeouts are as recommended"}

    cluster.obey = obeys
    said = await giving.give(None, KEY, giving.command(APPROVE), OBEDIENT)
    assert said == "payments: approve: the timeouts are as recommended"


async def test_an_approval_where_recommendations_are_off_is_not_given(cluster: Cluster) -> None:
    cluster.group()["spec"]["timeouts"] = {"mode": "Off"}
    with pytest.raises(
        NothingToDo, match=r"payments is as it was: approve: timeouts\.mode is Off: set it to Recommend"
    ):
        await giving.give(None, KEY, giving.command(APPROVE), OBEDIENT)
    assert cluster.writes() == []


async def test_an_approval_of_a_group_that_says_no_mode_is_for_the_operator_to_judge(cluster: Cluster) -> None:
    """A fleet may give the mode."""
    cluster.group()["spec"]["timeouts"] = {}
    said = await giving.give(None, KEY, giving.command(APPROVE), 0.0)
    assert said == "payments: approve is given, and obeyed as soon as the operator sees it"
    assert set(cluster.annotations()) == {APPROVE}


async def test_an_approval_in_the_middle_of_a_rollout_is_not_given(cluster: Cluster) -> None:
    remembers(cluster, FAILED)
    with pytest.raises(NothingToDo, match="payments is as it was: approve: a rollout is under way or has failed"):
        await giving.give(None, KEY, giving.command(APPROVE), OBEDIENT)
    assert cluster.writes() == []


async def test_a_command_that_the_operator_has_not_seen_yet_comes_first(cluster: Cluster) -> None:
    """And what is said, and whether anything changes, is of the command that is given now."""
    remembers(cluster, FAILED)
    cluster.group()["metadata"]["annotations"] = {ABORT: "given a moment ago"}
    with pytest.raises(NothingToDo, match="promote: no canary is being held"):
        await giving.give(None, KEY, giving.command(PROMOTE), OBEDIENT)


async def test_an_operator_that_is_not_there_is_told_and_the_command_stands(cluster: Cluster) -> None:
    with pytest.raises(NotObeyed, match=r"restart is given, but the operator has not taken it up within 0\.1 s: see"):
        await giving.give(None, KEY, giving.command(RESTART), 0.1)
    assert RESTART in cluster.annotations()


def refuses_spec(obj: dict[str, Any]) -> None:
    """As the operator reports a spec that an older CRD let through."""
    problem = "ConsumerGroup shop/payments is not valid. spec.topics: name at least one topic."
    conditions = [{"type": "Ready", "message": "of before"}, {"type": "Degraded", "message": problem}]
    obj["status"] = {"phase": "Invalid", "observedGeneration": 1, "conditions": conditions}


PAUSED = partial(giving.give, None, KEY, giving.pause("maintenance"))
RESTARTED = partial(giving.give, None, KEY, giving.command(RESTART))
APPROVED = partial(giving.give, None, KEY, giving.command(APPROVE))


@pytest.mark.parametrize(("give", "word"), [(PAUSED, "pause"), (RESTARTED, "restart"), (APPROVED, "approve")])
async def test_what_is_wrong_with_the_spec_is_told_and_not_that_no_operator_runs(
    cluster: Cluster, give: Callable[[float], Awaitable[str]], word: str
) -> None:
    """The command stands, and holds the group once its spec is corrected."""
    cluster.obey = refuses_spec
    with pytest.raises(NotObeyed, match=rf"{word} is given, and .* once this is put right: .*spec\.topics: name"):
        await give(OBEDIENT)
    assert len(cluster.annotations()) == 1


async def test_an_operator_that_has_not_seen_the_corrected_spec_is_waited_for(cluster: Cluster) -> None:
    refuses_spec(cluster.group())
    cluster.group()["metadata"]["generation"] = 2
    with pytest.raises(NotObeyed, match="see that it runs"):
        await PAUSED(0.1)


@pytest.mark.parametrize("give", [PAUSED, RESTARTED, APPROVED], ids=["pause", "restart", "approve"])
async def test_a_group_that_is_being_deleted_gets_no_command(
    cluster: Cluster, give: Callable[[float], Awaitable[str]]
) -> None:
    cluster.group()["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    with pytest.raises(NothingToDo, match="ConsumerGroup payments is being deleted: there is nothing left to command"):
        await give(OBEDIENT)
    assert cluster.writes() == []


async def test_a_group_that_begins_to_be_deleted_is_not_waited_for(cluster: Cluster) -> None:
    def deletes(obj: dict[str, Any]) -> None:
        if PAUSE in obj["metadata"].get("annotations", {}):
            obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    cluster.obey = deletes
    with pytest.raises(NothingToDo, match="is being deleted"):
        await PAUSED(OBEDIENT)


async def test_a_group_is_paused_with_a_reason_and_resumed(cluster: Cluster) -> None:
    cluster.obey = obeys_pause
    assert (await giving.give(None, KEY, giving.pause("Black Friday"), OBEDIENT)).startswith("payments: paused")
    assert cluster.annotations() == {PAUSE: "Black Friday"}
    assert await giving.give(None, KEY, giving.resume, OBEDIENT) == "payments: resumed"
    assert cluster.annotations() == {}


async def test_who_pauses_without_a_reason_leaves_the_one_that_stands_there(cluster: Cluster) -> None:
    cluster.obey = obeys_pause
    await giving.give(None, KEY, giving.pause("Black Friday"), OBEDIENT)
    await giving.give(None, KEY, giving.pause(""), OBEDIENT)
    assert cluster.annotations() == {PAUSE: "Black Friday"}
    await giving.give(None, KEY, giving.pause("audit"), OBEDIENT)
    assert cluster.annotations() == {PAUSE: "audit"}


async def test_only_a_paused_group_is_resumed(cluster: Cluster) -> None:
    with pytest.raises(NothingToDo, match="payments is not paused, so there is nothing to resume"):
        await giving.give(None, KEY, giving.resume, OBEDIENT)


async def test_a_group_that_is_deleted_meanwhile(cluster: Cluster) -> None:
    def gone(obj: dict[str, Any]) -> None:
        if RESTART in obj["metadata"].get("annotations", {}):
            del cluster.objects["ConsumerGroup", *KEY]

    cluster.obey = gone
    with pytest.raises(Conflict, match="has just been deleted: there is nothing left to command"):
        await giving.give(None, KEY, giving.command(RESTART), OBEDIENT)


async def test_a_group_that_there_is_not(cluster: Cluster) -> None:
    with pytest.raises(NoSuchGroup, match="there is no ConsumerGroup payment in namespace shop: did you mean payments"):
        await giving.give(None, Place("shop", "payment"), giving.command(RESTART), OBEDIENT)
