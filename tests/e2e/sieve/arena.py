"""A namespace whose operator stands behind the proxy, with a group for each fault, and what is held about each group.

The groups whose requests are only answered wrongly go their way side by side; then those for which the operator is
killed, since that concerns all.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from tests.e2e.sieve.faults import ANSWERED, Fault, Met
from tests.e2e.sieve.kafka_faults import met_in
from tests.e2e.sieve.mortal import kill
from tests.e2e.sieve.proxy import Proxy, Upstream, kubeconfig_by
from tests.e2e.sieve.writes import Write
from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, connection, with_env
from tests.e2e.stage.operator import OperatorProcess
from tests.e2e.stage.progress import down_over_time, incarnations
from tests.e2e.stage.stage import Stage, staged
from tests.e2e.stage.waiting import wait_for

ROUNDS: Final = ((Fault.NONE, *ANSWERED), (Fault.KILLED_BEFORE, Fault.KILLED_AFTER))
QUICK: Final = {"stableFor": "1s", "rejoinTimeout": "60s"}
ENDS_WITHIN_S: Final = 600.0
"""Two groups are killed for at each of their writes, and each start of an operator costs both of them seconds."""
BY_CHANCE: Final = "release in Kafka"
"""Where a successor asks for its id before its predecessor has left, a race; `test_sieve_crash` has it for certain."""

W = TypeVar("W", bound=str)


@dataclass
class Arena:
    """A group goes by the fault that its writes meet; where they meet none, by any word."""

    stage: Stage
    proxy: Proxy
    kafka_faults: Path
    rounds: Sequence[Sequence[Fault]] = ROUNDS
    began: dict[str, float] = field(default_factory=dict)
    """Group → when its scenario began, in seconds since the epoch."""
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(fault for each in self.rounds for fault in each)

    def play(self, begin: Callable[[Arena, Fault], None], has_ended: Callable[[Arena, Fault], bool]) -> None:
        """All rounds, whose groups meet their faults."""
        for faults in self.rounds:
            self._arm(faults)
            self.side_by_side(faults, begin, has_ended)
            self.proxy.strikes.disarm()
            self.kafka_faults.write_text("{}")

    def side_by_side(
        self, which: Sequence[W], begin: Callable[[Arena, W], None], has_ended: Callable[[Arena, W], bool]
    ) -> None:
        """`begin` asks for something of each group, and then it is waited for.

        A group that does not get there is one failure, and keeps none of the others from theirs.
        """
        for each in which:
            self.began[group_of(each)] = time.time()
            begin(self, each)
        self._wait(which, has_ended)

    def _arm(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            self.proxy.strikes.arm(group_of(fault), fault)
        kafka = {self.stage.group_id(group_of(fault)): fault for fault in faults}
        self.kafka_faults.write_text(json.dumps(kafka))

    def _wait(self, which: Sequence[W], has_ended: Callable[[Arena, W], bool]) -> None:
        left = set(which)

        def look() -> bool:
            left.difference_update([each for each in left if has_ended(self, each)])
            return not left

        try:
            wait_for("the end of all", look, ENDS_WITHIN_S)
        except AssertionError:
            for each in left:
                self.failures[each] = self.stage.cluster.summary(group_of(each))

    def met(self, fault: Fault) -> list[Met]:
        """All that met it, at the API server and then in Kafka."""
        group = group_of(fault)
        path, group_id = met_in(self.kafka_faults), self.stage.group_id(group)
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        says = dict.fromkeys(each["says"] for each in lines if each["group"] == group_id)
        kafka = [Write(each.split()[0], "in Kafka", "GROUP", each.replace(group, "GROUP")) for each in says]
        return [*self.proxy.strikes.of(group), *(Met(group, fault, each) for each in kafka)]

    def met_since(self, before: Mapping[Fault, list[Met]]) -> dict[Fault, list[Met]]:
        """`before`: what had met each fault by then."""
        return {fault: [*(Counter(self.met(fault)) - Counter(met)).elements()] for fault, met in before.items()}

    def has_completed(self, fault: str, replicas: int = REPLICAS) -> bool:
        """The newest spec runs everywhere, and the StatefulSet holds every pod: the last thing done in a rollout."""
        return self.has_come_to(fault, "Complete", replicas) and self.is_parked(fault, replicas)

    def has_come_to(self, fault: str, phase: str, replicas: int = REPLICAS) -> bool:
        obj = self.stage.cluster.get("cg", group_of(fault)) or {}
        status = obj.get("status") or {}
        seen = status.get("observedGeneration") == obj.get("metadata", {}).get("generation")
        ended = (status.get("rollout") or {}).get("phase") == phase and status.get("readyReplicas") == replicas
        return bool(obj and seen and ended)

    def has_protocol(self, fault: str, target: str) -> bool:
        """It is what people want, nothing is left to do for it, and the StatefulSet holds every pod."""
        obj = self.stage.cluster.get("cg", group_of(fault)) or {}
        protocol = (obj.get("status") or {}).get("protocol") or {}
        there = protocol.get("current") == protocol.get("target") == target and "strategy" not in protocol
        as_wanted = condition(obj, "ProtocolUpgrade").get("reason") == "ProtocolAsWanted"
        return there and as_wanted and self.has_completed(fault)

    def has_members(self, fault: str, replicas: int) -> bool:
        """Its pods' and no other."""
        seen = self.stage.kafka.look(self.stage.group_id(group_of(fault)))
        return set(seen.members) == {f"{group_of(fault)}-{ordinal}" for ordinal in range(replicas)}

    def is_parked(self, fault: str, replicas: int = REPLICAS) -> bool:
        found = self.stage.cluster.get("sts", group_of(fault)) or {"spec": {"updateStrategy": {}}}
        return (found["spec"]["updateStrategy"].get("rollingUpdate") or {}).get("partition") == replicas

    # What is held about a group at the end.

    def assert_ended(self, fault: str) -> None:
        assert fault not in self.failures, self.failures[fault]

    def assert_status(self, fault: str, phase: str = "Ready", degraded: str = "False") -> None:
        """It is said, and nothing is held back any more."""
        cluster, group = self.stage.cluster, group_of(fault)
        cluster.wait_condition(group, "Degraded", degraded)
        cluster.wait_phase(group, phase)

    def assert_restarts(self, fault: str, wanted: dict[int, int]) -> None:
        found = self.restarts(fault)
        assert found == wanted, f"{group_of(fault)}: {found}"

    def restarts(self, fault: str) -> dict[int, int]:
        """Ordinal → how often its pod was made again since the scenario began; for groups of one StatefulSet."""
        return {int(name.rpartition("-")[2]): count for name, count in self.made_again(fault).items()}

    def made_again(self, fault: str) -> dict[str, int]:
        """Pod → how often it was made since the scenario began."""
        group = group_of(fault)
        made = incarnations(self.stage.recorder.records("pods"), group)
        before = incarnations((r for r in self.stage.recorder.records("pods") if r.seen_at < self.began[group]), group)
        return {name: len(uids) - len(before.get(name, ())) for name, uids in made.items()}

    def assert_made_once(self, fault: str) -> None:
        """Before the scenario began, there was one pod of each name."""
        group = group_of(fault)
        before = (r for r in self.stage.recorder.records("pods") if r.seen_at < self.began[group])
        assert {name: len(uids) for name, uids in incarnations(before, group).items()} == {
            f"{group}-{ordinal}": 1 for ordinal in range(REPLICAS)
        }

    def assert_one_at_a_time(self, fault: str, replicas: int) -> None:
        group = group_of(fault)
        down = down_over_time(self.stage.recorder.records("pods"), group, replicas)
        assert max(len(names) for at, names in down if at >= self.began[group]) <= 1

    def assert_whole_in_kafka(self, fault: str, replicas: int, workload: str = "") -> None:
        """Its pods' members, no other, own all partitions."""
        group = group_of(fault)
        wanted = {f"{workload or group}-{ordinal}" for ordinal in range(replicas)}

        def look() -> bool:
            seen = self.stage.kafka.look(self.stage.group_id(group))
            owners = {owner for _, owner in seen.owners}
            return seen.state == "STABLE" and set(seen.members) == owners == wanted and seen.owned == PARTITIONS

        wait_for("a whole group", look, 60.0, lambda: self.stage.kafka.look(self.stage.group_id(group)))

    def assert_each_write_met_it(self, fault: Fault, *rows: str) -> None:
        """Each one of the run that nothing disturbed. What a status shows beside what is remembered, and which Events
        there are, depends on when the operator looks: of those one of each kind is enough. A release may be missing.
        `rows`: what else may be."""
        met = [each.write for each in self.met(fault)]
        undisturbed = [each.write for each in self.met(Fault.NONE)]
        assert {each.row for each in undisturbed} - {each.row for each in met} <= {*_may_be_missing(fault), *rows}
        missing = {_core(each) for each in undisturbed if each.row not in rows} - {_core(each) for each in met}
        assert missing <= {None}


def _may_be_missing(fault: Fault) -> set[str]:
    """An Event follows a write that came back: an operator that is killed before that writes none."""
    return {BY_CHANCE, "create events"} if fault.kills else {BY_CHANCE}


def _core(write: Write) -> tuple[str, str, str] | None:
    if write.row == BY_CHANCE or write.resource in ("events", "consumergroups/status", "kafkaconnections/status"):
        return None
    return write.row, write.name, write.says


def group_of(fault: str) -> str:
    return f"with-{fault}"


@contextmanager
def arena(
    name: str, kubeconfig: Path, bootstrap_servers: str, directory: Path, rounds: Sequence[Sequence[Fault]] = ROUNDS
) -> Iterator[Arena]:
    """A stage whose operator is another one: it stands behind the proxy, and is killed by it. No fault is armed."""
    with ExitStack() as stack:
        stage = stack.enter_context(staged(name, kubeconfig, bootstrap_servers, directory))
        life, kafka_faults = directory / "life", directory / "kafka.json"
        met_in(kafka_faults).unlink(missing_ok=True)
        kafka_faults.write_text("{}")
        proxy = Proxy(Upstream.of(stage.operator.kubeconfig), kill=partial(kill, life))
        stack.enter_context(proxy.serving())
        stage.operator.kill()
        own = stage.operator.kubeconfig
        stage.operator.kubeconfig = kubeconfig_by(proxy, own, directory / "by-the-proxy")
        stack.callback(_give_back, stage.operator, own)
        _begin(stage.operator, life, kafka_faults)
        made = Arena(stage, proxy, kafka_faults, rounds)
        stage.cluster.apply(*(connection(bootstrap_servers, group_of(fault)) for fault in made.faults))
        yield made


def _begin(operator: OperatorProcess, life: Path, kafka_faults: Path) -> None:
    operator.environment["SIEVE_LIFE"] = str(life)
    operator.environment["SIEVE_KAFKA"] = str(kafka_faults)
    operator.start(SIEVE_LIFE=str(life))
    operator.wait_ready()


def _give_back(operator: OperatorProcess, kubeconfig: Path) -> None:
    """To the operator that stands behind nothing: it removes the groups."""
    operator.kill()
    operator.kubeconfig = kubeconfig
    operator.start()
    operator.wait_ready()


def group(arena: Arena, fault: str, **settings: object) -> Json:
    """Three pods that start at once, with a connection of their own."""
    given = {"rollout": QUICK, "connectionRef": {"name": group_of(fault)}, **settings}
    return with_env(arena.stage.group(group_of(fault), None, **given), START_DELAY_SECONDS="0")
