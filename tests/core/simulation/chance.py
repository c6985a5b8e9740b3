"""Rollouts in which anything may happen at any moment, drawn from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

import pytest
from _pytest.mark import ParameterSet

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase, read_memory
from tests.core.simulation.operator import ChanceCrashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Doing, Run
from tests.core.simulation.versions import VERSIONS, version_of

TROUBLE_S: Final = 90.0
"""How long things happen."""
SETTLE_S: Final = 500.0
"""How long the rollout may take to end once nothing happens any more."""
QUIET_S: Final = 60.0
"""How long nothing must have been done before we believe that it has ended."""

QUICKLY: Final = 3
"""How many seeds `make check` takes; `make explore` takes the others."""


def seeds(every: Sequence[int]) -> list[ParameterSet]:
    """One parameter for each seed, the later ones marked slow."""
    return [
        pytest.param(seed, marks=() if place < QUICKLY else pytest.mark.slow, id=str(seed))
        for place, seed in enumerate(every)
    ]


def draw_run(seed: int, **given: Any) -> Run:
    """A run whose world, order of steps and operator crashes are drawn from the seed."""
    random = Random(seed)
    options: dict[str, Any] = {
        "replicas": random.choice((1, 2, 3, 3, 4)),
        "static": random.random() < 0.85,
        "counts_unavailable": random.random() < 0.3,
        "onFailure": random.choice(("Pause", "Rollback", "Rollback")),
        "canary": random.choice(([], [], [{"replicas": 1, "hold": "8s"}], [{"replicas": 1}, {"replicas": 2}])),
        "maxLag": random.choice((None, None, {"absolute": 5000}, {"growth": 3000})),
    }
    options["kip848"] = options["static"] and random.random() < 0.15
    crashes = ChanceCrashes(random=random, probability=random.choice((0.0, 0.0, 0.1, 0.3)))
    return Run(Outside(**(options | given)), random, random.choice((0.5, 1.0)), crashes)


def trouble(run: Run, seed: int) -> None:
    """Let the first version come up, then let things happen for a while, then let nothing happen any more."""
    random = Random(seed * 7919 + 1)
    run.until(RolloutPhase.COMPLETE, within_s=120)
    moments = sorted(random.uniform(0, TROUBLE_S) for _ in range(random.randint(1, 6)))
    started = run.now
    for index, moment in enumerate(moments):
        run.for_seconds(max(0.0, started + moment - run.now))
        what, doing = _new_version(random) if index == 0 else anything(random)
        run.do(what, doing)
    run.for_seconds(max(0.0, started + TROUBLE_S - run.now))
    run.do("nothing happens any more", calm_down)


def end(run: Run) -> None:
    """The rollout has to end, or to wait for a person; AssertionError when it does neither."""
    until, quiet_since = run.now + SETTLE_S, run.now
    while run.now < until and run.now - quiet_since < QUIET_S:
        run.step()
        if run.phase.under_way or run.acting:
            quiet_since = run.now
        hold = run.operator.last.hold if run.operator.last is not None else None
        if hold is not None and hold.reason == Reason.CANARY_HOLD:
            run.outside.promote()
    judge(run)


def judge(run: Run) -> None:
    phase, outside = run.phase, run.outside
    assert run.operator.last is not None
    images = [outside.image(pod) for pod in outside.set.pods.values()]
    if phase is RolloutPhase.FAILED:
        assert run.operator.last.hold is not None
        return
    if phase is RolloutPhase.ROLLING_BACK and run.operator.last.hold is not None:
        good = read_memory(outside.status).last_good_revision
        assert not version_of(outside.set.revisions[good]).works, "goes back for ever"
        return  # the status was lost while a broken version was in use, so that nothing better is known
    assert not phase.under_way, f"neither ended nor stopped: {run.operator.last.hold}"
    assert len(images) == outside.spec["replicas"]
    assert len(set(images)) <= 1, images
    if phase is RolloutPhase.COMPLETE and images:
        assert images[0] == outside.wanted_version


def _new_version(random: Random) -> tuple[str, Doing]:
    version = random.choice([*VERSIONS, "v2", "v2", "v3"])
    return f"apply {version}", lambda o: o.apply(version)


def calm_down(outside: Outside) -> None:
    outside.resume()
    outside.set_kafka(reachable=True)
    outside.foreign_member(there=False)
    outside.start_controller()


def anything(random: Random) -> tuple[str, Doing]:
    ordinal, replicas = random.randrange(3), random.choice((0, 1, 2, 3, 5))
    kafka, foreign = random.random() < 0.5, random.random() < 0.5
    return random.choice(
        (
            _new_version(random),
            _new_version(random),
            ("retry", Outside.retry),
            ("retry", Outside.retry),
            ("abort", Outside.abort),
            ("promote", Outside.promote),
            ("restart", Outside.restart),
            ("pause", Outside.pause),
            ("resume", Outside.resume),
            (f"scale to {replicas}", lambda o: o.scale(replicas)),
            (f"evict {ordinal}", lambda o: o.evict(ordinal)),
            (f"crash {ordinal}", lambda o: o.crash(ordinal)),
            (f"Kafka reachable: {kafka}", lambda o: o.set_kafka(reachable=kafka)),
            (f"foreign member: {foreign}", lambda o: o.foreign_member(there=foreign)),
            ("status lost", Outside.lose_status),
            ("StatefulSet controller stops", Outside.stop_controller),
            ("StatefulSet controller starts", Outside.start_controller),
        )
    )
