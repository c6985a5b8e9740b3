"""A bad version applied to twelve groups at once, in a fleet that lets two move and halts at the first failure.

Two groups at most get a bad pod. The right version, applied to all twelve during the halt, reaches those first, lifts
the halt without a command, and then goes to the others, which never had the bad one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import with_env
from tests.e2e.stage.progress import pods_of
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(900), pytest.mark.minutes(5)]

FLEET: Final = "careful"
NAMES: Final = tuple(f"group-{number:02}" for number in range(12))
AT_MOST: Final = 2
BAD, RIGHT = "bad", "3"
LOOKS_AT_REST: Final = 24
"""Passes over the groups that wait: each had its turn to do what it must not."""


@pytest.fixture(scope="module", autouse=True)
def fleet(stage: Stage) -> Iterator[None]:
    spec = {"selector": {}, "budgets": [{"name": "all", "max": AT_MOST}], "halt": {"failures": 0}}
    metadata = {"name": FLEET}
    stage.cluster.apply(
        {"apiVersion": "slackwater.dev/v1alpha1", "kind": "ConsumerFleet", "metadata": metadata, "spec": spec}
    )
    stage.create(*(group(stage, name, "1") for name in NAMES))
    yield
    stage.cluster.kubectl("delete", "consumerfleet", FLEET, "--ignore-not-found")


def group(stage: Stage, name: str, version: str) -> Json:
    made = stage.group(name, replicas=1, rollout={"rejoinTimeout": "30s"})
    return with_env(made, VERSION=version, START_DELAY_SECONDS="0", **({"NEVER_JOIN": "1"} if version == BAD else {}))


def came(stage: Stage, version: str) -> dict[str, float]:
    """Group → when the first pod of this version was seen."""
    found: dict[str, float] = {}
    for name in NAMES:
        seen = [r.seen_at for r in pods_of(stage.recorder.records("pods"), name) if _version(r.obj) == version]
        if seen:
            found[name] = min(seen)
    return found


def _version(pod: Json) -> str:
    env = pod["spec"]["containers"][0]["env"]
    return next(str(each["value"]) for each in env if each["name"] == "VERSION")


def halted(stage: Stage) -> str:
    """Why it is; many groups that start at once on a machine halt it as well, for a moment."""
    return str(condition(stage.cluster.get("consumerfleet", FLEET) or {}, "Halted").get("reason"))


def wait_failed(stage: Stage, name: str) -> None:
    def has_failed() -> bool:
        return stage.cluster.status(name)["rollout"]["phase"] in ("Failed", "RolledBack")

    wait_for(f"{name} to fail", has_failed, 120.0, stage.operator.log_tail)


def test_two_groups_get_it_and_the_right_one_reaches_them_first(stage: Stage) -> None:
    stage.cluster.apply(*(group(stage, name, BAD) for name in NAMES))
    wait_for("the halt", lambda: halted(stage) == "TooManyFailed", 300.0, stage.operator.log_tail)
    for name in came(stage, BAD):  # the second one fails as well, or is not made
        wait_failed(stage, name)
    stage.wait_passes(LOOKS_AT_REST)
    broken = set(came(stage, BAD))
    assert 1 <= len(broken) <= AT_MOST
    before = time.time()
    stage.cluster.apply(*(group(stage, name, RIGHT) for name in NAMES))
    for name in NAMES:
        stage.cluster.wait_complete(name, 600.0)
    assert halted(stage) == "NotHalted"
    assert set(came(stage, BAD)) == broken, "another group got it after all"
    order = sorted(NAMES, key=lambda name: came(stage, RIGHT)[name])
    assert set(order[: len(broken)]) == broken
    assert min(came(stage, RIGHT).values()) >= before
