"""A run while it is watched: who is there, who is at rest, and whether whoever rolls out says that it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from demo import fleet
from demo.cascade.brokers import Brokers, Described
from demo.cascade.cast import Actor, Cast
from demo.cascade.manifests import FLEET
from demo.cascade.modes import BYSTANDER_MEMBERS, FIRST, GROUPS, MEMBERS, PARTITIONS, Mode
from demo.cascade.motion import Sight, newest, sight, with_bad_pods
from demo.group import STABLE
from demo.manifests import NAMESPACE
from sandbox.errors import StartFailed
from tests.e2e.stage.api import Api
from tests.e2e.stage.recorder import Recorder

_LOOK_EVERY_S: Final = 1.0
"""What watches takes its share of the two cores: pods come by a watch, the rest is asked for when they are at rest."""


class Scene:
    """`recorder` records the pods of the namespace while the scene is used."""

    def __init__(self, mode: Mode, cast: Cast, brokers: Brokers, api: Api, recorder: Recorder) -> None:
        self.mode = mode
        self.cast = cast
        self._brokers, self._api, self._recorder = brokers, api, recorder
        self._sights: list[Sight] = []
        self._described: dict[str, Described] = {}

    def sights(self) -> list[Sight]:
        """Every version of every pod so far."""
        records = self._recorder.records("pods")[len(self._sights) :]
        self._sights += [sight(each.seen_at, each.obj, deleted=each.deleted) for each in records]
        return self._sights

    def is_rolled_out(self, version: str) -> bool:
        """Whether every pod has this version and is Ready, and every group is whole and, by its own word, done."""
        return self._has_only(version) and self._is_whole() and self._is_done()

    def is_back(self) -> bool:
        """Whether some group has had the bad image, and all are on the first version, at rest and whole."""
        return bool(with_bad_pods(self.sights())) and self._has_only(FIRST) and self._is_whole()

    def is_selected(self) -> bool:
        """Whether the fleet, if there is one, is accepted and knows its groups."""
        if self.mode.fleet is None:
            return True
        found = self._api.get("consumerfleets", NAMESPACE, FLEET) or {}
        status = found.get("status") or {}
        conditions = {each["type"]: each["status"] for each in status.get("conditions", ())}
        selected = (status.get("groups") or {}).get("selected", 0)
        return conditions.get("Accepted") == "True" and selected == GROUPS

    def wait(self, what: str, condition: Callable[[], bool], within_s: float, steady_for_s: float = 0.0) -> None:
        """Until `condition` has held for `steady_for_s`. Raises StartFailed after `within_s`."""
        deadline_s, since_s = time.monotonic() + within_s, None
        while True:
            now_s = time.monotonic()
            since_s = (since_s or now_s) if condition() else None
            if since_s is not None and now_s - since_s >= steady_for_s:
                return
            if now_s > deadline_s:
                raise StartFailed(f"Not done within {within_s:.0f} s: {what}.", log=self._evidence())
            time.sleep(_LOOK_EVERY_S)

    def coordinators(self) -> dict[str, int]:
        """Of groups and bystanders, now."""
        return {name: each.coordinator for name, each in self._brokers.describe(self.cast).items()}

    def _has_only(self, version: str) -> bool:
        pods = newest(self.sights())
        return all(_is_at_rest(pods.get(each.name, {}), MEMBERS, version) for each in self.cast.groups) and all(
            _is_at_rest(pods.get(each.name, {}), BYSTANDER_MEMBERS, FIRST) for each in self.cast.bystanders
        )

    def _is_whole(self) -> bool:
        self._described = self._brokers.describe(self.cast)
        return all(self._has_all(each, MEMBERS) for each in self.cast.groups) and all(
            self._has_all(each, BYSTANDER_MEMBERS) for each in self.cast.bystanders
        )

    def _has_all(self, actor: Actor, members: int) -> bool:
        found = self._described.get(actor.name)
        if found is None:
            return False
        return (found.group.state, len(found.group.members), found.group.owned) == (STABLE, members, PARTITIONS)

    def _is_done(self) -> bool:
        found, _ = self._api.list_all(f"{self.mode.kind.value}s", NAMESPACE)
        names = {actor.name for actor in self.cast.groups}
        done = [each for each in found if fleet.progress(self.mode.kind, each).done]
        return names <= {each["metadata"]["name"] for each in done}

    def _evidence(self) -> list[str]:
        pods = newest(self.sights())
        return [_said(each.name, pods.get(each.name, {}), self._described.get(each.name)) for each in self.cast.actors]


def _is_at_rest(pods: Mapping[str, Sight], count: int, version: str) -> bool:
    return len(pods) == count and all(
        each.is_ready and not each.is_ending and not each.is_bad and each.version == version for each in pods.values()
    )


def _said(name: str, pods: Mapping[str, Sight], found: Described | None) -> str:
    states = ", ".join(map(_state, pods.values()))
    group = (
        f"{found.group.state}, {len(found.group.members)} members, {found.group.owned} owned" if found else "unknown"
    )
    return f"{name}: {states or 'no pods'}; group {group}"


def _state(pod: Sight) -> str:
    word = "ending" if pod.is_ending else "Ready" if pod.is_ready else "not Ready"
    return f"{pod.version}{', bad image,' if pod.is_bad else ''} {word}"
