"""A broker for tests that lets nobody do what was not granted: a process of its own on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from slackwater.adapters.kafka.wire import KafkaWire
from tests.adapters.kafka.own_broker import Listener, own_broker

ROOT, OPERATOR = "root", "operator"
PASSWORD = "not-a-secret"
_LITERAL = ResourcePatternType.LITERAL
LOGIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


class StrictBroker:
    """ROOT may do everything; OPERATOR, with the same PASSWORD, what was granted to it."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._admin: AdminClient | None = AdminClient({"log_level": 0, **self.confluent(ROOT)})

    @property
    def admin(self) -> AdminClient:
        assert self._admin is not None, "it is closed"
        return self._admin

    def close(self) -> None:
        """Before the broker ends: librdkafka's admin client has been seen to wait for ever for one that is gone."""
        self._admin = None  # the client has no other way to be closed

    def confluent(self, user: str) -> dict[str, Any]:
        return {
            "bootstrap.servers": self.bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": PASSWORD,
        }

    def kafka_python(self, user: str) -> dict[str, Any]:
        return {
            "bootstrap_servers": self.bootstrap,
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": user,
            "sasl_plain_password": PASSWORD,
        }

    @asynccontextmanager
    async def wire(self, user: str) -> AsyncIterator[KafkaWire]:
        wire = KafkaWire(self.kafka_python(user))
        yield wire
        await wire.close()

    def grant(self, kind: ResourceType, name: str, *operations: AclOperation, user: str = OPERATOR) -> None:
        bindings = [
            AclBinding(kind, name, _LITERAL, f"User:{user}", "*", each, AclPermissionType.ALLOW) for each in operations
        ]
        for done in self.admin.create_acls(bindings).values():
            done.result(30)

    def take_away(self, kind: ResourceType, name: str, operation: AclOperation, user: str = OPERATOR) -> None:
        """Exactly that one, which must be there."""
        wanted = AclBindingFilter(kind, name, _LITERAL, f"User:{user}", "*", operation, AclPermissionType.ALLOW)
        (done,) = self.admin.delete_acls([wanted]).values()
        assert len(done.result(30)) == 1

    def make_topic(self, name: str) -> None:
        self.admin.create_topics([NewTopic(name, 6, 1)])[name].result(30)


@contextmanager
def strict_broker(
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    also: Sequence[Listener] = (),
    java_options: Sequence[str] = (),
) -> Iterator[StrictBroker]:
    """Start one, with further settings and listeners. It ends with the context."""
    users = " ".join(f'user_{name}="{PASSWORD}"' for name in (ROOT, OPERATOR))
    strict = {
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.clients.plain.sasl.jaas.config": (
            f'{LOGIN_MODULE} required username="{ROOT}" password="{PASSWORD}" {users};'
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{ROOT};User:ANONYMOUS",
    }
    every = {**strict, **(settings or {})}
    with own_broker(folder, every, protocol="SASL_PLAINTEXT", also=also, java_options=java_options) as bootstrap:
        broker = StrictBroker(bootstrap)
        try:
            yield broker
        finally:
            broker.close()
