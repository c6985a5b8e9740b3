"""One history on one group: what people ask for last is kept, and compared with what is in force at the end."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from tests.e2e.histories.asking import (
    BEGINS_WITH,
    Asked,
    Place,
    all_that_people_see,
    found_in_a_pod,
    is_kip_848,
    manifest,
    session_of_the_group,
    wanted_of_a_pod,
)
from tests.e2e.histories.drawing import COMMANDS, History, Step
from tests.e2e.histories.striking import DEEDS
from tests.e2e.histories.writing import Writer
from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import PARTITIONS, connection
from tests.e2e.stage.kafka import Sighting
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

ENDS_WITHIN_S: Final = 300.0
_DELETE_POD: Final = re.compile(r"kubectl delete pod -n \S+ (?P<pod>\S+)")
_MOVES_WITHIN_S: Final = 5.0
REJOIN: Final = os.environ.get("HISTORIES_REJOIN", "30s")
"""More where the machine has much else to do: a first start that takes longer is a version that fails."""
FORCED: Final = ("DuplicateInstanceId", "ZombieMember", "GroupRebalancing", "OffsetsNotMoving", "MemberMissing")
"""Holds whose page names `force` as a way on."""
_WITH_DOWNTIME: Final = ("MixedAssignorsUnsupported", "AssignorKeepsData")
"""Refusals whose page names `allowDowntime` as a way on."""
_FIRST_PARTITIONS: Final = 2
_COUNTER: Final = count(1)


@dataclass
class Player:
    stage: Stage
    writer: Writer
    name: str
    history: History
    asked: Asked = field(default_factory=dict)
    own_partitions: int = _FIRST_PARTITIONS
    struck: set[str] = field(default_factory=set)
    """Uids of the pods that the history itself took away."""
    said: list[str] = field(default_factory=list)

    @property
    def place(self) -> Place:
        stage = self.stage
        return Place(stage.cluster, self.name, stage.topic, stage.kafka.bootstrap_servers, REJOIN)

    @property
    def group_id(self) -> str:
        return self.stage.group_id(self.name)

    def begin(self) -> None:
        self.asked = {**BEGINS_WITH, "replicas": self.history.replicas}
        self.stage.kafka.make_topic(self.place.own_topic, self.own_partitions)
        self.writer.create("kafkaconnections", connection(self.stage.kafka.bootstrap_servers, self.name))
        self.writer.create("consumergroups", self.group())
        wait_for(f"{self.name} to begin with", self._goes_on, ENDS_WITHIN_S, self.seen)

    def group(self) -> Json:
        return manifest(self.asked, self.place)

    def play(self) -> None:
        for step in self.history.steps:
            self._do(step)
            self.wait(step.wait)

    def _do(self, step: Step) -> None:
        name, value = step.name, step.value
        self.said.append(f"{name} {value if value is not None else ''}".strip())
        if name in COMMANDS:
            self.command(name)
        elif name in DEEDS:
            DEEDS[name](self, value)
        else:
            together = {
                "version": {"version": value, "bad": False},
                "bad": {"bad": True},
                "stop and upgrade": {"target": value, "allowDowntime": True},
            }
            self.asked |= together.get(name, {name: value})
            self.edit()

    def edit(self) -> None:
        self.writer.patch("consumergroups", self.name, {"spec": self.group()["spec"]})

    def connect(self, servers: str) -> None:
        self.writer.patch("kafkaconnections", self.name, {"spec": {"bootstrapServers": servers}})

    def command(self, name: str) -> None:
        annotation, value = ("pause", None) if name == "resume" else (name, f"{next(_COUNTER)}")
        change = {"metadata": {"annotations": {f"slackwater.dev/{annotation}": value}}}
        self.writer.patch("consumergroups", self.name, change)

    def wait(self, what: str) -> None:
        """What may never come is not insisted on."""
        if what:
            look = self._is_seen if what == "seen" else self._is_moving
            try:
                wait_for(what, look, _MOVES_WITHIN_S)
            except AssertionError:
                self.said.append(f"({what} in vain)")

    def _is_seen(self) -> bool:
        return is_seen(self.stage.cluster.get("cg", self.name))

    def _is_moving(self) -> bool:
        rollout = self.stage.cluster.status(self.name).get("rollout") or {}
        return bool(rollout.get("step") or rollout.get("handover"))

    def calm_down(self) -> None:
        """People end what they began: the pause, the broken connection, a version that cannot work."""
        self.connect(self.stage.kafka.bootstrap_servers)
        self.command("resume")
        if self.asked["bad"]:
            self._do(Step("version", self.asked["version"]))
        wait_for(f"{self.name} as asked", self._goes_on, ENDS_WITHIN_S, self.seen)

    def seen(self) -> str:
        """For a failure's text."""
        conditions = [
            f"{each['type']}={each['status']} {each['reason']}: {each['message']}"
            for each in self.stage.cluster.status(self.name).get("conditions", ())
        ]
        summary, kafka = self.stage.cluster.summary(self.name), self.stage.kafka.look(self.group_id)
        instead = self.not_as_asked(self.stage.cluster.get("cg", self.name))
        return f"{instead}; {summary}; {conditions}; {kafka}; {self.history}; said {self.said}"

    def _goes_on(self) -> bool:
        """As asked by now; where it has stopped, the way on that the page of the reason names is gone, once each."""
        obj = self.stage.cluster.get("cg", self.name)
        if not self.not_as_asked(obj):
            return True
        obj = obj or {}
        why = condition(obj, "RolloutGated")
        held = str(why.get("reason")) if why.get("status") == "True" else ""
        if held == "OrphanedPods":
            self._delete_the_orphan(str(why.get("message")))
        phase = _phase(obj)
        way = _way_on(obj, phase, held)
        key = f"{way} at {phase} {held} {why.get('lastTransitionTime')}"
        if way and key not in self.said and is_seen(obj):
            self.said.append(key)
            self._go(way)
        return False

    def _go(self, way: str) -> None:
        edits = {"again": f"{next(_COUNTER)}", "allowDowntime": True, "strategy": "InPlace"}
        if way in edits:
            self._do(Step(way, edits[way]))
        else:
            self.command(way)

    def _delete_the_orphan(self, message: str) -> None:
        """The command that the condition gives, once for each pod that it names."""
        found = _DELETE_POD.search(message)
        if found is not None and (deed := found.group()) not in self.said:
            self.said.append(deed)
            pod = self.stage.cluster.get("pods", found.group("pod"))
            self.struck |= {pod["metadata"]["uid"]} if pod else set()
            self.stage.cluster.kubectl("delete", "pod", found.group("pod"), "--wait=false", "--ignore-not-found")

    def not_as_asked(self, obj: Json | None) -> str:
        """Empty when what is in force is what was asked for last."""
        asked = self.asked
        if obj is None or not is_seen(obj):
            return "the newest spec is not seen"
        if (phase := _phase(obj)) != "Complete":
            return f"{phase}"
        pods = self.stage.cluster.pods(self.name)
        if len(pods) != asked["replicas"]:
            return f"{len(pods)} pods"
        protocol = (obj["status"].get("protocol") or {}).get("current")
        if pods and protocol != asked.get("target", protocol):
            return f"protocol {protocol}"
        wanted = wanted_of_a_pod(asked, self.place)
        for pod in pods:
            found = found_in_a_pod(pod)
            if differs := {name: (found[name], value) for name, value in wanted.items() if found[name] != value}:
                return f"{pod['metadata']['name']} has, instead of: {differs}"
        members = (obj["status"].get("group") or {}).get("members") or 0
        wanted_members = asked["replicas"] * asked["membersPerPod"]
        return self._not_in_kafka() if members == wanted_members or not pods else f"{members} members"

    def _not_in_kafka(self) -> str:
        """What another client than the operator's sees: empty when it is what was asked for."""
        asked, seen = self.asked, self.stage.kafka.look(self.group_id)
        if not asked["replicas"]:
            return f"{seen.members} are members" if seen.members else ""
        kind = "CONSUMER" if is_kip_848(asked) else "CLASSIC"
        if "target" in asked and seen.kind != kind:
            return f"a group of type {seen.kind}"
        wanted, static = self._wanted_members(), asked["membership"] == "Static"
        named = {member for member in seen.members if member.startswith(f"{self.name}-")}
        if (named, seen.dynamic) != ((wanted, 0) if static else (set(), len(wanted))):
            return f"members {sorted(named)} and {seen.dynamic} dynamic ones"
        topics = set(self.place.topics(asked))
        partitions = sum(PARTITIONS if topic == self.stage.topic else self.own_partitions for topic in topics)
        if seen.topics != topics or seen.owned != partitions:
            return f"{seen.owned} of {partitions} partitions of {sorted(seen.topics)} are owned"
        return self._not_the_groups_settings()

    def _wanted_members(self) -> set[str]:
        each = self.asked["membersPerPod"]
        threads = [""] if each == 1 else [f"-{thread}" for thread in range(each)]
        return {f"{self.name}-{ordinal}{thread}" for ordinal in range(self.asked["replicas"]) for thread in threads}

    def _not_the_groups_settings(self) -> str:
        if (wanted := session_of_the_group(self.asked)) is None:
            return ""
        session = self.stage.kafka.group_settings(self.group_id).get("consumer.session.timeout.ms")
        return "" if session == wanted else f"a session of {session} in the group"

    def end(self) -> tuple[object, ...]:
        """What two plays of one history are compared by: what was asked, what the pods have, and who is a member."""
        wait_for(f"{self.name} as asked still", self._goes_on, ENDS_WITHIN_S, self.seen)  # a restart may have come last
        asked = {
            name: value for name, value in self.asked.items() if name not in ("again", "allowDowntime", "strategy")
        }
        pods = [all_that_people_see(pod, self.name) for pod in self.stage.cluster.pods(self.name)]
        return (sorted((n, str(v)) for n, v in asked.items()), sorted(pods), *self._end_in_kafka())

    def _end_in_kafka(self) -> tuple[object, ...]:
        seen: Sighting = self.stage.kafka.look(self.group_id)
        named = sorted(member.replace(self.name, "GROUP", 1) for member in seen.members)
        topics = sorted(topic.replace(f"-{self.name}", "-GROUP") for topic in seen.topics)
        return (seen.kind, seen.assignor, named, seen.dynamic, seen.owned, topics) if seen.members else ()


def is_seen(obj: Json | None) -> bool:
    """Whether the operator has seen the newest spec."""
    return obj is not None and (obj.get("status") or {}).get("observedGeneration") == obj["metadata"]["generation"]


def _phase(obj: Json) -> str:
    return str(((obj.get("status") or {}).get("rollout") or {}).get("phase"))


def _way_on(obj: Json, phase: str, held: str) -> str:
    """A command, or the field that is to be changed; empty where waiting is the way."""
    if condition(obj, "Degraded").get("reason") == "LastGoodUnknown":
        return "again"  # another template: its revision went with a StatefulSet that was deleted
    if condition(obj, "ProtocolUpgrade").get("reason") in _WITH_DOWNTIME:
        return "allowDowntime"
    if phase in ("RolledBack", "Failed"):
        return "retry"
    return {"CanaryHold": "promote", "HandoverImpossible": "strategy"}.get(held, "force" if held in FORCED else "")
