"""ConsumerGroupHeartbeat (API key 68): the one request of a KIP-848 member, here sent in the name of one that is dead.

kafka-python 3.0 lacks it; it is declared as ConsumerGroupDescribe is.
"""

from __future__ import annotations

from typing import Final

from kafka.protocol.api_message import ApiMessage

_SCHEMAS = "slackwater.adapters.kafka.schemas"

STATIC_MEMBER_LEFT: Final = -2
"""The member epoch by which a static member says that it goes and that its instance id will come back (KIP-848)."""


class ConsumerGroupHeartbeatRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc, call-arg]
    """Join, stay in, or leave a group, by the member epoch: 0 joins, -1 leaves, -2 leaves for a while."""


class ConsumerGroupHeartbeatResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc, call-arg]
    """What became of it."""
