"""Groups taken from one protocol to another, and all that was seen of each on its way: what the tests judge."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.kafka import Lookout, Sighting
from tests.e2e.stage.recorder import Record
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

DEADLINE_S: Final = 420.0
"""Java processes that start side by side on a busy machine take their time."""
PATIENT: Final = {"session": "3m", "consumer": {"session": "60s"}}
"""Timeouts that outlast a Java process's start on a busy machine: what is judged is the way, not how fast pods are."""
_CLASSIC_ONLY: Final = ("session", "heartbeat")
RDKAFKA: Final = {"library": "Librdkafka", "version": "2.16.1"}
"""As it is in the consumers' image."""


@dataclass(frozen=True)
class Upgraded:
    """One group's way to its target. Moments are seconds since the epoch."""

    stage: Stage
    name: str
    began: float
    ended: float
    before: Sighting
    sightings: list[Sighting]
    versions: list[Record]
    """Of the ConsumerGroup."""
    events: list[str]
    """Reasons, in the order of their coming."""

    @property
    def protocols(self) -> list[Json]:
        """What `status.protocol` said, each once, in order."""
        found: list[Json] = []
        for record in self.versions:
            said = (record.obj.get("status") or {}).get("protocol") or {}
            if not found or found[-1] != said:
                found.append(said)
        return found

    @property
    def steps(self) -> list[tuple[str, ...]]:
        """From, to, strategy and step, as the status told them; each once, in order."""
        told = [tuple(said.get(key, "") for key in ("from", "to", "strategy", "step")) for said in self.protocols]
        return list(dict.fromkeys(each for each in told if any(each)))

    def step_began(self, step: str) -> float:
        return next(r.seen_at for r in self.versions if _protocol(r.obj).get("step") == step)

    def rebalances(self, since: float | None = None, until: float | None = None) -> int:
        return self.stage.kafka.rebalances(self.stage.group_id(self.name), since or self.began, until or self.ended)

    def moves(self) -> set[tuple[int, str]]:
        """Partition and owner that did not belong together when it began."""
        return {pair for sighting in self.sightings for pair in sighting.owners} - self.before.owners

    def fewest_owned(self) -> int:
        return min(len({partition for partition, _ in sighting.owners}) for sighting in self.sightings)


def upgrade(stage: Stage, *groups: Json, deadline_s: float = DEADLINE_S) -> dict[str, Upgraded]:
    """Apply changed groups all at once, and wait until each has the protocol that it asks for."""
    names = [group["metadata"]["name"] for group in groups]
    with ExitStack() as stack:
        before = {name: stage.kafka.look(stage.group_id(name)) for name in names}
        lookouts = {name: stack.enter_context(Lookout(stage.kafka, stage.group_id(name))) for name in names}
        began = time.time()
        stage.cluster.apply(*groups)
        ended = {group["metadata"]["name"]: _arrived(stage, group, began, deadline_s) for group in groups}
        for name in names:
            wait_parked(stage, name)
        return {
            name: Upgraded(
                stage=stage,
                name=name,
                began=began,
                ended=ended[name],
                before=before[name],
                sightings=[s for s in lookouts[name].sightings() if began <= s.asked_at and s.seen_at <= ended[name]],
                versions=[
                    r
                    for r in stage.recorder.records("consumergroups", began)
                    if r.name == name and r.seen_at <= ended[name]
                ],
                events=_told(stage, name, began),
            )
            for name in names
        }


def wait_parked(stage: Stage, name: str) -> None:
    """Until the last thing is done that a rollout does: after it, every write is another decision's."""

    def look() -> bool:
        spec = (stage.cluster.get("statefulset", name) or {})["spec"]
        held: bool = (spec["updateStrategy"].get("rollingUpdate") or {}).get("partition") == spec["replicas"]
        return held

    wait_for(f"the StatefulSet {name} to be parked", look)


def events_of(stage: Stage, name: str, since: float) -> list[Json]:
    """What the operator told about a ConsumerGroup since then (seconds since the epoch), in order."""
    found = (record.obj for record in stage.recorder.records("events", since) if not record.deleted)
    ours = (event for event in found if event["involvedObject"]["name"] == name)
    return [event for event in ours if event["involvedObject"]["kind"] == "ConsumerGroup"]


def _told(stage: Stage, name: str, since: float) -> list[str]:
    """Once the end is told as well, which is after the status says so."""

    def look() -> list[str] | None:
        reasons = [event["reason"] for event in events_of(stage, name, since)]
        return reasons if "UpgradeComplete" in reasons else None

    return wait_for(f"the Event of {name}'s end", look, 30.0)


def with_target(group: Json, target: str | None, **protocol: Any) -> Json:
    """The same group with another protocol as its target; classic timeouts have no place in a KIP-848 group's spec."""
    wanted = {**({"target": target} if target else {}), **protocol}
    spec = {**group["spec"], "protocol": wanted}
    if target == "Consumer" and "timeouts" in spec:
        spec["timeouts"] = {key: value for key, value in spec["timeouts"].items() if key not in _CLASSIC_ONLY}
    return {**group, "spec": spec}


def target_of(group: Json) -> str | None:
    target: str | None = (group["spec"].get("protocol") or {}).get("target")
    return target


def has_arrived(obj: Json, wanted: str | None) -> bool:
    """Whether the group has the protocol that it was asked for, and nothing more is to be done for it.

    What a watch brings late may be the group as it was before it was asked.
    """
    status = obj.get("status") or {}
    protocol = _protocol(obj)
    seen = status.get("observedGeneration") == obj["metadata"]["generation"]
    said = condition(obj, "ProtocolUpgrade")
    there = protocol.get("current") == protocol.get("target") == target_of(obj) == wanted and "strategy" not in protocol
    complete = (status.get("rollout") or {}).get("phase") == "Complete"
    return bool(seen and there and complete and said.get("reason") == "ProtocolAsWanted")


def _arrived(stage: Stage, group: Json, since: float, deadline_s: float) -> float:
    name, wanted = group["metadata"]["name"], target_of(group)

    def look() -> Record | None:
        found = [r for r in stage.recorder.records("consumergroups", since) if r.name == name and not r.deleted]
        failed = [r for r in found if (r.obj.get("status") or {}).get("phase") == "Failed"]
        assert not failed, f"{name} has failed: {stage.cluster.summary(name)}"
        return next((r for r in found if has_arrived(r.obj, wanted)), None)

    arrived = wait_for(f"{name} on its target", look, deadline_s, lambda: stage.cluster.summary(name))
    return arrived.seen_at


def _protocol(obj: Json) -> Json:
    found: Json = (obj.get("status") or {}).get("protocol") or {}
    return found
