"""Whether this command may send what a connection's Secrets hold to the brokers that it names.

Whoever may write a KafkaConnection chooses both, and need not be allowed to read the Secrets; whoever looks at a group
may read all of them. So this command sends them only to where the operator has logged in with them already, or where
people ask for it. The operator's word stands in a status, which people who write KafkaConnections need not be able to
write.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.api.errors import InvalidSpec, SlackwaterError
from slackwater.api.parsing import parse_kafka_connection

Json = Mapping[str, Any]

ASK_VARIABLE: Final = "SLACKWATER_ASK_KAFKA"


class NotVouchedFor(SlackwaterError):
    """The operator has not logged in with this version of the connection, and nobody asked for it here."""


def check_vouched(connection: Json) -> None:
    """Raises NotVouchedFor."""
    if has_logged_in(connection) or os.environ.get(ASK_VARIABLE, "") not in ("", "0"):
        return
    which, servers = f"{connection['kind']} {connection['metadata']['name']}", connection["spec"]["bootstrapServers"]
    raise NotVouchedFor(
        f"the operator has not logged in to Kafka by {which} as it is now, so this command sends its Secrets nowhere;"
        f" --ask-kafka sends them to {servers}"
    )


def has_logged_in(connection: Json) -> bool:
    """The operator, by exactly this version."""
    generation, status = connection["metadata"].get("generation"), connection.get("status") or {}
    conditions = status.get("conditions") or ()
    said: Json = next((each for each in conditions if each.get("type") == ConditionType.READY), {})
    return (
        generation is not None
        and said.get("status") == ConditionStatus.TRUE
        and generation == status.get("observedGeneration") == said.get("observedGeneration")
    )


def as_it_is_known(beside: Json, live: Json | None) -> Json:
    """Of a connection in a manifest's file: that of the cluster where it says the same. A status in a file is nobody's
    word."""
    written = {key: value for key, value in beside.items() if key != "status"}
    if live is None or not live["spec"].get("bootstrapServers"):
        return written
    try:
        same = parse_kafka_connection(written).spec == parse_kafka_connection(live).spec
    except InvalidSpec:
        return written
    return live if same else written
