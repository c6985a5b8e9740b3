"""A fleet on a night in November, with groups that move, wait and rest, as objects of the API."""

from __future__ import annotations

from typing import Any, Final

from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.parsing import parse_consumer_fleet
from slackwater.api.timestamps import moment
from slackwater.core.fleet.board import Board
from slackwater.core.fleet.seen import FleetSeen, Seen, fleet_seen, seen
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, write_memory
from slackwater.core.world.took import Took
from slackwater.core.world.turn import TurnRecord
from tests.api.manifests import consumer_group

Json = dict[str, Any]

NOW: Final = moment("2026-11-24T22:41:00+01:00")
KEY: Final = "slackwater/platform"
NIGHTS: Final = [{"name": "nights", "schedule": "0 22 * * *", "duration": "7h"}]
BUDGETS: Final = [
    {"name": "all", "max": 3},
    {"name": "coordinators", "per": "Coordinator", "max": 1, "spacing": "5s"},
]
STATUS: Final[Json] = {
    "observedGeneration": 7,
    "groups": {"selected": 12, "waiting": 4, "moving": 2, "failed": 1},
    "budgets": [
        {"name": "all", "limit": 3, "used": 2, "cells": 1},
        {"name": "coordinators", "limit": 1, "used": 1, "cells": 3, "full": ["lkc-7f/1", "lkc-7f/2"]},
    ],
    "failed": ["team-x/clicks"],
    "conditions": [
        {"type": "Accepted", "status": "True", "reason": "Accepted", "message": ""},
        {"type": "Open", "status": "True", "reason": "Open", "message": "window nights is open"},
        {"type": "Halted", "status": "False", "reason": "NotHalted", "message": ""},
    ],
}


def fleet_object(status: Json | None = None, name: str = "platform", **spec: Any) -> Json:
    given = {"selector": {}, "namespaces": ["*"], "timeZone": "Europe/Berlin", "windows": NIGHTS, "budgets": BUDGETS}
    return {
        "apiVersion": "slackwater.dev/v1alpha1",
        "kind": "ConsumerFleet",
        "metadata": {"name": name, "namespace": "slackwater", "uid": f"of-{name}", "generation": 7},
        "spec": {key: value for key, value in {**given, **spec}.items() if value is not None},
        "status": STATUS if status is None else status,
    }


def group_object(
    name: str, namespace: str, turn: TurnRecord | None = None, *, took: float | None = 150.0, **rest: Any
) -> Json:
    """`took`: what its rollouts usually take, in seconds."""
    obj = consumer_group(name, replicas=3)
    obj["metadata"] |= {"namespace": namespace, "uid": f"of-{name}", "generation": 1, "resourceVersion": "1"}
    is_over = turn is None or turn.done_at is not None
    memory = RolloutMemory(
        phase=rest.get("phase", RolloutPhase.COMPLETE if is_over else RolloutPhase.PROGRESSING),
        turn=turn,
        took=None if took is None else Took(3, took, took * 1.5, (took / 3,)),
    )
    return {**obj, "status": {"rollout": write_memory(memory), "updatedReplicas": rest.get("updated", 0)}}


def asked(minutes_ago: float, coordinator: int | None = None) -> TurnRecord:
    return TurnRecord(MoveReason.ROLLOUT, NOW - 60 * minutes_ago, cluster="lkc-7f", coordinator=coordinator)


def given(seconds_ago: float, coordinator: int) -> TurnRecord:
    at = NOW - seconds_ago
    return TurnRecord(MoveReason.ROLLOUT, at - 30, at, cluster="lkc-7f", coordinator=coordinator)


def done(hours_ago: float, coordinator: int) -> TurnRecord:
    at = NOW - 3600 * hours_ago
    return TurnRecord(MoveReason.ROLLOUT, at - 90, at - 60, at, "lkc-7f", coordinator)


def groups() -> list[Json]:
    """Broker 2 is team-inv/stock's; payments waits for it, behind two others."""
    return [
        group_object("stock", "team-inv", given(110, 2), updated=2),
        group_object("orders", "team-pay", given(20, 1), updated=0),
        group_object("export", "team-bi", asked(12, 2), took=240.0),
        group_object("clicks-2", "team-x", asked(8, 2), took=None),
        group_object("payments", "team-pay", asked(5, 2)),
        group_object("refunds", "team-pay", asked(4, 1)),
        group_object("clicks", "team-x", done(0.5, 3), phase=RolloutPhase.FAILED),
        *(group_object(f"rests-{n}", "team-bi", done(24, n % 3 + 1)) for n in range(4)),
        group_object("new", "team-bi", took=None),
    ]


def fleet(status: Json | None = None, name: str = "platform", **spec: Any) -> FleetSeen:
    return fleet_seen(parse_consumer_fleet(fleet_object(status, name, **spec)), NOW)


def board(*fleets: FleetSeen, of: list[Json] | None = None) -> Board:
    known: list[Seen] = [seen(each) for each in (groups() if of is None else of)]
    return Board(fleets or (fleet(),), known, NOW)
