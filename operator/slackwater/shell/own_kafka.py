"""The operator's own use of Kafka, apart from the groups that it looks after: with a KafkaConnection like any group."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from slackwater.adapters.cluster.paths import KAFKA_CONNECTION
from slackwater.adapters.cluster.secrets import read_secrets
from slackwater.adapters.kafka.security import client_settings, secret_names
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_kafka_connection
from slackwater.ports import Cluster
from slackwater.shell.store import Key


async def read_client_settings(api: Cluster, connection: Key, token_hosts: Collection[str] = ()) -> Mapping[str, str]:
    """For confluent-kafka; holds credentials. Raises ClusterFailed, and InvalidSpec when it cannot be used.

    `token_hosts`: as for any other connection, since it may be in any namespace, whose people write its Secret.
    """
    found = await api.read(KAFKA_CONNECTION, connection.namespace, connection.name)
    if found is None:
        raise InvalidSpec(f"KafkaConnection {connection}", ("It does not exist: apply it.",))
    parsed = parse_kafka_connection(found)
    secrets = await read_secrets(api, connection.namespace, secret_names(parsed.spec))
    return client_settings(f"KafkaConnection {connection}", parsed.spec, secrets, token_hosts).confluent
