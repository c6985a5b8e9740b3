"""An image, the spec that goes with it and another protocol, all in one `kubectl apply`: there, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.parameters import first_of
from tests.core.simulation.ends import by_ordinal, found_in, not_as_asked
from tests.core.simulation.everywhere import CHANGES, Case, at_rest, case
from tests.core.simulation.life import Changes, Life, LifesRun

JAVA: Final[Changes] = (("client", {"library": "Java", "version": "4.3"}),)
EAGER: Final[Changes] = (("protocol.target", "Eager"),)
COOPERATIVE: Final[Changes] = (("protocol.target", "Cooperative"),)
IN_PLACE: Final[dict[str, Any]] = {"onFailure": "Rollback"}
WARM: Final[dict[str, Any]] = {**IN_PLACE, "strategy": "WarmHandover"}
STEPS: Final[Mapping[str, tuple[Changes, Changes]]] = {
    "two bounces": (JAVA, COOPERATIVE),
    "two bounces, warm": (JAVA, COOPERATIVE),
    "a stop": ((), (*COOPERATIVE, ("protocol.allowDowntime", True))),
    "to KIP-848": ((), (("protocol.target", "Consumer"), ("timeouts.session", None))),
}
"""What the group has before, and what is asked for."""
WITH_IT: Final = tuple(change for change in CHANGES if change != "nothing else" and not change.startswith("to "))
BOTH: Final = [(s, c) for s in STEPS for c in WITH_IT if not (s.endswith("warm") and "ynamic" in c)]
"""Dynamic members are not handed over."""


def with_a_step(step: str, change: str, version: str = "") -> Case:
    before, asked = STEPS[step]
    alone = case(change, version, WARM if step.endswith("warm") else IN_PLACE)
    return replace(alone, spec=(*before, *EAGER, *alone.spec), changes=(*asked, *alone.changes))


def begun(asked: Case) -> tuple[LifesRun, list[dict[str, Any]]]:
    """And what its pods had before, which were all restarted once: static members show their first holder's address."""
    run = at_rest(asked)
    run.do("restart", lambda o: o.restart())
    run.for_seconds(5)
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    before = pods(run.outside)
    assert run.outside.edit(asked.changes), "the API server refuses it"
    run.for_seconds(2)
    return run, before


def pods(outside: Life) -> list[dict[str, Any]]:
    return [found_in(outside, pod) for pod in by_ordinal(outside)]


def everybody_works(outside: Life) -> bool:
    return len(outside.pods) == 3 and all(map(outside.serves, outside.pods))


def is_halfway(asked: Case, outside: Life) -> bool:
    """A pod of the new version is there; or all were stopped for it."""
    return any(outside.image(pod) == asked.new for pod in outside.pods) or not outside.set.replicas


def comes(run: LifesRun) -> None:
    run.until_it_is("as asked", lambda _: not not_as_asked(run))
    run.for_seconds(20)
    assert not not_as_asked(run)


def goes_back(run: LifesRun, before: list[dict[str, Any]]) -> None:
    run.until(RolloutPhase.ROLLED_BACK)
    run.until_it_is("at work again", lambda _: everybody_works(run.outside), within_s=60)
    assert pods(run.outside) == before


@pytest.mark.parametrize(("step", "change"), first_of(*BOTH))
def test_all_of_it_comes(step: str, change: str) -> None:
    run, _ = begun(with_a_step(step, change))
    comes(run)


@pytest.mark.parametrize(("step", "change"), first_of(*BOTH))
def test_all_of_it_goes_back_by_abort(step: str, change: str) -> None:
    asked = with_a_step(step, change)
    run, before = begun(asked)
    run.until_it_is("halfway", lambda _: is_halfway(asked, run.outside))
    run.do("abort", lambda o: o.abort())
    goes_back(run, before)


@pytest.mark.parametrize(("step", "change"), first_of(*BOTH))
def test_all_of_it_goes_back_by_itself(step: str, change: str) -> None:
    goes_back(*begun(with_a_step(step, change, "never-joins")))


@pytest.mark.parametrize("options", [IN_PLACE, WARM], ids=["in place", "warm"])
def test_a_container_that_was_renamed_has_its_old_name_again_after_an_abort(options: dict[str, Any]) -> None:
    asked = case("container renamed", "", options)
    run, before = begun(asked)
    run.until_it_is("halfway", lambda _: [p["image"] for p in pods(run.outside)].count(f"consumer:{asked.new}") == 2)
    run.do("abort", lambda o: o.abort())
    goes_back(run, before)


@pytest.mark.parametrize("options", [IN_PLACE, WARM], ids=["in place", "warm"])
@pytest.mark.parametrize("version", first_of("never-joins", "nameless", "never-consumes", "crashes"))
def test_so_it_has_where_the_version_is_bad(version: str, options: dict[str, Any]) -> None:
    goes_back(*begun(case("container renamed", version, options)))


@pytest.mark.parametrize("options", [IN_PLACE, WARM], ids=["in place", "warm"])
def test_a_container_is_renamed(options: dict[str, Any]) -> None:
    run, _ = begun(case("container renamed", "", options))
    comes(run)
