"""Writes what the audit reads: a second, independent walk over the same tables, and records made by hand from it."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from typing import Any

from slackwater.pipeline.audit.layouts import ASSIGNMENT, KEYS, SUBSCRIPTION, VALUES, KeyType
from slackwater.pipeline.audit.wire import Field, Kind, Layout

ORDERS_ID = "b3JkZXJzLW9yZGVycy1vcg"
"""The id of the topic `orders` in histories made by hand."""


def written(layout: Layout, values: Mapping[str, Any], version: int) -> bytes:
    """The bytes of a message of that version. Fields that it lacks are left out."""
    compact = layout.flexible_since is not None and version >= layout.flexible_since
    return _integer(version, 2) + _struct(layout.fields, values, version, compact)


def key(key_type: KeyType, group: str, member: str = "", topic: str = "", partition: int = 0) -> bytes:
    values = {"group": group, "member": member, "topic": topic, "partition": partition}
    return _integer(key_type, 2) + _struct(KEYS[key_type], values, 0, compact=False)


def value(key_type: KeyType, values: Mapping[str, Any], version: int = 0) -> bytes:
    return written(VALUES[key_type], values, version)


def subscription(*topics: str, version: int = 1) -> bytes:
    return written(SUBSCRIPTION, {"topics": topics, "owned": (), "generation": -1}, version)


def assignment(topic: str, *partitions: int, version: int = 1) -> bytes:
    assigned = [{"topic": topic, "partitions": partitions}] if partitions else []
    return written(ASSIGNMENT, {"assigned": assigned}, version)


def classic_member(member_id: str, instance_id: str | None, partitions: Sequence[int], **other: Any) -> dict[str, Any]:
    """A member of a classic group that consumes `orders`."""
    return {
        "member_id": member_id,
        "instance_id": instance_id,
        "client_id": "payments",
        "client_host": "/10.0.0.1",
        "rebalance_timeout_ms": 300_000,
        "session_timeout_ms": 45_000,
        "subscription": subscription("orders"),
        "assignment": assignment("orders", *partitions),
        **other,
    }


def classic_group(generation: int, *members: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {
        "protocol_type": "consumer",
        "generation": generation,
        "protocol": "range" if members else None,
        "leader": members[0]["member_id"] if members else None,
        "state_since_ms": 1,
        "members": members,
        **other,
    }


def consumer_member(instance_id: str | None = None, **other: Any) -> dict[str, Any]:
    """A member of a KIP-848 group that consumes `orders`."""
    return {
        "instance_id": instance_id,
        "rack_id": None,
        "client_id": "payments",
        "client_host": "/10.0.0.1",
        "topics": ["orders"],
        "topic_regex": None,
        "rebalance_timeout_ms": 300_000,
        "assignor": None,
        **other,
    }


def by_id(*partitions: int, topic_id: str = ORDERS_ID) -> list[dict[str, Any]]:
    return [{"topic_id": topic_id, "partitions": partitions}] if partitions else []


def _struct(fields: Sequence[Field], values: Mapping[str, Any], version: int, compact: bool) -> bytes:
    present = [field for field in fields if field.is_in(version)]
    plain = b"".join(_field(field, values.get(field.name), version, compact) for field in present if field.tag is None)
    return plain + (_tagged(present, values, version) if compact else b"")


def _tagged(fields: Sequence[Field], values: Mapping[str, Any], version: int) -> bytes:
    chosen = [field for field in fields if field.tag is not None and values.get(field.name) is not None]
    parts = []
    for field in chosen:
        content = _field(field, values[field.name], version, compact=True)
        if isinstance(field.kind, tuple) and field.nullable and not field.many:
            content = b"\x01" + content
        parts.append(_varint(field.tag or 0) + _varint(len(content)) + content)
    return _varint(len(parts)) + b"".join(parts)


def _field(field: Field, content: Any, version: int, compact: bool) -> bytes:
    if not field.many:
        return _one(field.kind, content, version, compact)
    if content is None:
        return _length(-1, 4, compact)
    return _length(len(content), 4, compact) + b"".join(_one(field.kind, each, version, compact) for each in content)


def _one(kind: Kind | tuple[Field, ...], content: Any, version: int, compact: bool) -> bytes:
    if isinstance(kind, tuple):
        return _struct(kind, content, version, compact)
    match kind:
        case Kind.UUID:
            return urlsafe_b64decode(f"{content}==")
        case Kind.TEXT | Kind.BYTES:
            width = 2 if kind is Kind.TEXT else 4
            if content is None:
                return _length(-1, width, compact)
            raw = content.encode() if isinstance(content, str) else content
            return _length(len(raw), width, compact) + raw
        case _:
            return _integer(content, kind.value)


def _length(length: int, width: int, compact: bool) -> bytes:
    return _varint(length + 1) if compact else _integer(length, width)


def _integer(number: int, width: int) -> bytes:
    return number.to_bytes(width, "big", signed=True)


def _varint(number: int) -> bytes:
    written_so_far = bytearray()
    while number >= 0x80:
        written_so_far.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written_so_far, number])
