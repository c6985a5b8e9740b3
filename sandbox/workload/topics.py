"""Make topics for a workload, ready to use on every broker."""

from __future__ import annotations

import time

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

_CREATE_S = 30.0
_ASK_AGAIN_S = 0.1


def create_topic(bootstrap_servers: str, name: str, partitions: int) -> None:
    """Make a topic and wait until each of `bootstrap_servers` knows it with a leader for every partition.

    The broker that makes a topic answers before the others have heard of it. Raises KafkaException when it exists
    already or no broker answers, TimeoutError when it is not known everywhere within half a minute.
    """
    admin = _admin(bootstrap_servers)  # named, for a client that nobody holds drops its requests
    admin.create_topics([NewTopic(name, partitions)])[name].result(timeout=_CREATE_S)
    deadline = time.monotonic() + _CREATE_S
    for server in bootstrap_servers.split(","):
        admin = _admin(server)
        while not _is_led(admin, name, partitions):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the broker {server} does not know the topic {name} after {_CREATE_S:.0f} s")
            time.sleep(_ASK_AGAIN_S)


def delete_topic(bootstrap_servers: str, name: str) -> None:
    """Remove a topic. Raises KafkaException."""
    admin = _admin(bootstrap_servers)
    admin.delete_topics([name])[name].result(timeout=_CREATE_S)


def _admin(bootstrap_servers: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})


def _is_led(admin: AdminClient, topic: str, partitions: int) -> bool:
    try:
        # All topics, not this one: that would let the client remember that there is none.
        found = admin.list_topics(timeout=_CREATE_S).topics.get(topic)
    except KafkaException:
        return False
    return (
        found is not None
        and len(found.partitions) == partitions
        and all(partition.leader >= 0 for partition in found.partitions.values())
    )
