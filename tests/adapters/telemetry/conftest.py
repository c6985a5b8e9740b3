"""Of the tests against a real broker: the same topics, groups and readers as for Kafka's own."""

from __future__ import annotations

from tests.adapters.kafka.conftest import group_id, reader, scene, topic, wire

__all__ = ["group_id", "reader", "scene", "topic", "wire"]
