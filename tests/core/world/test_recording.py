"""Worlds in files: version 1 is still read, a later one is not. (Worlds of every kind, there and back: tests/cli.)"""

from __future__ import annotations

import json
from typing import Any

import pytest

from slackwater.core.plan import plan
from slackwater.core.world.recording import VERSION, RecordingUnreadable, read_world, write_world
from slackwater.core.world.world import World
from tests.core.factories import pod, workload, world


def recorded(of: World) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(write_world(of, "a test")))
    return document


def test_what_is_derived_is_not_recorded() -> None:
    """Not even once it was asked for."""
    given = world()
    before = recorded(given)
    plan(given)
    assert recorded(given) == before
    assert set(before["world"]) == set(World.__dataclass_fields__)


@pytest.mark.parametrize(
    ("old", "sets", "pods"),
    [
        ({"workload": None, "pods": [], "beside": None}, [], []),
        ({"workload": "payments", "pods": [0], "beside": None}, ["payments"], ["payments/payments-0"]),
        (
            {"workload": "a sum", "pods": [0], "beside": {"in_use": "payments", "newcomer": "payments-alt"}},
            ["payments", "payments-alt"],
            ["/payments-0", "/payments-7", "/payments-8"],
        ),
    ],
)
def test_version_1_had_one_workload_and_pods_in_three_places(
    old: dict[str, Any], sets: list[str], pods: list[str]
) -> None:
    document = recorded(world())
    plain = {key: value for key, value in document["world"].items() if key not in ("sets", "all_pods")}
    one_set, one_pod = document["world"]["sets"][0], document["world"]["all_pods"][0]
    without_owner = {key: value for key, value in one_pod.items() if key != "workload"}
    plain["workload"] = {**one_set, "name": old["workload"]} if old["workload"] else None
    plain["pods"] = [without_owner for _ in old["pods"]]
    plain["beside"] = old["beside"] and {
        **{key: {**one_set, "name": name} for key, name in old["beside"].items()},
        "arriving": [{**without_owner, "name": "payments-7", "ordinal": 7}],
        "leaving": [{**without_owner, "name": "payments-8", "ordinal": 8}],
    }
    read = read_world({"version": 1, "world": plain})
    assert [each.name for each in read.sets] == sets
    assert [f"{each.workload}/{each.name}" for each in read.all_pods] == pods


def test_a_later_version_is_refused() -> None:
    with pytest.raises(
        RecordingUnreadable, match=f"version {VERSION + 1}, and this slackwater reads 1 and {VERSION}: use"
    ):
        read_world({**recorded(world()), "version": VERSION + 1})


def test_both_stateful_sets_come_back() -> None:
    given = world(sets=(workload(), workload(name="payments-alt", replicas=0, created_at=5.0)), pods=(pod(0), pod(1)))
    read = read_world(recorded(given))
    assert (read.sets, read.all_pods, read.beside) == (given.sets, given.all_pods, given.beside)
