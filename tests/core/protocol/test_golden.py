"""Protocol upgrades, pass by pass: what went into each plan, and what came out, is as it was before (`kept`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase, read_memory
from tests.core.simulation import kept
from tests.core.simulation.outside import LIBRDKAFKA, Outside
from tests.core.simulation.passes import passes_of
from tests.core.simulation.runs import Run
from tests.core.simulation.scenarios import Scenario

GOLDEN = Path(__file__).parent / "golden"
JAVA: Final = {"library": "Java", "version": "4.3"}


def _ask_for(run: Run, target: str) -> None:
    run.do(f"the target {target} is asked for", lambda outside: outside.change_target(target))


def _upgrade(run: Run, target: str) -> None:
    _ask_for(run, target)
    run.until_it_is(f"on {target}", lambda outside: _is_on(outside, target))
    run.for_seconds(5)


def _is_on(outside: Outside, target: str) -> bool:
    memory = read_memory(outside.status)
    arrived = all(pod.profile == target and outside.serves(pod) for pod in outside.pods)
    return arrived and memory.upgrade is None and memory.phase is RolloutPhase.COMPLETE


def _has_one_with_the_new_settings(outside: Outside) -> bool:
    return any(pod.profile == "Cooperative" and outside.serves(pod) for pod in outside.pods)


def two_bounces(run: Run) -> None:
    """Each pod restarts twice: first to offer both assignors, then, when all do, the new one alone."""
    _upgrade(run, "Cooperative")


def online_migration(run: Run) -> None:
    """To KIP-848, pod by pod: the group has members of both protocols on the way."""
    _upgrade(run, "Consumer")


def drain_cutover(run: Run) -> None:
    """A library that can offer one kind of assignor only: all pods stop, and start with the other one."""
    _upgrade(run, "Cooperative")


def turned_back_in_the_middle(run: Run) -> None:
    """One pod has joined with the second bounce's settings when the old target is asked for again."""
    _ask_for(run, "Cooperative")
    run.until_it_is("in the second bounce", _has_one_with_the_new_settings)
    _upgrade(run, "Eager")


def step_is_not_proven(run: Run) -> None:
    """The program does not put the operator's settings into its client: the upgrade waits at its end, until the old
    target is asked for again."""
    _ask_for(run, "Consumer")
    run.for_seconds(25)
    _upgrade(run, "Eager")


def _options(client: Mapping[str, str], target: str, **protocol: Any) -> Mapping[str, Any]:
    return {"replicas": 2, "client": client, "protocol": {"target": target, **protocol}}


SCENARIOS: Final[Mapping[str, Scenario]] = {
    "two-bounces": Scenario(two_bounces, _options(JAVA, "Eager")),
    "online-migration": Scenario(online_migration, _options(LIBRDKAFKA, "Eager")),
    "drain-cutover": Scenario(drain_cutover, _options(LIBRDKAFKA, "Eager", allowDowntime=True)),
    "step-is-not-proven": Scenario(step_is_not_proven, {**_options(LIBRDKAFKA, "Eager"), "version": "heedless"}),
    "turned-back-in-the-middle": Scenario(turned_back_in_the_middle, _options(JAVA, "Eager")),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_pass_comes_to_what_it_came_to_before(name: str) -> None:
    kept.compare(GOLDEN / f"{name}.txt", passes_of(SCENARIOS[name]))


def test_every_log_is_of_a_scenario() -> None:
    assert kept.names_in(GOLDEN) == sorted(SCENARIOS)
