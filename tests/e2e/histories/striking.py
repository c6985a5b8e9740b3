"""What befalls one group: pods, processes, members and topics that people and fate lay hands on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewPartitions
from kafka.admin import KafkaAdminClient, MemberToRemove
from kafka.errors import KafkaError

from sandbox import processes
from sandbox.layout import Layout
from sandbox.node import KUBELET
from tests.e2e.histories.asking import ordinal_of
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.processes import kill, running_consumer
from tests.e2e.stage.waiting import wait_for

if TYPE_CHECKING:
    from tests.e2e.histories.playing import Player

NOWHERE: Final = "127.0.0.1:1"
BROKER: Final = "kafka-1"
_REQUEST_S: Final = 20.0
_GROWN_WITHIN_S: Final = 180.0
_GONE_WITHIN_S: Final = 300.0
_COUNTER: Final = count(1)
_OPERATOR: Final = Lock()


def evict(player: Player, ordinal: int) -> None:
    if pod := _pod(player, ordinal):
        name = pod["metadata"]["name"]
        if player.writer.evict(name):
            now = player.stage.cluster.get("pods", name) or pod  # it may be another one since it was looked up
            player.struck |= {pod["metadata"]["uid"], now["metadata"]["uid"]}
        else:
            player.said.append("(refused)")


def delete_pod(player: Player, ordinal: int, **options: Any) -> None:
    if pod := _pod(player, ordinal):
        uid = pod["metadata"]["uid"]
        player.struck.add(uid)
        player.writer.delete("pods", pod["metadata"]["name"], preconditions={"uid": uid}, **options)


def lose_pod(player: Player, ordinal: int) -> None:
    """As of a node that is given up: nobody waits for its end."""
    delete_pod(player, ordinal, gracePeriodSeconds=0)


def kill_consumer(player: Player, ordinal: int) -> None:
    pod = _pod(player, ordinal)
    if pod is None or not kill(pod):
        player.said.append("(none runs)")


def stop_consumer(player: Player, ordinal: int) -> None:
    """Until a pod is about to go, if one goes soon."""
    pod = _pod(player, ordinal)
    pid = running_consumer(pod) if pod else None
    if pid is None:
        player.said.append("(none runs)")
        return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        try:
            player.wait("moving")
        finally:
            os.kill(pid, signal.SIGCONT)


def remove_member(player: Player, number: int) -> None:
    """By an admin's request; of a KIP-848 group brokers remove static members only."""
    group = player.group_id
    members = sorted(player.stage.kafka.look(group).members.items())
    if not members:
        return
    name, member_id = members[number % len(members)]
    static = player.asked["membership"] == "Static" and name.startswith(player.name)
    removed = MemberToRemove(group_instance_id=name) if static else MemberToRemove(member_id=member_id)
    admin = KafkaAdminClient(bootstrap_servers=player.stage.kafka.bootstrap_servers)
    try:
        player.said.append(f"({admin.remove_group_members(group, [removed])})")
    except KafkaError as error:  # it has left, or the group is just moving
        player.said.append(f"({error!r})")
    finally:
        admin.close()


def foreign_member(player: Player, _: object) -> None:
    """Somebody else's consumer, for a moment."""
    with player.stage.kafka.foreign_member(player.group_id, player.stage.topic, f"foreign-{player.name}"):
        player.wait("moving")


def grow_topic(player: Player, more: int) -> None:
    player.own_partitions += more
    topic = player.place.own_topic
    admin = AdminClient({"bootstrap.servers": player.stage.kafka.bootstrap_servers, "log_level": 0})

    def has_grown() -> bool:
        """Asked as often as somebody would who gets no answer: the broker may stand still just now."""
        with suppress(KafkaException):
            wanted = [NewPartitions(topic, player.own_partitions)]
            admin.create_partitions(wanted, request_timeout=_REQUEST_S)[topic].result()
        with suppress(KafkaException):
            found = admin.list_topics(topic, timeout=_REQUEST_S).topics[topic]
            return len(found.partitions) == player.own_partitions
        return False

    wait_for(f"{topic} to have {player.own_partitions} partitions", has_grown, _GROWN_WITHIN_S)


def kill_operator(player: Player, _: object) -> None:
    with _OPERATOR:
        player.stage.operator.kill()
        player.stage.operator.start()
        player.stage.operator.wait_ready()


def freeze(player: Player, process: str) -> None:
    """SIGSTOP for a process that all histories have in common, until a pod is about to go, if one goes soon."""
    found = processes.find(Layout.from_environment(), process)
    if found is None:
        player.said.append("(not the sandbox's own)")
        return
    os.kill(found.pid, signal.SIGSTOP)
    try:
        player.wait("moving")
    finally:
        os.kill(found.pid, signal.SIGCONT)


def orphan_pods(player: Player, _: object) -> None:
    player.writer.delete("statefulsets", player.name, "Orphan")


def delete_set(player: Player, _: object) -> None:
    _strike_all(player)  # they may be gone by the time that the answer is here
    player.writer.delete("statefulsets", player.name)
    _strike_all(player)


def delete_group(player: Player, _: object) -> None:
    """Its people apply the same again, once it is gone."""
    cluster, name = player.stage.cluster, player.name
    player.connect(player.stage.kafka.bootstrap_servers)
    _strike_all(player)
    player.writer.delete("consumergroups", name)
    _strike_all(player)
    wait_for(f"{name} to be gone", lambda: cluster.get("cg", name) is None, _GONE_WITHIN_S, player.seen)
    wait_for(f"{name} to be made", lambda: player.writer.create("consumergroups", player.group()), _GONE_WITHIN_S)


def scale_set(player: Player, replicas: int) -> None:
    player.writer.patch("statefulsets", player.name, {"spec": {"replicas": replicas}})


def restart_set(player: Player, _: object) -> None:
    restarted = {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": f"{next(_COUNTER)}"}}}
    player.writer.patch("statefulsets", player.name, {"spec": {"template": restarted}})


def _pod(player: Player, ordinal: int) -> Json | None:
    """The newer one, where a handover has two."""
    found = [pod for pod in player.stage.cluster.pods(player.name) if ordinal_of(pod) == ordinal]
    return max(found, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), default=None)


def _strike_all(player: Player) -> None:
    player.struck |= {pod["metadata"]["uid"] for pod in player.stage.cluster.pods(player.name)}


DEEDS: Final[dict[str, Callable[[Player, Any], None]]] = {
    "evict": evict,
    "delete pod": delete_pod,
    "lose pod": lose_pod,
    "kill consumer": kill_consumer,
    "stop consumer": stop_consumer,
    "remove member": remove_member,
    "foreign member": foreign_member,
    "grow topic": grow_topic,
    "kill operator": kill_operator,
    "freeze node": lambda player, _: freeze(player, KUBELET),
    "freeze broker": lambda player, _: freeze(player, BROKER),
    "break connection": lambda player, _: player.connect(NOWHERE),
    "mend connection": lambda player, _: player.connect(player.stage.kafka.bootstrap_servers),
    "orphan pods": orphan_pods,
    "delete set": delete_set,
    "delete group": delete_group,
    "scale set": scale_set,
    "restart set": restart_set,
}
