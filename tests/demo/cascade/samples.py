"""Made-up samples of a run: pods as the API server tells them, and what consumers were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from demo.cascade.cast import Cast, cast
from demo.cascade.figures import Observed
from demo.cascade.manifests import BAD_IMAGE
from demo.cascade.modes import FIRST, MEMBERS, MODES, PARTITIONS, SECOND, Mode
from demo.cascade.motion import Sight, sight
from demo.manifests import APP
from sandbox.images import KAFKA_TOOLS
from sandbox.workload.deliveries import Delivery

START_S: Final = 1000.0
END_S: Final = 1100.0
STEP_MS: Final = 200
"""Between two deliveries of a partition, as under the demo's load."""
LEADERS: Final = {number: 1 + number % 3 for number in range(8)}
BY_NAME: Final = {mode.name: mode for mode in MODES}
CAST: Final[Cast] = cast("sample", 1, LEADERS)


def pod(name: str, uid: str, version: str = FIRST, *, ready: bool, ending: bool = False, bad: bool = False) -> Any:
    """In the API server's words, of the group `name`."""
    metadata = {"name": f"{name}-0", "uid": uid, "labels": {APP: name}}
    env = [{"name": "VERSION", "value": version}, {"name": "POD_NAME", "valueFrom": {}}]
    return {
        "metadata": metadata | ({"deletionTimestamp": "2026-11-29T12:00:00Z"} if ending else {}),
        "spec": {"containers": [{"image": BAD_IMAGE if bad else KAFKA_TOOLS, "env": env}]},
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }


def at_rest(name: str, at_s: float) -> list[Sight]:
    """All pods of a group, Ready."""
    return [sight(at_s, pod(name, f"{name}-{n}", ready=True), deleted=False) for n in range(MEMBERS)]


def replaced(name: str, member: int, from_s: float, to_s: float, *, bad: bool = False) -> list[Sight]:
    """One pod of a group is deleted, gone a second later, made again a second later, and Ready at the end; a bad one
    is deleted and put back instead."""
    old, new = f"{name}-{member}", f"{name}-{member}-again"
    found = [
        sight(from_s, pod(name, old, ready=True, ending=True), deleted=False),
        sight(from_s + 1, pod(name, old, ready=False, ending=True), deleted=True),
        sight(from_s + 2, pod(name, new, SECOND, ready=False, bad=bad), deleted=False),
    ]
    if not bad:
        return [*found, sight(to_s, pod(name, new, SECOND, ready=True), deleted=False)]
    back = f"{name}-{member}-back"
    return [
        *found,
        sight(to_s - 2, pod(name, new, SECOND, ready=False, bad=True), deleted=True),
        sight(to_s - 1, pod(name, back, ready=False), deleted=False),
        sight(to_s, pod(name, back, ready=True), deleted=False),
    ]


@cache
def served(*silent: tuple[int, float, float]) -> tuple[Delivery, ...]:
    """Every partition steadily from before to after the run, but for silences (partition, from, to)."""
    moments = range(int((START_S - 5) * 1000), int((END_S + 5) * 1000), STEP_MS)

    def is_silent(partition: int, at_ms: int) -> bool:
        return any(partition == each and from_s * 1000 < at_ms < to_s * 1000 for each, from_s, to_s in silent)

    return tuple(
        Delivery(partition, at_ms // STEP_MS, at_ms, "", "")
        for partition in range(PARTITIONS)
        for at_ms in moments
        if not is_silent(partition, at_ms)
    )


def observed(
    mode: Mode,
    sights: Sequence[Sight] = (),
    silent: Mapping[str, Sequence[tuple[int, float, float]]] | None = None,
    **more: Any,
) -> Observed:
    """A run in which every group is at rest at first, and nobody is silent but those in `silent`, by their names."""
    rest = [each for actor in CAST.groups for each in at_rest(actor.name, START_S - 50)]
    rows = {actor.name: served(*(silent or {}).get(actor.name, ())) for actor in CAST.actors}
    in_turn = sorted(sights, key=lambda each: each.at_s)
    given: dict[str, Any] = {"rebalances": {}, "expiries": {}, **more}
    return Observed(mode, CAST, START_S, END_S, [*rest, *in_turn], rows, **given)
