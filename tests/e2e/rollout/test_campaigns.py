"""Twenty groups to KIP-848 by one campaign, with the operator killed in each wave; then all restarted by another one.

Campaigns are begun, promoted and read by the command, as people do it. In which order groups moved is read from their
pods, not from what the operator says. The second campaign knows how long the groups' rollouts take.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime
from statistics import median
from typing import Any, Final

import pytest

from tests.cli.command import Done, ran
from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import with_env
from tests.e2e.stage.progress import incarnations, most_at_once, pods_of
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.upgrades.upgrade_ways import RDKAFKA

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(2400), pytest.mark.minutes(15)]

FLEET: Final = "platform"
KIP_848, RESTART = "kip-848", "restart-all"
WAVES: Final = ("canary", "quarter", "rest")
CANARIES: Final = tuple(f"canary-{number}" for number in range(2))
OTHERS: Final = tuple(f"group-{number:02}" for number in range(18))
NAMES: Final = (*CANARIES, *OTHERS)
SETS_ITS_OWN, TOO_OLD = "own-session", "old-client"
SKIPPED: Final = {SETS_ITS_OWN: "Refused", TOO_OLD: "ClientCannot"}
SOAK_S: Final = 5
AT_MOST: Final = 2
ETA_MAY_BE_WRONG_BY: Final = 0.2


@pytest.fixture(scope="module", autouse=True)
def fleet(stage: Stage) -> Iterator[None]:
    stage.cluster.apply(manifest())
    stage.create(*(group(stage, name) for name in NAMES))
    stage.create(
        group(stage, SETS_ITS_OWN, timeouts={"session": "20s"}),
        group(stage, TOO_OLD, client={"library": "Librdkafka", "version": "2.2.0"}),
    )
    yield
    for name in (KIP_848, RESTART):
        stage.cluster.kubectl("delete", "fleetcampaign", name, "--ignore-not-found")
    stage.cluster.kubectl("delete", "consumerfleet", FLEET, "--ignore-not-found")


def group(stage: Stage, name: str, **spec: Any) -> Json:
    made = with_env(stage.group(name, replicas=1, **{"client": RDKAFKA, **spec}), START_DELAY_SECONDS="0")
    made["metadata"]["labels"] = {"canary": str(name in CANARIES).lower()}
    return made


def manifest(**spec: Any) -> Json:
    said = {
        "selector": {},
        "budgets": [{"name": "all", "max": AT_MOST}],
        "waves": [
            {
                "name": WAVES[0],
                "selector": {"matchLabels": {"canary": "true"}},
                "soak": f"{SOAK_S}s",
                "promote": "Manual",
            },
            {"name": WAVES[1], "size": "25%", "soak": f"{SOAK_S}s"},
            {"name": WAVES[2]},
        ],
        **spec,
    }
    metadata = {"name": FLEET}
    return {"apiVersion": "slackwater.dev/v1alpha1", "kind": "ConsumerFleet", "metadata": metadata, "spec": said}


def typed(stage: Stage, *arguments: str) -> Done:
    environment = {"KUBECONFIG": str(stage.cluster.kubeconfig)}
    done = ran(*arguments, "-n", stage.cluster.namespace, environment=environment)
    assert done.code == 0, done
    return done


def said_by(stage: Stage, *arguments: str) -> str:
    """In one line: where there is no terminal, lines end at eighty columns."""
    return " ".join(typed(stage, *arguments).out.split())


def campaign(stage: Stage, name: str) -> Json:
    found: Json = (stage.cluster.get("fleetcampaign", name) or {}).get("status") or {}
    return found


def wait_phase(stage: Stage, name: str, *phases: str, deadline_s: float = 900.0) -> Json:
    def reached() -> Json | None:
        status = campaign(stage, name)
        assert status.get("phase") != "Halted", status
        return status if status.get("phase") in phases else None

    return wait_for(f"the campaign {name} to be {' or '.join(phases)}", reached, deadline_s, stage.operator.log_tail)


def moving(stage: Stage) -> list[str]:
    """Who has a turn."""
    found = {name: (stage.cluster.status(name).get("rollout") or {}).get("turn") or {} for name in NAMES}
    return [name for name, turn in found.items() if turn.get("givenAt") and not turn.get("doneAt")]


def kill_in(stage: Stage, name: str, wave: str) -> None:
    """While a group of it moves."""
    wait_for(
        f"a group of {wave} to move",
        lambda: campaign(stage, name).get("wave") == wave and moving(stage),
        300.0,
        stage.operator.log_tail,
    )
    stage.operator.kill()
    stage.operator.start()
    stage.operator.wait_ready()


def spans(stage: Stage, since: float) -> dict[str, tuple[float, float]]:
    """From when the pod that each had was deleted, or is seen to be on its way out, until the last one is Ready."""
    found: dict[str, tuple[float, float]] = {}
    for name in NAMES:
        of_it = [record for record in pods_of(stage.recorder.records("pods"), name) if record.seen_at >= since]
        leaving = [r.seen_at for r in of_it if r.deleted or "deletionTimestamp" in r.obj["metadata"]]
        ready = [r.seen_at for r in of_it if not r.deleted and _is_ready(r.obj)]
        if leaving and ready:
            found[name] = (min(leaving), next(at for at in ready if at > max(leaving)))
    return found


def _is_ready(pod: Json) -> bool:
    return condition(pod, "Ready").get("status") == "True" and "deletionTimestamp" not in pod["metadata"]


def test_all_go_to_kip_848_in_waves_though_the_operator_is_killed_in_each(stage: Stage) -> None:
    stage.cluster.apply(manifest(defaults={"protocol": {"target": "Consumer"}}))
    began, before = time.time(), {name: incarnations(stage.recorder.records("pods"), name) for name in NAMES}
    typed(stage, "campaign", "start", KIP_848, "--fleet", FLEET, "--apply-defaults", "--field", "protocol.target")
    kill_in(stage, KIP_848, WAVES[0])
    wait_phase(stage, KIP_848, "AwaitingPromotion")
    assert set(spans(stage, began)) == set(CANARIES)
    promoted = time.time()
    typed(stage, "campaign", "promote", KIP_848)
    for wave in WAVES[1:]:
        kill_in(stage, KIP_848, wave)
    status = wait_phase(stage, KIP_848, "Succeeded")

    assert {name: stage.cluster.status(name)["group"]["type"] for name in NAMES} == dict.fromkeys(NAMES, "Consumer")
    after = {name: incarnations(stage.recorder.records("pods"), name) for name in NAMES}
    made = {pod: len(uids) for each in after.values() for pod, uids in each.items()}
    assert made == {pod: len(uids) + 1 for each in before.values() for pod, uids in each.items()}
    found = spans(stage, began)
    assert most_at_once(found) <= AT_MOST
    _came_in_waves(found, status, promoted)


def _came_in_waves(found: dict[str, tuple[float, float]], status: Json, promoted: float) -> None:
    by_start = sorted(found, key=lambda name: found[name])
    assert set(by_start[: len(CANARIES)]) == set(CANARIES)
    sizes = [wave["done"] for wave in status["waves"]]
    assert [wave["name"] for wave in status["waves"]] == list(WAVES)
    assert sum(sizes) == len(NAMES)
    assert sizes[0] == len(CANARIES)
    second = by_start[sizes[0] : sizes[0] + sizes[1]]
    third = by_start[sizes[0] + sizes[1] :]
    assert promoted <= min(found[name][0] for name in second)
    assert max(found[name][1] for name in second) + SOAK_S <= min(found[name][0] for name in third)


def test_who_cannot_is_skipped_by_name_and_keeps_its_pods(stage: Stage) -> None:
    status = campaign(stage, KIP_848)
    said = {each["group"].rpartition("/")[2]: each["reason"] for each in status["skippedGroups"]}
    assert said == SKIPPED
    assert status["skipped"] == dict.fromkeys(SKIPPED.values(), 1)
    pods = stage.recorder.records("pods")
    assert {name: [len(uids) for uids in incarnations(pods, name).values()] for name in SKIPPED} == {
        name: [1] for name in SKIPPED
    }
    out = typed(stage, "campaign", "status", KIP_848).out
    assert all(name in out for name in SKIPPED)


def test_a_second_campaign_says_when_it_ends(stage: Stage) -> None:
    """Its first word counts as much as its last: the error is a share of what the whole campaign took."""
    waves = [{"name": WAVES[0], "size": 2, "soak": f"{SOAK_S}s"}, {"name": WAVES[2]}]
    spec = {"fleetRef": {"name": FLEET}, "action": {"restart": {}}, "waves": waves}
    metadata = {"name": RESTART}
    began, said = time.time(), dict[str, float]()
    stage.cluster.apply(
        {"apiVersion": "slackwater.dev/v1alpha1", "kind": "FleetCampaign", "metadata": metadata, "spec": spec}
    )

    def over() -> Json | None:
        status = campaign(stage, RESTART)
        assert status.get("phase") != "Halted", status
        if eta := (status.get("eta") or {}).get("p50"):
            said.setdefault(eta, datetime.fromisoformat(eta).timestamp())
        return status if status.get("phase") == "Succeeded" else None

    wait_for("the second campaign to be over", over, 900.0, stage.operator.log_tail)
    took = time.time() - began
    wrong_by = [abs(each - began - took) / took for each in said.values()]
    assert wrong_by, "it never said when it would be over"
    assert median(wrong_by) <= ETA_MAY_BE_WRONG_BY, json.dumps({"took": took, "said": list(said)})
    assert most_at_once(spans(stage, began)) <= AT_MOST


def test_a_pause_of_the_fleet_and_an_opening_by_command(stage: Stage) -> None:
    """`fleet pause` lets nobody begin, `fleet open` lets them in a freeze."""
    typed(stage, "fleet", "pause", FLEET, "--reason", "an audit")
    stage.cluster.apply(with_env(group(stage, OTHERS[0]), VERSION="2", START_DELAY_SECONDS="0"))
    stage.cluster.wait_condition(OTHERS[0], "RolloutGated", "True", "AwaitingTurn")
    assert "an audit" in said_by(stage, "fleet", "status", FLEET)
    assert "an audit" in said_by(stage, "why", OTHERS[0])
    typed(stage, "fleet", "resume", FLEET)
    stage.cluster.wait_complete(OTHERS[0], 300.0)
    freeze = {"name": "for-ever", "from": "2026-01-01T00:00", "to": "2046-01-01T00:00"}
    closed: Json = {"timeZone": "UTC", "freezes": [freeze]}
    stage.cluster.apply(manifest(defaults={"protocol": {"target": "Consumer"}}, **closed))
    stage.cluster.apply(with_env(group(stage, OTHERS[0]), VERSION="3", START_DELAY_SECONDS="0"))
    stage.cluster.wait_condition(OTHERS[0], "RolloutGated", "True", "AwaitingTurn")
    typed(stage, "fleet", "open", FLEET, "--for", "10m", "--reason", "a fix that cannot wait")
    stage.cluster.wait_complete(OTHERS[0], 300.0)
    assert "a fix that cannot wait" in said_by(stage, "fleet", "status", FLEET)
