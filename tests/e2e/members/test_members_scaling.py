"""Scale and deletion take exactly the members of the pods that went; nobody else is touched (F10-F12)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import pytest

from tests.e2e.members.foreigners import foreigner
from tests.e2e.members.members import Watched
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import PARTITIONS, with_env
from tests.e2e.stage.kafka import Lookout, Sighting
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(2), pytest.mark.timeout(400)]

PATIENT: Final = {"Eager": {"session": "3m"}, "Consumer": {"consumer": {"session": "60s"}}}
OWNED_WITHIN_S: Final = 40.0
"""Of the end of the pods that were scaled away: less than their sessions, of which the shortest lasts 60 s."""
MANY, FEW = 6, 3
SCALED: Final = {"classic": {"target": "Eager"}, "modern": {"target": "Consumer"}}
MODERN: Final = ("modern", "seesaw-modern")
TOGGLED: Final = {"seesaw": {"target": "Eager"}, "seesaw-modern": {"target": "Consumer"}}


@pytest.fixture(scope="module")
def watched(stage: Stage) -> Iterator[dict[str, Watched]]:
    """All groups, made together; by name."""
    groups = [made(stage, name, MANY, protocol) for name, protocol in SCALED.items()]
    groups += [made(stage, name, MANY, protocol) for name, protocol in TOGGLED.items()]
    stage.create(*groups)
    with ExitStack() as stack:
        yield {
            name: Watched(name, stack.enter_context(Lookout(stage.kafka, stage.group_id(name))), stage.recorder)
            for name in (*SCALED, *TOGGLED)
        }


def made(stage: Stage, name: str, replicas: int, protocol: Json) -> Json:
    patient = PATIENT[protocol["target"]]
    return with_env(stage.group(name, replicas=replicas, protocol=protocol, timeouts=patient), START_DELAY_SECONDS="0")


def names(group: str, count: int) -> frozenset[str]:
    return frozenset(f"{group}-{ordinal}" for ordinal in range(count))


@dataclass(frozen=True)
class Scaled:
    group: Watched
    before: Sighting
    at: float

    def check(self) -> None:
        kept = names(self.group.name, FEW)
        owned = wait_for(
            "live owners", lambda: self.group.owned_by_only(kept, PARTITIONS, self.at), 90.0, lambda: self.group.now
        )
        last = max(self.group.wait_gone(pod, self.at) for pod in names(self.group.name, MANY) - kept)
        took_s, ending_s = owned - self.at, last - self.at
        print(f"{self.group.name}: owned {took_s:.1f} s after the scale, pods gone {ending_s:.1f} s")  # noqa: T201 - a figure
        assert took_s - ending_s <= OWNED_WITHIN_S
        assert self.group.touched_ids(kept, self.before, self.at) == []


@pytest.fixture(scope="module")
def scaled(stage: Stage, watched: dict[str, Watched]) -> dict[str, Scaled]:
    """Both at once."""
    done = {name: Scaled(watched[name], watched[name].wait_whole(MANY, PARTITIONS), time.time()) for name in SCALED}
    for name in SCALED:
        stage.cluster.kubectl("scale", "cg", name, f"--replicas={FEW}")
    return done


@pytest.mark.parametrize("name", SCALED)
def test_what_scaled_away_members_owned_is_owned_by_the_others_at_once(scaled: dict[str, Scaled], name: str) -> None:
    scaled[name].check()


@pytest.mark.parametrize("name", TOGGLED)
def test_scaled_down_and_up_again_at_once_nobody_who_lives_is_taken_out(
    stage: Stage, watched: dict[str, Watched], name: str
) -> None:
    """Three to six, to three, to six, without waiting for any of it to be done."""
    group = watched[name]
    before, began = group.wait_whole(MANY, PARTITIONS), time.time()
    for replicas in (FEW, MANY, FEW, MANY):
        stage.cluster.kubectl("scale", "cg", name, f"--replicas={replicas}")
    stage.cluster.wait_condition(name, "Ready", "True")
    group.wait_whole(MANY, PARTITIONS)
    stage.cluster.wait_phase(name, "Ready")
    assert group.touched_ids(names(name, FEW), before, began) == []


def test_whoever_came_by_an_id_that_was_never_given_stays_and_is_named(stage: Stage, scaled: dict[str, Scaled]) -> None:
    """It looks like ours; so does one that takes the id of a pod that is long gone."""
    scaled["classic"].check()
    group_id = stage.group_id("classic")
    with (
        foreigner(stage.kafka, group_id, stage.topic, "classic-9") as never_given,
        foreigner(stage.kafka, group_id, stage.topic, "classic-4") as long_gone,
    ):
        degraded = stage.cluster.wait_condition("classic", "Degraded", "True", "ForeignMembers")
        assert "classic-9" in degraded["message"]
        joined = wait_for("both", lambda: both(stage, group_id))
        stage.cluster.kubectl("scale", "cg", "classic", "--replicas=2")
        wait_for("the third to go", lambda: "classic-2" not in stage.kafka.look(group_id).members)
        stage.wait_passes(5)
        now = stage.kafka.look(group_id).members
        assert {i: now[i] for i in joined} == joined
        assert never_given.errors == long_gone.errors == []
        wait_for("both to be named", lambda: named(stage.cluster, "classic"))
    stage.cluster.wait_condition("classic", "Degraded", "False")


def both(stage: Stage, group_id: str) -> dict[str, str] | None:
    found = {i: m for i, m in stage.kafka.look(group_id).members.items() if i in ("classic-9", "classic-4")}
    return found if len(found) == 2 else None


def named(cluster: Cluster, group: str) -> bool:
    message = cluster.condition(group, "Degraded").get("message", "")
    return "classic-9" in message and "classic-4" in message


@pytest.mark.parametrize("name", TOGGLED)
def test_deletion_takes_out_our_members_and_leaves_the_offsets(
    stage: Stage, watched: dict[str, Watched], name: str
) -> None:
    group_id = stage.group_id(name)
    watched[name].wait_whole(MANY, PARTITIONS)
    committed = wait_for("commits", lambda: stage.kafka.committed(group_id))
    protocol = "consumer" if name in MODERN else "classic"
    with foreigner(stage.kafka, group_id, stage.topic, f"{name}-9", protocol):
        wait_for("the foreign one", lambda: f"{name}-9" in stage.kafka.look(group_id).members)
        stage.cluster.kubectl("delete", "cg", name, "--wait=false")
        wait_for(f"{name} to be gone", lambda: stage.cluster.get("cg", name) is None)
        assert set(stage.kafka.look(group_id).members) == {f"{name}-9"}
    assert {p: now >= committed[p] for p, now in stage.kafka.committed(group_id).items()} == dict.fromkeys(
        committed, True
    )
