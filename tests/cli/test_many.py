"""Commands about many groups: whom they concern is asked, each gets its own, and at the end stands who failed."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from slackwater.adapters.cluster.errors import ClusterRefused, ClusterUnreachable
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.api.annotations import PAUSE, RESTART
from slackwater.cli.giving import many, one
from slackwater.cli.pictures.beside import beside
from slackwater.cli.reaching.choice import Choice, Place
from slackwater.cli.reaching.each import Outcome, each
from tests.api.manifests import consumer_group
from tests.cli.command import Done, typed
from tests.shell.fakes import FakeApi

Capsys = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
GROUPS = (("shop", "a", "pay"), ("shop", "b", "pay"), ("shop", "c", "stock"), ("bank", "d", "pay"))


class Cluster(FakeApi):
    """Of four groups in two namespaces; with an operator that obeys whoever looks, but for those in `deaf`."""

    deaf: frozenset[str] = frozenset()
    broken: Callable[[str], None] = staticmethod(lambda name: None)
    """Called when a ConsumerGroup is read."""

    async def read(self, kind: Any, namespace: str, name: str) -> Any:
        if kind is CONSUMER_GROUP:
            self.broken(name)
            self._obey(namespace, name)
        return {} if kind.name == "APIResourceList" else await super().read(kind, namespace, name)

    async def list_all(self, kind: Any, namespace: str | None, label_selector: str = "") -> Any:
        found, version = await super().list_all(kind, namespace)
        label, _, value = label_selector.partition("=")
        kept = (each for each in found if not label or each["metadata"].get("labels", {}).get(label) == value)
        return tuple(kept), version

    def _obey(self, namespace: str, name: str) -> None:
        group = self.objects.get(("ConsumerGroup", namespace, name))
        if group is None or name in self.deaf:
            return
        given = group["metadata"].get("annotations", {})
        group["status"] = {
            "observedGeneration": 1,
            "phase": "Paused" if PAUSE in given else "Ready",
            "commands": {key: value for key, value in given.items() if key != PAUSE},
            "conditions": [{"type": "Ready", "status": "True"}],
        }

    def given(self, annotation: str) -> set[str]:
        groups = (obj for (kind, *_), obj in self.objects.items() if kind == "ConsumerGroup")
        return {each["metadata"]["name"] for each in groups if annotation in each["metadata"].get("annotations", {})}


@pytest.fixture
def cluster(monkeypatch: Patch) -> Cluster:
    api = Cluster()
    for namespace, name, team in GROUPS:
        manifest = consumer_group(name)
        of_cluster = {"namespace": namespace, "uid": name, "generation": 1, "resourceVersion": "1"}
        manifest["metadata"] |= {**of_cluster, "labels": {"team": team}}
        api.add(CONSUMER_GROUP, {**manifest, "status": {}})

    @asynccontextmanager
    async def reached(context: str | None) -> AsyncIterator[Cluster]:
        yield api

    for module in ("giving.one", "giving.many", "reaching.choice", "reaching.each", "looking.waiting"):
        monkeypatch.setattr(f"slackwater.cli.{module}.cluster", reached)
    monkeypatch.setattr("slackwater.cli.reaching.choice.namespace_of", lambda context: "shop")
    return api


class Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(done: Done) -> list[str]:
    return sorted(done.out.splitlines())


def test_each_that_is_named_gets_the_command_and_nobody_is_asked(cluster: Cluster, capsys: Capsys) -> None:
    done = typed(capsys, "pause", "a", "c", "a", "--reason", "audit")
    assert (done.code, done.err) == (0, "")
    assert lines(done) == [f"{name}: paused; no pod is restarted until you resume it" for name in ("a", "c")]
    assert cluster.given(PAUSE) == {"a", "c"}


def test_all_are_those_of_the_namespace(cluster: Cluster, capsys: Capsys) -> None:
    assert typed(capsys, "pause", "--all", "--yes").code == 0
    assert cluster.given(PAUSE) == {"a", "b", "c"}


def test_labels_choose_in_every_namespace_and_the_namespace_is_said(cluster: Cluster, capsys: Capsys) -> None:
    done = typed(capsys, "pause", "-l", "team=pay", "-A", "-y")
    assert [line.partition(":")[0] for line in lines(done)] == ["bank/d", "shop/a", "shop/b"]
    assert cluster.given(PAUSE) == {"a", "b", "d"}


def test_one_that_labels_choose_is_not_asked_about(cluster: Cluster, capsys: Capsys) -> None:
    assert typed(capsys, "pause", "-l", "team=stock").code == 0
    assert cluster.given(PAUSE) == {"c"}


def test_labels_that_choose_nobody_are_a_mistake(cluster: Cluster, capsys: Capsys) -> None:
    said = typed(capsys, "pause", "-l", "team=pya", "-A").sentence
    assert said == "no ConsumerGroup in any namespace has labels team=pya: slackwater list shows which there are."


def test_where_nobody_can_be_asked_yes_has_to_be_said(cluster: Cluster, capsys: Capsys, monkeypatch: Patch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    done = typed(capsys, "restart", "--all")
    assert (done.code, cluster.writes()) == (2, [])
    assert "restart concerns 3 ConsumerGroups (shop/a, shop/b, shop/c), and nobody is there to be asked: add --yes" in (
        done.sentence
    )


@pytest.mark.parametrize(("answer", "restarted"), [("n\n", set()), ("\n", set()), ("y\n", {"a", "b", "c"})])
def test_who_is_concerned_is_shown_before_it_is_done(
    answer: str, restarted: set[str], cluster: Cluster, capsys: Capsys, monkeypatch: Patch
) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard(answer))
    done = typed(capsys, "restart", "--all")
    assert "restart concerns 3 ConsumerGroups:\n  a\n  b\n  c\n" in done.err
    assert cluster.given(RESTART) == restarted
    assert done.code == (0 if restarted else 1)
    assert ("Error: restart was not confirmed: nothing was done." in done.err) == (not restarted)


def test_one_that_fails_keeps_no_other_from_its_own(cluster: Cluster, capsys: Capsys) -> None:
    done = typed(capsys, "pause", "a", "nobody", "c")
    assert done.code == 1
    assert cluster.given(PAUSE) == {"a", "c"}
    why, last = done.err.splitlines()
    assert why.startswith("shop/nobody: there is no ConsumerGroup nobody in namespace shop")
    assert last == "Error: pause failed for 1 of 3 ConsumerGroups: shop/nobody."


def test_who_is_as_it_was_has_failed_only_where_it_was_named(cluster: Cluster, capsys: Capsys) -> None:
    typed(capsys, "pause", "a")
    done = typed(capsys, "resume", "--all", "--yes")
    unchanged = "is not paused, so there is nothing to resume"
    assert (done.code, done.err) == (0, "")
    assert lines(done) == ["a: resumed", f"b: unchanged: b {unchanged}", f"c: unchanged: c {unchanged}"]
    named = typed(capsys, "resume", "a", "b")
    assert (named.code, named.out) == (1, "")
    assert named.err.splitlines()[:2] == [f"shop/a: a {unchanged}", f"shop/b: b {unchanged}"]


async def test_an_operator_that_is_waited_for_in_vain_is_not_waited_for_again(
    cluster: Cluster, monkeypatch: Patch
) -> None:
    """All stand, and each says so."""
    cluster.deaf = frozenset("abc")
    monkeypatch.setattr(many, "each", partial(each, at_a_time=1))
    waited = []

    async def order(api: Any, place: Place, timeout_s: float) -> str:
        waited.append(timeout_s)
        return await one.pause("")(api, place, min(timeout_s, 0.05))

    places = [Place("shop", name) for name in "abc"]
    outcomes = await many.give_each(Choice(names=("a", "b", "c")), places, "pause", order, 30.0)
    assert waited == [30.0, 0.0, 0.0]
    assert [outcome.error is None for outcome in outcomes] == [False, True, True]
    assert cluster.given(PAUSE) == {"a", "b", "c"}


async def test_once_the_cluster_is_away_nobody_is_asked_any_more_and_all_are_named() -> None:
    asked = []

    async def act(place: Place) -> str:
        asked.append(place.name)
        if place.name == "b":
            raise ClusterUnreachable("the Kubernetes API did not answer")
        return "done"

    outcomes = await each([Place("shop", name) for name in "abcd"], act, "pause", at_a_time=1)
    assert asked == ["a", "b"]
    assert [outcome.value for outcome in outcomes] == ["done", None, None, None]
    assert [str(outcome.error) for outcome in outcomes[2:]] == [
        "not tried, since the Kubernetes API did not answer"
    ] * 2
    assert "see that the cluster runs" in str(outcomes[1].error)


async def test_so_many_are_asked_at_a_time() -> None:
    under_way, most = 0, 0

    async def act(place: Place) -> str:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return place.name

    places = [Place("shop", f"g{number}") for number in range(50)]
    outcomes = await each(places, act, "pause", at_a_time=7)
    assert (most, [outcome.value for outcome in outcomes]) == (7, [place.name for place in places])


async def test_one_that_is_refused_leaves_the_others_to_be_asked() -> None:
    async def act(place: Place) -> str:
        if place.name == "a":
            raise ClusterRefused("no")
        return "done"

    first, second = await each([Place("shop", "a"), Place("shop", "b")], act, "pause", at_a_time=1)
    assert (str(first.error), second) == ("no", Outcome(Place("shop", "b"), "done"))


async def test_who_breaks_it_off_reads_of_whom_nothing_is_known(
    cluster: Cluster, capsys: Capsys, monkeypatch: Patch
) -> None:
    begun = asyncio.Event()

    async def order(api: Any, place: Place, timeout_s: float) -> str:
        if place.name == "a":
            return "a: done"
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(many, "each", partial(each, at_a_time=1))
    places = [Place("shop", name) for name in "abc"]
    under_way = asyncio.create_task(many.give_each(Choice(names=("a", "b", "c")), places, "pause", order, 30.0))
    await begun.wait()
    under_way.cancel()
    with pytest.raises(asyncio.CancelledError):
        await under_way
    said = capsys.readouterr()
    assert said.out == "a: done\n"
    assert said.err == "Broken off, not begun: shop/c.\nBroken off, not known whether it was done: shop/b.\n"


def test_what_is_read_of_many_stands_one_below_the_other(cluster: Cluster, capsys: Capsys) -> None:
    done = typed(capsys, "why", "a", "b")
    assert (done.code, done.err) == (0, "")
    headings = [line for line in done.out.splitlines() if line in {"a", "b"}]
    assert headings == ["a", "b"]


def test_programs_get_a_list(cluster: Cluster, capsys: Capsys) -> None:
    document = json.loads(typed(capsys, "why", "-l", "team=pay", "-A", "-o", "json").out)
    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    assert [(item["namespace"], item["name"]) for item in document["items"]] == [
        ("bank", "d"),
        ("shop", "a"),
        ("shop", "b"),
    ]


def test_programs_get_a_list_also_where_labels_choose_one(cluster: Cluster, capsys: Capsys) -> None:
    chosen = json.loads(typed(capsys, "why", "-l", "team=stock", "-o", "json").out)
    named = json.loads(typed(capsys, "why", "c", "-o", "json").out)
    assert (chosen["kind"], named["name"]) == ("List", "c")


@pytest.mark.parametrize("output", ["table", "json"])
def test_what_can_be_read_is_shown_before_it_is_said_what_cannot(output: str, cluster: Cluster, capsys: Capsys) -> None:
    done = typed(capsys, "history", "a", "nobody", "-o", output)
    assert done.code == 1
    assert '"name": "a"' in done.out if output == "json" else "a\n" in done.out
    assert done.err.splitlines()[-1] == "Error: history failed for 1 of 2 ConsumerGroups: shop/nobody."


def test_all_that_are_waited_for_are_ready(cluster: Cluster, capsys: Capsys) -> None:
    done = typed(capsys, "status", "--all", "--wait", "--timeout", "1s")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("in namespace shop") == 3


def test_who_was_not_ready_in_time_is_named_with_why(cluster: Cluster, capsys: Capsys) -> None:
    cluster.deaf = frozenset("b")
    done = typed(capsys, "status", "a", "b", "--wait", "--timeout", "0s")
    why, last = done.err.splitlines()
    assert why.startswith("shop/b: ConsumerGroup b was not Ready within 0 s, the operator has said nothing of it")
    assert (done.code, last) == (3, "Error: status --wait failed for 1 of 2 ConsumerGroups: shop/b.")


def test_who_is_to_be_scaled_away_is_waited_for_among_many(
    cluster: Cluster, capsys: Capsys, monkeypatch: Patch
) -> None:
    left = {"b": "b-3 has yet to end"}
    monkeypatch.setattr("slackwater.cli.looking.waiting.surplus", lambda world: left.get(world.group.name, ""))
    done = typed(capsys, "status", "a", "b", "--wait", "--timeout", "0s")
    why, last = done.err.splitlines()
    assert why.startswith("shop/b: ConsumerGroup b was not Ready within 0 s, it is Ready, and b-3 has yet to end: ")
    assert (done.code, last) == (3, "Error: status --wait failed for 1 of 2 ConsumerGroups: shop/b.")


def test_the_list_is_of_those_with_the_labels(cluster: Cluster, capsys: Capsys, monkeypatch: Patch) -> None:
    @asynccontextmanager
    async def reached(context: str | None) -> AsyncIterator[Cluster]:
        yield cluster

    monkeypatch.setattr("slackwater.cli.looking.kept.cluster", reached)
    rows = typed(capsys, "list", "-A", "-l", "team=pay").out.splitlines()[1:]
    assert [row.split()[:2] for row in rows] == [["bank", "d"], ["shop", "a"], ["shop", "b"]]


def test_pictures_stand_side_by_side_where_they_fit() -> None:
    console = Console(width=30, color_system=None, legacy_windows=False, file=io.StringIO())
    pictures = [Text("x" * 10), Text("y" * 10), Text("z" * 10), Text("w" * 50)]
    with console.capture() as capture:
        for row in beside(pictures, console):
            console.print(row, soft_wrap=True)
    assert [line.rstrip() for line in capture.get().splitlines()] == [
        f"{'x' * 10}    {'y' * 10}",
        "",
        "z" * 10,
        "",
        "w" * 50,
    ]


@pytest.mark.parametrize("everywhere", [True, False])
def test_of_each_group_one_line_is_said_whatever_others_wrote_into_it(everywhere: bool, capsys: Capsys) -> None:
    said: Outcome[str] = Outcome(Place("shop", "a"), "a: approve: too few restarts\nbank/d: \x1b[2Jresumed")
    many.say_what_came(said, Choice(selector="team=pay", everywhere=everywhere))
    line = "a: approve: too few restarts bank/d: \\x1b[2Jresumed\n"
    assert capsys.readouterr().out == (f"shop/{line}" if everywhere else line)
