"""ConsumerGroupDescribe (API key 69): the one request by which a coordinator describes KIP-848 groups.

kafka-python 3.0 lacks it and so takes those groups for dead (F18). It builds message classes from schema files, and
takes a package to find them in; declaring the two classes is all it needs, the encoding and the registry are its own.
"""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

_SCHEMAS = "slackwater.adapters.kafka.schemas"


class ConsumerGroupDescribeRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc, call-arg]
    """Describe the named groups; those of another type come back as GROUP_ID_NOT_FOUND."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc, call-arg]
    """States, epochs, members, what they own and what they should own."""
