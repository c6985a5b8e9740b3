"""When a run's versions count as rolled out, or as taken back: by pods, by groups, by whoever rolls out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from demo.cascade.brokers import Brokers, Described
from demo.cascade.cast import Cast
from demo.cascade.modes import BYSTANDER_MEMBERS, FIRST, GROUPS, MEMBERS, PARTITIONS, SECOND, Mode
from demo.cascade.scene import Scene
from demo.group import STABLE, Group
from sandbox.errors import StartFailed
from tests.demo.cascade.samples import BY_NAME, CAST, pod
from tests.e2e.stage.api import Api
from tests.e2e.stage.recorder import Record, Recorder

NAMES = [actor.name for actor in CAST.actors]
GROUP = CAST.groups[0].name
FLEET = {
    "status": {"conditions": [{"type": "Accepted", "status": "True"}], "groups": {"selected": GROUPS, "waiting": 0}}
}


def whole(members: int) -> Described:
    return Described(Group(STABLE, tuple(map(str, range(members))), PARTITIONS), 1)


@dataclass
class Fakes:
    """Brokers, API server and recorder at once: what is said of every group, and of pods."""

    described: dict[str, Described] = field(default_factory=dict)
    workloads: list[dict[str, Any]] = field(default_factory=list)
    fleet: dict[str, Any] | None = None
    pods: list[Record] = field(default_factory=list)

    def describe(self, _: Cast) -> dict[str, Described]:
        return self.described

    def list_all(self, *_: str) -> tuple[list[dict[str, Any]], str]:
        return self.workloads, "1"

    def get(self, *_: str) -> dict[str, Any] | None:
        return self.fleet

    def records(self, _: str) -> list[Record]:
        return list(self.pods)

    def see(self, obj: dict[str, Any], *, deleted: bool = False) -> None:
        self.pods.append(Record(float(len(self.pods)), "pods", deleted, obj))

    def scene(self, mode: str = "no-fleet") -> Scene:
        return _scene(BY_NAME[mode], self)


def _scene(mode: Mode, fakes: Fakes) -> Scene:
    return Scene(mode, CAST, cast("Brokers", fakes), cast("Api", fakes), cast("Recorder", fakes))


def consumer_group(name: str, reason: str = "RolloutComplete") -> dict[str, Any]:
    condition = {"type": "Progressing", "status": "False", "reason": reason, "message": ""}
    return {
        "metadata": {"name": name, "generation": 2},
        "status": {"observedGeneration": 2, "conditions": [condition]},
    }


@pytest.fixture
def fakes() -> Fakes:
    """All groups are at rest on the first version."""
    made = Fakes(fleet=FLEET)
    for actors, members in ((CAST.groups, MEMBERS), (CAST.bystanders, BYSTANDER_MEMBERS)):
        for actor in actors:
            made.described[actor.name] = whole(members)
            for number in range(members):
                made.see(pod(actor.name, f"{actor.name}-{number}", ready=True))
    made.workloads = [consumer_group(actor.name) for actor in CAST.groups]
    return made


def test_a_version_is_rolled_out_when_pods_groups_and_operator_agree(fakes: Fakes) -> None:
    scene = fakes.scene()
    assert scene.is_rolled_out(FIRST)
    assert not scene.is_rolled_out(SECOND)


def _is_ending(fakes: Fakes) -> None:
    fakes.see(pod(GROUP, f"{GROUP}-0", ready=True, ending=True))


def _is_gone(fakes: Fakes) -> None:
    fakes.see(pod(GROUP, f"{GROUP}-0", ready=False), deleted=True)


def _is_new(fakes: Fakes) -> None:
    fakes.see(pod(GROUP, "another", ready=True))


def _has_left(fakes: Fakes) -> None:
    fakes.described[GROUP] = whole(MEMBERS - 1)


def _is_unknown(fakes: Fakes) -> None:
    del fakes.described[CAST.bystanders[0].name]


def _is_not_done(fakes: Fakes) -> None:
    fakes.workloads[0] = consumer_group(GROUP, "RolloutFailed") | {"status": {"observedGeneration": 1}}


@pytest.mark.parametrize("happens", [_is_ending, _is_gone, _is_new, _has_left, _is_unknown, _is_not_done])
def test_it_is_not_while_one_of_them_does_not(fakes: Fakes, happens: Callable[[Fakes], None]) -> None:
    scene = fakes.scene()
    assert scene.is_rolled_out(FIRST)
    happens(fakes)
    assert not scene.is_rolled_out(FIRST)


def test_all_are_back_only_once_a_bad_pod_was_there_and_is_gone(fakes: Fakes) -> None:
    scene = fakes.scene("bad-image-no-fleet")
    assert not scene.is_back()
    fakes.see(pod(GROUP, f"{GROUP}-2", ready=True, ending=True), deleted=True)
    fakes.see(pod(GROUP, "bad", SECOND, ready=False, bad=True))
    assert not scene.is_back()
    fakes.see(pod(GROUP, "bad", SECOND, ready=False, bad=True), deleted=True)
    fakes.see(pod(GROUP, "back", ready=True))
    assert scene.is_back()


def test_a_fleet_is_waited_for_where_there_is_one(fakes: Fakes) -> None:
    assert fakes.scene("quarter").is_selected()
    fakes.fleet = {"status": {**FLEET["status"], "groups": {"selected": GROUPS - 1}}}
    assert not fakes.scene("quarter").is_selected()
    fakes.fleet = None
    assert not fakes.scene("quarter").is_selected()
    assert fakes.scene("no-fleet").is_selected()


def test_waiting_asks_that_it_stays_so(fakes: Fakes, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(100.0)
    monkeypatch.setattr("demo.cascade.scene.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("demo.cascade.scene.time.sleep", lambda _: None)
    answers = iter([False, True, True, False, True, True, True, True])
    fakes.scene().wait("it", lambda: next(answers), within_s=60.0, steady_for_s=3.0)
    assert list(answers) == []


def test_waiting_in_vain_says_for_what_and_what_there_is(fakes: Fakes, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(100.0, 10.0)
    monkeypatch.setattr("demo.cascade.scene.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("demo.cascade.scene.time.sleep", lambda _: None)
    scene = fakes.scene()
    with pytest.raises(StartFailed, match="Not done within 30 s: the rollouts") as raised:
        scene.wait("the rollouts", lambda: scene.is_rolled_out(SECOND), 30.0)
    assert [line.partition(":")[0] for line in raised.value.log] == NAMES
    assert "v1 Ready, v1 Ready, v1 Ready; group unknown" in raised.value.log[0]
