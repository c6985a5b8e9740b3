"""A template change: every pod restarted once, one at a time, only while the group is calm, and without a rebalance."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, STABLE_FOR_S, with_env
from tests.e2e.stage.kafka import Lookout, Sighting
from tests.e2e.stage.progress import Release, down_over_time, incarnations, releases
from tests.e2e.stage.recorder import Record
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import BUSY, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

NAME = "orders"
PATIENT = {"session": "3m"}
"""No machine is so slow that a static member which is restarted is not back by then."""
GATING_ADDS_AT_MOST_S = (STABLE_FOR_S + 3.0) * BUSY


@dataclass(frozen=True)
class Rolled:
    """One whole rollout and everything that was seen of it. Moments are seconds since the epoch."""

    stage: Stage
    began: float
    ended: float
    sightings: list[Sighting]
    releases: list[Release]

    def records(self, kind: str) -> list[Record]:
        return [record for record in self.stage.recorder.records(kind) if record.seen_at <= self.ended]

    def last_before(self, moment: float) -> Sighting:
        return [each for each in self.sightings if each.seen_at <= moment][-1]

    def back_at(self, release: Release) -> float:
        """When the pod was back: the broker told of a new member under its instance id (F41), the kubelet of Ready."""
        pod = f"{NAME}-{release.ordinal}"
        before = self.last_before(release.at).members[pod]
        later = [sighting for sighting in self.sightings if sighting.asked_at > release.at]
        rejoined_at = next(each.asked_at for each in later if each.members.get(pod, before) != before)
        went_at = next(at for at, down in self.downs() if at > release.at and pod in down)
        ready_at = next(at for at, down in self.downs() if at > went_at and pod not in down)
        return max(rejoined_at, ready_at)

    def downs(self) -> list[tuple[float, frozenset[str]]]:
        return list(down_over_time(self.records("pods"), NAME, REPLICAS))


@pytest.fixture(scope="module")
def rolled(stage: Stage) -> Iterator[Rolled]:
    group = stage.group(NAME, timeouts=PATIENT)
    stage.create(group)
    with Lookout(stage.kafka, stage.group_id(NAME)) as lookout:
        began = time.time()
        stage.cluster.apply(with_env(group, VERSION="2"))
        stage.cluster.wait_complete(NAME)
        wait_for("the StatefulSet to be parked, and the record of it", lambda: _is_parked_on_record(stage))
        stage.recorder.first("the last Event", "events", _tells_of_the_end, began)
        ended = time.time()
        released = releases(stage.recorder, stage.cluster.namespace, NAME, began)
        yield Rolled(stage, began, ended, lookout.sightings(), released)


def _tells_of_the_end(event: Json) -> bool:
    return bool(event["reason"] == "RolloutComplete" and event["involvedObject"]["name"] == NAME)


def _is_parked_on_record(stage: Stage) -> bool:
    """What the API server has is recorded by a watch, which may come later than a look."""
    workload = stage.cluster.get("statefulset", NAME) or {}
    generation: int = workload["metadata"]["generation"]
    parked: bool = workload["spec"]["updateStrategy"]["rollingUpdate"]["partition"] == REPLICAS
    records = [record.obj for record in stage.recorder.records("statefulsets") if record.name == NAME]
    return parked and bool(records) and records[-1]["metadata"]["generation"] == generation


def test_every_pod_is_restarted_exactly_once(rolled: Rolled) -> None:
    before = incarnations((r for r in rolled.records("pods") if r.seen_at < rolled.began), NAME)
    after = incarnations(rolled.records("pods"), NAME)
    assert {f"{NAME}-{ordinal}": 2 for ordinal in range(REPLICAS)} == {name: len(uids) for name, uids in after.items()}
    assert {name: uids[:1] for name, uids in after.items()} == before


def test_highest_ordinal_first(rolled: Rolled) -> None:
    assert [release.ordinal for release in rolled.releases] == [2, 1, 0]


def test_never_are_two_pods_down(rolled: Rolled) -> None:
    assert {len(down) for at, down in rolled.downs() if at >= rolled.began} == {0, 1}


def test_no_rebalance(rolled: Rolled) -> None:
    """Static members that are back in time keep their partitions (F36)."""
    rebalances = rolled.stage.kafka.rebalances(rolled.stage.group_id(NAME), rolled.began, rolled.ended)
    assert rebalances == 0


def test_each_restart_came_after_calm(rolled: Rolled) -> None:
    """Judged by another client's eyes: for all of `stableFor` before each act the group looked the same, and whole."""
    for release in rolled.releases:
        last = rolled.last_before(release.at)
        assert (last.state, len(last.members), last.owned) == ("STABLE", REPLICAS, PARTITIONS)
        if release.at - STABLE_FOR_S >= rolled.sightings[0].asked_at:
            since = release.at - STABLE_FOR_S
            window = [s for s in rolled.sightings if since <= s.asked_at and s.seen_at <= release.at]
            assert {s.shape for s in window} == {last.shape}


def test_each_restart_came_while_every_pod_was_ready(rolled: Rolled) -> None:
    for release in rolled.releases:
        assert [down for at, down in rolled.downs() if at <= release.at][-1] == frozenset()


def test_gating_adds_little_after_a_pod_has_rejoined(rolled: Rolled) -> None:
    """From the member's return to the next restart, and from the last one's return to the end of the rollout."""
    done = rolled.stage.recorder.first(
        "the end", "consumergroups", lambda obj: obj["status"]["rollout"]["phase"] == "Complete", rolled.releases[-1].at
    )
    goes_on = [*(release.at for release in rolled.releases[1:]), done.seen_at]
    waited = [after - rolled.back_at(each) for each, after in zip(rolled.releases, goes_on, strict=True)]
    assert max(waited) <= GATING_ADDS_AT_MOST_S, waited


def test_every_restart_is_told_as_an_event(rolled: Rolled) -> None:
    told = [r.obj["reason"] for r in rolled.records("events") if r.obj["involvedObject"]["kind"] == "ConsumerGroup"]
    assert told.count("RestartingPod") == REPLICAS
    assert {"Created", "RolloutStarted", "RolloutComplete"} <= set(told)
