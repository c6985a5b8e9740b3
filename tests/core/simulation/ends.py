"""How a history ends, judged by what people wrote last and by the pods: nothing here asks the operator's own code.

It settles: to an end, or to a hold. A hold has a way on, which is gone as the pages of reasons say, until what is in
force is what the last edits say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.api.annotations import PROTOCOL
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.world import World
from tests.core.factories import NAME
from tests.core.simulation.edits import CONTAINER, image
from tests.core.simulation.life import Changes, Life, LifesRun, at
from tests.core.simulation.stateful_set import SimulatedPod
from tests.core.simulation.versions import version_of
from tests.docs.test_ways_on import WAYS

SETTLE_S: Final = 400.0
QUIET_S: Final = 20.0
"""For so long nothing has to be done before we believe that nothing more will be: longer than a restart that waits."""
WAYS_AT_MOST: Final = 8
"""So many ways are gone one after the other: each takes at most one refusal away."""


class NotSo(AssertionError):
    """What is in force is not what the last edits say."""


@dataclass
class End:
    """What two plays of one history are compared by."""

    exists: bool
    wanted: Mapping[str, Any]
    """What people ask for in the end: a way on may have changed it."""
    pods: tuple[Mapping[str, Any], ...] = ()
    ways: list[str] = field(default_factory=list)
    """Which were gone, in order: each with its reason."""


def settle(run: LifesRun) -> None:
    """Nothing is under way and nothing was done for a while, though the operator has looked; or a hold stands."""
    until, quiet_since, before, looked_at = run.now + SETTLE_S, run.now, None, run.operator.last_world
    run.held = None
    while run.now < until and (run.now - quiet_since < QUIET_S or _has_yet_to_look(run, looked_at)):
        run.step()
        if run.operator.last is not None and run.operator.last.hold is not None:
            run.held = run.operator.last.hold
        now = (run.phase, run.outside.exists, tuple(sorted((pod.uid, pod.ready) for pod in run.outside.pods)))
        if run.acting or run.phase.under_way or run.outside.comes_again or run.outside.deleting or now != before:
            quiet_since, looked_at = run.now, run.operator.last_world
        before = now


def _has_yet_to_look(run: LifesRun, looked_at: World | None) -> bool:
    """A group at rest is looked at by chance, and seldom."""
    return run.outside.exists and run.operator.last_world is looked_at


def end(run: LifesRun) -> End:
    """AssertionError when it does not end, or not as the last edits say."""
    ways: list[str] = []
    for _ in range(WAYS_AT_MOST):
        settle(run)
        if not run.outside.exists:
            _nothing_is_left(run.outside)
            return End(False, run.outside.wanted, ways=ways)
        wrong = not_as_asked(run)
        if not wrong:
            return End(
                True, run.outside.wanted, tuple(found_in(run.outside, pod) for pod in by_ordinal(run.outside)), ways
            )
        ways.append(_go_on(run, wrong))
    raise NotSo(f"after {ways}: {not_as_asked(run)}")


def not_as_asked(run: LifesRun) -> str:
    """What is not as people wrote it last; empty: nothing."""
    outside = run.outside
    if outside.deleting:
        return "it is still being deleted"
    if run.phase is not RolloutPhase.COMPLETE:
        return f"it is {run.phase}"
    there = [name for name, each in outside.sets.items() if each.exists]
    if len(there) != 1:
        return f"there are the StatefulSets {there}"
    pods = by_ordinal(outside)
    if [pod.ordinal for pod in pods] != list(range(outside.wanted["replicas"])):
        return f"there are pods {[pod.name for pod in pods]}"
    for pod in pods:
        asked, found = asked_for(outside), found_in(outside, pod)
        if wrong := {name: found.get(name) for name in asked if found.get(name) != asked[name]}:
            return f"{pod.name} has {wrong} of {asked}"
        if not outside.serves(pod):
            return f"{pod.name} does not serve"
    return ""


def asked_for(outside: Life) -> dict[str, Any]:
    """What each pod is to have, by the people's own document."""
    wanted = outside.wanted
    container, prefix = at(wanted, CONTAINER)[0], at(wanted, "client.envPrefix") or "KAFKA_"
    target, poll = at(wanted, "protocol.target"), at(wanted, "timeouts.maxPollInterval") or "5m"
    asked = {
        "image": container["image"],
        "name": container["name"],
        "resources": container.get("resources"),
        "log level": next((each["value"] for each in container.get("env", ())), None),
        "labels": at(wanted, "template.metadata.labels.team"),
        f"{prefix}GROUP_ID": NAME,
        f"{prefix}BOOTSTRAP_SERVERS": outside.bootstrap,
        f"{prefix}GROUP_INSTANCE_ID": f"{NAME}-$(SLACKWATER_ORDINAL)" if wanted["membership"] == "Static" else None,
        f"{prefix}MAX_POLL_INTERVAL_MS": str(60_000 * int(poll.rstrip("m"))),
        "members": wanted.get("membersPerPod", 1),
    }
    if target is not None:
        asked["protocol"] = target
    if target in ("Eager", "Cooperative"):
        asked[f"{prefix}SESSION_TIMEOUT_MS"] = str(1000 * int((at(wanted, "timeouts.session") or "45s").rstrip("s")))
    return asked


def found_in(outside: Life, pod: SimulatedPod) -> dict[str, Any]:
    template = outside.revisions[pod.revision]
    container = template["spec"]["containers"][0]
    environment = {each["name"]: each.get("value") for each in container["env"]}
    return environment | {
        "image": container["image"],
        "name": container["name"],
        "resources": container.get("resources"),
        "log level": environment.get("LOG_LEVEL"),
        "labels": template["metadata"]["labels"].get("team"),
        "protocol": template["metadata"]["annotations"][PROTOCOL],
        "members": len(pod.processes),
    }


def is_bad(outside: Life) -> bool:
    """What people ask for last cannot work: the version, the number of members that they say it has, or its topics."""
    version = version_of(outside.wanted["template"])
    forgets = version.topics is not None and not set(outside.wanted["topics"]) <= set(version.topics)
    return not version.works or forgets or version.members != outside.wanted.get("membersPerPod", 1)


def _nothing_is_left(outside: Life) -> None:
    assert not outside.pods, f"left over: {[pod.name for pod in outside.pods]}"
    assert not any(each.exists for each in outside.sets.values())
    alive = outside.broker.group.members
    assert outside.was_lost or not any(member.instance_id for member in alive), alive


def _go_on(run: LifesRun, wrong: str) -> str:
    """What the page of the reason says; returns what was done, and for which reason."""
    last, outside = run.operator.last, run.outside
    if last is None:
        raise NotSo(wrong)
    hold = last.hold if last.act is None else run.held  # one that acts for ever holds in between
    for held in (hold, last.refusal):
        assert held is None or held.reason in WAYS, f"{held} has no way on"
    if run.phase.gave_up:
        return _retry_or_mend(outside, run.phase)
    if last.refusal is not None:
        return _edited(outside, TARGET_BACK, last.refusal.reason)
    if hold is None:
        if is_bad(outside):
            return _edited(outside, image("v2"), f"a bad version is {run.phase}")
        raise NotSo(wrong)
    doing = WAYS_ON.get(hold.reason)
    if doing is not None:
        return doing(outside, hold.reason)
    if hold.reason.gate is None:
        raise NotSo(f"{wrong}: {hold}")
    if is_bad(outside):
        outside.edit(image("v2"))
    outside.force()
    return f"{hold.reason}: force"


def _retry_or_mend(outside: Life, phase: RolloutPhase) -> str:
    if is_bad(outside):
        return _edited(outside, image("v2"), phase)
    outside.retry()
    return f"{phase}: retry"


def _edited(outside: Life, changes: Changes, reason: str) -> str:
    assert outside.edit(changes), f"{reason}: the API server refuses {changes}"
    return f"{reason}: {', '.join(path for path, _ in changes)}"


def _promote(outside: Life, reason: str) -> str:
    outside.promote()
    return f"{reason}: promote"


TARGET_BACK: Final[Changes] = (
    ("client", {"library": "Librdkafka", "version": "2.12.1"}),
    ("protocol", {}),
    ("timeouts.session", None),
    ("timeouts.heartbeat", None),
)


def _another_version(outside: Life, reason: str) -> str:
    """No command lifts that hold, and what `abort` goes back to may not get Ready either."""
    other = "v3" if at(outside.wanted, CONTAINER)[0]["image"].endswith(":v2") else "v2"
    return _edited(outside, image(other), reason)


WAYS_ON: Final[Mapping[str, Callable[[Life, str], str]]] = {
    Reason.CANARY_HOLD: _promote,
    Reason.POD_NOT_READY: _another_version,
    Reason.POD_NOT_JOINING: _another_version,
    Reason.LAG_ABOVE_GATE: lambda outside, reason: _edited(outside, (("rollout.maxLag", None),), reason),
    Reason.LAG_UNKNOWN: lambda outside, reason: _edited(outside, (("rollout.maxLag", None),), reason),
    Reason.HANDOVER_IMPOSSIBLE: lambda outside, reason: _edited(outside, (("rollout.strategy", "InPlace"),), reason),
    Reason.NO_ROOM: lambda outside, reason: _edited(outside, (("rollout.strategy", "InPlace"),), reason),
    Reason.LAST_GOOD_UNKNOWN: lambda outside, reason: _edited(outside, image("v2"), reason),
    Reason.STEP_NOT_PROVEN: lambda outside, reason: _edited(outside, TARGET_BACK, reason),
    Reason.CANNOT_MIX: lambda outside, reason: _edited(outside, TARGET_BACK, reason),
}
"""The other gates' way on is `force`."""


def by_ordinal(outside: Life) -> list[SimulatedPod]:
    return sorted(outside.pods, key=lambda pod: (pod.ordinal, pod.name))
