"""Protocols that cannot share a group: refused while all have to run, and a short stop of everybody where allowed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, with_env
from tests.e2e.stage.progress import incarnations, is_ready, pods_of
from tests.e2e.stage.stage import Stage
from tests.e2e.upgrades.upgrades import RDKAFKA, Upgraded, upgrade, with_target

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

SESSION_S = 180.0
"""Dead members would keep their partitions for so long, were they not removed (F3)."""
MIXED = "cutover"
KEEPS_DATA = "sticky"


@pytest.fixture(scope="module")
def groups(stage: Stage) -> dict[str, Json]:
    """`sticky` is scaled up: with its second rebalance its assignor puts data of its own into the assignments."""
    patient = {"session": f"{SESSION_S:.0f}s", "consumer": {"session": "60s"}}
    mixed = stage.group(MIXED, client=RDKAFKA, protocol={"target": "Eager"}, timeouts=patient)
    sticky = stage.group(KEEPS_DATA, client=RDKAFKA, protocol={"target": "Cooperative"}, replicas=1)
    stage.create(mixed, sticky)
    sticky = {**sticky, "spec": {**sticky["spec"], "replicas": 2}}
    stage.cluster.apply(sticky)
    stage.cluster.wait_complete(KEEPS_DATA)
    stage.cluster.wait_condition(KEEPS_DATA, "Ready", "True")
    return {MIXED: mixed, KEEPS_DATA: sticky}


@pytest.fixture(scope="module")
def changed(stage: Stage, groups: dict[str, Json]) -> Json:
    """The group with another version of its pods, rolled out while its target is refused."""
    group = with_env(with_target(groups[MIXED], "Cooperative"), VERSION="2")
    stage.cluster.apply(group)
    stage.cluster.wait_condition(MIXED, "ProtocolUpgrade", "False", "MixedAssignorsUnsupported")
    stage.cluster.wait_complete(MIXED)
    return group


@pytest.fixture(scope="module")
def there(stage: Stage, groups: dict[str, Json], changed: Json) -> dict[str, Upgraded]:
    mixed = with_target(changed, "Cooperative", allowDowntime=True)
    return upgrade(stage, mixed, with_target(groups[KEEPS_DATA], "Consumer", allowDowntime=True))


@pytest.fixture(scope="module")
def back(stage: Stage, groups: dict[str, Json], changed: Json, there: dict[str, Upgraded]) -> dict[str, Upgraded]:
    return upgrade(stage, with_target(changed, "Eager", allowDowntime=True), groups[KEEPS_DATA])


@dataclass(frozen=True)
class Outage:
    """From the end of the last old process to the moment at which every partition had a live owner again."""

    lasted_s: float
    start_s: float
    """How long the slowest new pod took from its making to Ready."""


def outage(way: Upgraded) -> Outage:
    records = [r for r in pods_of(way.stage.recorder.records("pods"), way.name) if r.seen_at <= way.ended]
    old = {r.obj["metadata"]["uid"] for r in records if r.seen_at < way.began}
    stopped: dict[str, float] = {}
    made: dict[str, float] = {}
    ready: dict[str, float] = {}
    for record in records:
        uid = record.obj["metadata"]["uid"]
        if uid in old and record.seen_at >= way.began and (record.deleted or not _runs(record.obj)):
            stopped.setdefault(uid, record.seen_at)
        if uid not in old:
            made.setdefault(uid, record.seen_at)
        if uid not in old and is_ready(record.obj):
            ready.setdefault(uid, record.seen_at)
    last = max(stopped.values())
    dead = set(way.before.members.values())
    whole = next(
        s.seen_at
        for s in way.sightings
        if s.asked_at > last
        and s.state == "STABLE"
        and len(s.owners) == PARTITIONS
        and not dead & set(s.members.values())
    )
    return Outage(whole - last, max(ready[uid] - made[uid] for uid in ready))


def _runs(pod: Json) -> bool:
    return any("running" in status.get("state", {}) for status in pod["status"].get("containerStatuses", ()))


def test_a_template_is_rolled_out_while_the_target_is_refused(stage: Stage, changed: Json) -> None:
    assert {len(uids) for uids in incarnations(stage.recorder.records("pods"), MIXED).values()} == {2}
    assert stage.cluster.condition(MIXED, "ProtocolUpgrade")["reason"] == "MixedAssignorsUnsupported"
    assert stage.kafka.look(stage.group_id(MIXED)).assignor == "range"


def test_drained_in_less_than_half_of_the_session_and_a_start(there: dict[str, Upgraded]) -> None:
    """By recorded moments, not by a clock that runs along. Were nobody removed, it would be a session at least; on a
    quiet machine it is less than a quarter of one."""
    _assert_quick(there[MIXED])
    assert there[MIXED].sightings[-1].assignor == "cooperative-sticky"


def test_and_back(back: dict[str, Upgraded]) -> None:
    _assert_quick(back[MIXED])
    assert back[MIXED].sightings[-1].assignor == "range"


def test_data_of_the_assignor_is_lost_in_a_stop(there: dict[str, Upgraded], back: dict[str, Upgraded]) -> None:
    """And the way back is online: the other protocol keeps none."""
    _assert_quick(there[KEEPS_DATA])
    assert there[KEEPS_DATA].sightings[-1].kind == "CONSUMER"
    assert back[KEEPS_DATA].moves() == set()


def test_the_status_tells_of_the_stop(there: dict[str, Upgraded]) -> None:
    assert there[MIXED].steps == [("Eager", "Cooperative", "DrainCutover", "1 of 1")]
    waited = {said.get("waitingFor", "") for said in there[MIXED].protocols}
    assert any(f"waiting for {MIXED}-" in each and "to end" in each for each in waited), waited
    told = there[MIXED].events
    assert [told.count(reason) for reason in ("UpgradeStarted", "UpgradeComplete")] == [1, 1]


def test_old_and_new_never_run_together(stage: Stage, there: dict[str, Upgraded]) -> None:
    way = there[MIXED]
    assert not [s for s in way.sightings if len(s.members) > REPLICAS]
    kinds = list(dict.fromkeys(s.assignor for s in way.sightings if s.state == "STABLE"))
    assert kinds == ["range", "cooperative-sticky"]


def _assert_quick(way: Upgraded) -> None:
    seen = outage(way)
    assert seen.lasted_s < SESSION_S / 2 + seen.start_s, seen
