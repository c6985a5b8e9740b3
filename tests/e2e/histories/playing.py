"""One history on one group: what people ask for last is kept, and compared with what is in force at the end."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Any, Final

from tests.e2e.histories.drawing import COMMANDS, History, Step
from tests.e2e.histories.writing import Writer
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import connection, consumer_group, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

ENDS_WITHIN_S: Final = 300.0
_DELETE_POD: Final = re.compile(r"kubectl delete pod -n \S+ (?P<pod>\S+)")
_MOVES_WITHIN_S: Final = 5.0
REJOIN: Final = os.environ.get("HISTORIES_REJOIN", "30s")
"""More where the machine has much else to do: a first start that takes longer is a version that fails."""
NOWHERE: Final = "127.0.0.1:1"
FORCED: Final = ("DuplicateInstanceId", "ZombieMember", "GroupRebalancing", "OffsetsNotMoving", "MemberMissing")
"""Holds whose page names `force` as a way on."""
_COUNTER: Final = count(1)
_OPERATOR: Final = Lock()


@dataclass
class Player:
    stage: Stage
    writer: Writer
    name: str
    history: History
    asked: dict[str, Any] = field(default_factory=dict)
    struck: set[str] = field(default_factory=set)
    """Uids of the pods that the history itself took away."""
    said: list[str] = field(default_factory=list)

    def begin(self) -> None:
        self.asked = {"version": "1", "bad": False, "poll": "5m", "team": "a", "replicas": self.history.replicas}
        self.writer.create("kafkaconnections", connection(self.stage.kafka.bootstrap_servers, self.name))
        self.writer.create("consumergroups", self.group())
        wait_for(f"{self.name} to begin with", self._goes_on, ENDS_WITHIN_S, self._instead)

    def group(self) -> Json:
        asked = self.asked
        rollout = {"stableFor": asked.get("stableFor", "1s"), "rejoinTimeout": REJOIN}
        rollout |= {name: asked.get(name) for name in ("canary", "maxLag")}
        rollout |= {name: asked[name] for name in ("onFailure", "strategy") if name in asked}
        made = consumer_group(self.stage.cluster, self.name, self.stage.topic, rollout)
        made = with_env(
            made, VERSION=asked["version"], START_DELAY_SECONDS="0", NEVER_JOIN="1" if asked["bad"] else None
        )
        made["spec"] |= {
            "replicas": asked["replicas"],
            "connectionRef": {"name": self.name},
            "timeouts": {"maxPollInterval": asked["poll"]},
        }
        made["spec"]["template"]["metadata"] = {"labels": {"team": asked["team"]}}
        return made

    def play(self) -> None:
        for step in self.history.steps:
            self._do(step)
            self._wait(step.wait)

    def _do(self, step: Step) -> None:
        name, value = step.name, step.value
        self.said.append(f"{name} {value if value is not None else ''}".strip())
        if name in COMMANDS:
            self.command(name)
        elif name in _STRIKES:
            _STRIKES[name](self, value)
        else:
            self.asked |= {"version": {"version": value, "bad": False}, "bad": {"bad": True}}.get(name, {name: value})
            self.edit()

    def edit(self) -> None:
        self.writer.patch("consumergroups", self.name, {"spec": self.group()["spec"]})

    def command(self, name: str) -> None:
        annotation, value = ("pause", None) if name == "resume" else (name, f"{next(_COUNTER)}")
        change = {"metadata": {"annotations": {f"slackwater.dev/{annotation}": value}}}
        self.writer.patch("consumergroups", self.name, change)

    def _wait(self, what: str) -> None:
        """What may never come is not insisted on."""
        if what:
            look = self._is_seen if what == "seen" else self._is_moving
            try:
                wait_for(what, look, _MOVES_WITHIN_S)
            except AssertionError:
                self.said.append(f"({what} in vain)")

    def _is_seen(self) -> bool:
        obj = self.stage.cluster.get("cg", self.name) or {"metadata": {"generation": -1}}
        return bool((obj.get("status") or {}).get("observedGeneration") == obj["metadata"]["generation"])

    def _is_moving(self) -> bool:
        rollout = self.stage.cluster.status(self.name).get("rollout") or {}
        return bool(rollout.get("step") or rollout.get("handover"))

    def evict(self, ordinal: int) -> None:
        if uid := self._uid(ordinal):
            if self.writer.evict(f"{self.name}-{ordinal}"):
                self.struck |= {uid, self._uid(ordinal)}
            else:
                self.said.append("(refused)")

    def delete_pod(self, ordinal: int) -> None:
        self.struck.add(self._uid(ordinal))
        self.writer.delete("pods", f"{self.name}-{ordinal}")

    def _uid(self, ordinal: int) -> str:
        return str(
            (self.stage.cluster.get("pods", f"{self.name}-{ordinal}") or {"metadata": {"uid": ""}})["metadata"]["uid"]
        )

    def kill_operator(self, _: object) -> None:
        with _OPERATOR:
            self.stage.operator.kill()
            self.stage.operator.start()
            self.stage.operator.wait_ready()

    def connect(self, servers: str) -> None:
        self.writer.patch("kafkaconnections", self.name, {"spec": {"bootstrapServers": servers}})

    def delete_group(self, _: object) -> None:
        """Its people apply the same again, once it is gone."""
        self.connect(self.stage.kafka.bootstrap_servers)
        self.writer.delete("consumergroups", self.name)
        wait_for(f"{self.name} to be gone", lambda: self.stage.cluster.get("cg", self.name) is None, ENDS_WITHIN_S)
        wait_for(f"{self.name} to be made", lambda: self.writer.create("consumergroups", self.group()), ENDS_WITHIN_S)

    def delete_set(self, policy: str) -> None:
        self.writer.delete("statefulsets", self.name, policy)

    def scale_set(self, replicas: int) -> None:
        self.writer.patch("statefulsets", self.name, {"spec": {"replicas": replicas}})

    def restart_set(self, _: object) -> None:
        restarted = {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": f"{next(_COUNTER)}"}}}
        self.writer.patch("statefulsets", self.name, {"spec": {"template": restarted}})

    def calm_down(self) -> None:
        """People end what they began: the pause, the broken connection, a version that cannot work."""
        self.connect(self.stage.kafka.bootstrap_servers)
        self.command("resume")
        if self.asked["bad"]:
            self._do(Step("version", self.asked["version"]))
        wait_for(f"{self.name} as asked", self._goes_on, ENDS_WITHIN_S, self._instead)

    def _instead(self) -> str:
        return f"{self.not_as_asked()}; {self.stage.cluster.summary(self.name)}; {self.history}; said {self.said}"

    def _goes_on(self) -> bool:
        """As asked by now; where it has stopped, the way on that the page of the reason names is gone, once each."""
        if not self.not_as_asked():
            return True
        obj = self.stage.cluster.get("cg", self.name) or {}
        status = obj.get("status") or {}
        phase, why = (status.get("rollout") or {}).get("phase"), self.stage.cluster.condition(self.name, "RolloutGated")
        held = str(why.get("reason")) if why.get("status") == "True" else ""
        way = "retry" if phase in ("RolledBack", "Failed") else "promote" if held == "CanaryHold" else ""
        way = way or ("force" if held in FORCED else "")
        if self.stage.cluster.condition(self.name, "Degraded").get("reason") == "LastGoodUnknown":
            way = "another template"  # its revision went with a StatefulSet that was deleted
        if held == "OrphanedPods":
            self._delete_the_orphan(str(why.get("message")))
        key = f"{way} at {phase} {held} {why.get('lastTransitionTime')}"
        if way and key not in self.said and self._is_seen():
            self.said.append(key)
            if way == "another template":
                self._do(Step("team", "d"))
            else:
                self.command(way)
        return False

    def _delete_the_orphan(self, message: str) -> None:
        """The command that the condition gives, once for each pod that it names."""
        found = _DELETE_POD.search(message)
        if found is not None and (deed := found.group()) not in self.said:
            self.said.append(deed)
            self.stage.cluster.kubectl("delete", "pod", found.group("pod"), "--wait=false", "--ignore-not-found")

    def not_as_asked(self) -> str:
        """Empty when what is in force is what was asked for last."""
        asked, cluster = self.asked, self.stage.cluster
        seen, obj = self._is_seen(), cluster.get("cg", self.name)
        if not seen or obj is None or "status" not in obj:
            return "the newest spec is not seen"
        pods, phase = cluster.pods(self.name), (obj["status"].get("rollout") or {}).get("phase")
        if len(pods) != asked["replicas"] or phase != "Complete":
            return f"{len(pods)} pods, {phase}"
        for pod in pods:
            env = {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]}
            minutes = env.get("KAFKA_MAX_POLL_INTERVAL_MS"), f"{60_000 * int(asked['poll'].rstrip('m'))}"
            team = pod["metadata"]["labels"].get("team"), asked["team"]
            version = (env["VERSION"], "NEVER_JOIN" in env), (asked["version"], asked["bad"])
            brokers = env.get("KAFKA_BOOTSTRAP_SERVERS"), self.stage.kafka.bootstrap_servers
            for found, wanted in (minutes, team, version, brokers):
                if found != wanted:
                    return f"{pod['metadata']['name']} has {found}, not {wanted}"
        members = ((obj["status"].get("group") or {}).get("members") or 0) if asked["replicas"] else 0
        return "" if members == asked["replicas"] else f"{members} members"

    def end(self) -> tuple[object, ...]:
        """What two plays of one history are compared by."""
        return tuple(sorted((name, str(value)) for name, value in self.asked.items()))


_STRIKES: Final[dict[str, Callable[[Player, Any], None]]] = {
    "evict": Player.evict,
    "delete pod": Player.delete_pod,
    "kill operator": Player.kill_operator,
    "break connection": lambda player, _: player.connect(NOWHERE),
    "mend connection": lambda player, _: player.connect(player.stage.kafka.bootstrap_servers),
    "orphan pods": lambda player, _: player.delete_set("Orphan"),
    "delete set": lambda player, _: player.delete_set("Background"),
    "delete group": Player.delete_group,
    "scale set": Player.scale_set,
    "restart set": Player.restart_set,
}
