"""A cause that forbids the next restart is seen at once, said by condition and Event, and ends the hold when it ends.

Each group is halfway through a rollout when its cause comes: a canary holds it after the first pod, so that the test
need not hurry. Then the canary is promoted, so that nothing but the cause keeps the rollout back.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass

import pytest

from slackwater.api.timestamps import moment
from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import PARTITIONS, with_env
from tests.e2e.stage.kafka import Lookout, Sighting
from tests.e2e.stage.processes import stopped
from tests.e2e.stage.progress import incarnations, is_ready, pods_of
from tests.e2e.stage.recorder import Record
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(3), pytest.mark.timeout(240)]

CANARY = [{"replicas": 1}]
SETTLING = ("GroupRebalancing", "GroupStabilizing")
"""What is said of a group whose members have just changed, before it is calm enough to be judged."""
LAG_BOUND = 500
BACKLOG = 6_000
"""What is unread for as long as the lag is to hold: a quarter of a minute's work of a group that nobody hinders."""
PASSES = 20


@dataclass(frozen=True)
class Held:
    """A group that is halfway through a rollout."""

    stage: Stage
    name: str

    @property
    def group_id(self) -> str:
        return self.stage.group_id(self.name)

    def wait_held(self, reasons: Collection[str], since: float) -> float:
        """When the API server first had the hold, seconds since the epoch; and that an Event tells of it."""

        def is_held(obj: Json) -> bool:
            gated = condition(obj, "RolloutGated")
            ours: bool = obj["metadata"]["name"] == self.name
            return ours and (gated.get("status"), gated.get("reason") in reasons) == ("True", True)

        def tells(event: Json) -> bool:
            return event["involvedObject"]["name"] == self.name and event["reason"] in reasons

        held = self.stage.recorder.first(f"a hold because of {reasons}", "consumergroups", is_held, since)
        self.stage.recorder.first(f"an Event that tells of {reasons}", "events", tells, since)
        return held.seen_at

    def assert_nothing_moves(self, since: float) -> None:
        """However often the operator looks, and although the canary that held the rollout before is promoted."""
        self.stage.cluster.annotate(self.name, "promote", "now")
        self.stage.wait_passes(PASSES)
        records = self.stage.recorder.records("pods", since)
        moved = {record.name: record.seen_at for record in pods_of(records, self.name) if _is_going(record)}
        assert not moved, (moved, self._held_until(min(moved.values())))

    def _held_until(self, moment: float) -> list[str]:
        """What the group said last before the first pod went."""
        said = [
            f"{record.seen_at}: {condition(record.obj, 'RolloutGated').get('message')}"
            for record in self.stage.recorder.records("consumergroups")
            if record.name == self.name and record.seen_at <= moment
        ]
        return said[-5:]

    def wait_told(self, word: str, since: float) -> float:
        """When the API server first had a hold whose message says the word."""
        held = self.stage.recorder.first(
            f"a hold that says {word}",
            "consumergroups",
            lambda obj: (
                obj["metadata"]["name"] == self.name and word in condition(obj, "RolloutGated").get("message", "")
            ),
            since,
        )
        return held.seen_at

    def wait_over(self) -> None:
        """The hold ends with its cause: without anybody's help the rollout goes on to its end."""
        self.stage.cluster.wait_complete(self.name)
        uids = incarnations(self.stage.recorder.records("pods"), self.name)
        assert {name: len(each) for name, each in uids.items()} == dict.fromkeys(uids, 2)


@pytest.fixture(scope="module")
def busy_topic(stage: Stage) -> str:
    """A topic whose load the test turns up and down by itself."""
    name = f"{stage.topic}-busy"
    stage.kafka.make_topic(name, PARTITIONS)
    return name


@pytest.fixture(scope="module")
def halfway(stage: Stage, busy_topic: str) -> Stage:
    """Each group with its first pod on the new version, or on the way to it."""
    quick_session = {"session": "6s", "heartbeat": "2s"}
    groups = [
        stage.group("foreign", replicas=2, rollout={"canary": CANARY}),
        patiently_probed(stage.group("stopped", replicas=2, rollout={"canary": CANARY}, timeouts=quick_session)),
        stage.group("paused", replicas=2, rollout={"canary": CANARY}),
        with_env(
            stage.group(
                "lagging", busy_topic, replicas=2, rollout={"canary": CANARY, "maxLag": {"absolute": LAG_BOUND}}
            ),
            POLL_WORK_MS="5",
        ),
    ]
    crashing = stage.group("crashing", replicas=2)
    stage.create(*groups, crashing)
    stage.cluster.apply(*(with_env(group, VERSION="2") for group in groups))
    stage.cluster.apply(with_env(crashing, VERSION="2", CRASH_TIMES="2"))
    for group in groups:
        stage.cluster.wait_condition(group["metadata"]["name"], "RolloutGated", "True", "CanaryHold")
    return stage


def patiently_probed(group: Json) -> Json:
    """A pod that does not answer is Ready for all of the test: one that is not is restarted for that, rightly."""
    container = group["spec"]["template"]["spec"]["containers"][0]
    container["readinessProbe"] = {**container["readinessProbe"], "failureThreshold": 600}
    return group


def first_sighting(lookout: Lookout, what: str, since: float, *, member: str, there: bool) -> Sighting:
    """The first look that showed the member in the group, or not in it."""

    def look() -> Sighting | None:
        return next((each for each in lookout.sightings(since) if (member in each.members) == there), None)

    return wait_for(what, look, 60.0)


def test_a_pod_in_crash_loop_back_off(halfway: Stage) -> None:
    """Two crashes are not yet a failed version; the third start works."""
    held, recorder = Held(halfway, "crashing"), halfway.recorder
    backs_off = recorder.first("CrashLoopBackOff", "pods", _backs_off, 0.0)  # on a slow machine not every pause shows
    pod = backs_off.name
    held.wait_told("CrashLoopBackOff", 0.0)
    held.wait_held(["PodNotReady"], moment(backs_off.obj["metadata"]["creationTimestamp"]))
    held.wait_over()
    back = recorder.first("its last start", "pods", lambda obj: _is_back(obj, pod), backs_off.seen_at)
    others = [record for record in pods_of(recorder.records("pods"), held.name) if record.name != pod]
    assert not [r for r in others if backs_off.seen_at <= r.seen_at < back.seen_at and _is_going(r)]


def test_a_foreign_member(halfway: Stage) -> None:
    held, began = Held(halfway, "foreign"), time.time()
    with Lookout(halfway.kafka, held.group_id) as lookout:
        with halfway.kafka.foreign_member(held.group_id, halfway.topic, "stranger"):
            first_sighting(lookout, "the stranger", began, member="stranger", there=True)
            held.wait_held((*SETTLING, "ForeignMembers"), began)
            held.wait_held(["ForeignMembers"], began)
            held.wait_told("stranger", began)
            held.assert_nothing_moves(began)
            degraded = halfway.cluster.condition(held.name, "Degraded")
            assert (degraded["status"], degraded["reason"]) == ("True", "ForeignMembers")
        held.wait_over()


def test_a_member_stopped_by_sigstop(halfway: Stage) -> None:
    """Its pod goes on being Ready for a while; its session in the group does not."""
    held, began = Held(halfway, "stopped"), time.time()
    pod = halfway.cluster.pods(held.name)[0]
    with Lookout(halfway.kafka, held.group_id) as lookout:
        with stopped(pod):
            first_sighting(lookout, "the end of its session", began, member="stopped-0", there=False)
            held.wait_held((*SETTLING, "MemberMissing"), began)
            held.wait_held(["MemberMissing"], began)
            held.wait_told("stopped-0", began)
            held.assert_nothing_moves(began)
        held.wait_over()


def test_lag_above_the_bound(halfway: Stage, busy_topic: str) -> None:
    held, began = Held(halfway, "lagging"), time.time()

    with halfway.kafka.backlog(busy_topic, held.group_id, BACKLOG):
        wait_for("lag", lambda: halfway.kafka.lag(held.group_id, busy_topic, PARTITIONS) > LAG_BOUND)
        held.wait_held(["LagAboveGate"], began)
        held.wait_told(str(LAG_BOUND), began)
        assert halfway.cluster.condition(held.name, "Lagging")["status"] == "True"
        held.assert_nothing_moves(began)
    held.wait_over()


def test_paused_by_annotation(halfway: Stage) -> None:
    held, began = Held(halfway, "paused"), time.time()
    halfway.cluster.annotate(held.name, "pause", "year's end")
    held.wait_held(["Paused"], began)
    held.wait_told("year's end", began)
    held.assert_nothing_moves(began)
    assert halfway.cluster.status(held.name)["phase"] == "Paused"
    halfway.cluster.annotate(held.name, "pause", None)
    held.wait_over()


def _is_going(record: Record) -> bool:
    return record.deleted or "deletionTimestamp" in record.obj["metadata"]


def _backs_off(pod: Json) -> bool:
    states = [each.get("state", {}).get("waiting", {}) for each in pod["status"].get("containerStatuses", ())]
    return any(waiting.get("reason") == "CrashLoopBackOff" for waiting in states)


def _is_back(pod: Json, name: str) -> bool:
    return pod["metadata"]["name"] == name and is_ready(pod)
