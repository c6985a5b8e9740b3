"""A broker with an authorizer and every way in that a KafkaConnection knows: a process of its own on loopback."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from slackwater.adapters.kafka.security import ClientSettings, client_settings
from slackwater.api.kafka_connection import KafkaConnectionSpec
from tests.adapters.kafka.certificates import Authority
from tests.adapters.kafka.own_broker import LOOPBACK, Listener, free_ports
from tests.adapters.kafka.strict_broker import LOGIN_MODULE, StrictBroker, strict_broker
from tests.adapters.kafka.token_endpoint import AUDIENCE, ISSUER, TokenEndpoint, served

MECHANISMS = {"plain": "Plain", "scram256": "ScramSha256", "scram512": "ScramSha512", "oauth": "OAuthBearer"}
"""User, who logs in by this alone → `authentication.type`."""
WAYS = (*MECHANISMS, *(f"{user}-tls" for user in MECHANISMS), "mutual-tls")
SECURITY = "org.apache.kafka.common.security"
_SCRAM = {"scram256": ScramMechanism.SCRAM_SHA_256, "scram512": ScramMechanism.SCRAM_SHA_512}
_VALIDATOR = f"{SECURITY}.oauthbearer.OAuthBearerValidatorCallbackHandler"


@dataclass
class SecuredBroker:
    """`passwords` by user; `secrets` as a KafkaConnection's namespace would hold them, by name."""

    strict: StrictBroker
    ports: dict[str, int]
    passwords: dict[str, str] = field(repr=False)
    authority: Authority
    endpoint: TokenEndpoint

    def user(self, way: str) -> str:
        return way.removesuffix("-tls")

    def spec(self, way: str) -> dict[str, Any]:
        """Of a KafkaConnection that goes this way."""
        listener = "MUTUAL" if way == "mutual-tls" else "SECURED" if way.endswith("-tls") else "OPEN"
        spec: dict[str, Any] = {"bootstrapServers": f"{LOOPBACK}:{self.ports[listener]}"}
        if listener != "OPEN":
            spec["tls"] = {"caSecretRef": {"name": "ca"}}
        if way == "mutual-tls":
            spec["tls"]["certificateSecretRef"] = {"name": "shown"}
            return {**spec, "authentication": {"type": "Tls"}}
        login = {"type": MECHANISMS[self.user(way)], "secretRef": {"name": "login"}, "allowUnencrypted": True}
        return {**spec, "authentication": login}

    def secrets(self, way: str) -> dict[str, dict[str, bytes]]:
        user = self.user(way)
        found = {"ca": {"ca.crt": self.authority.certificate}}
        if user == "mutual":
            pair = self.authority.issue(user)
            return {**found, "shown": {"tls.crt": pair.certificate, "tls.key": pair.key}}
        password = self.passwords[user].encode()
        if user == "oauth":
            login = {"clientId": b"oauth", "clientSecret": password, "tokenEndpoint": self.endpoint.url.encode()}
        else:
            login = {"username": user.encode(), "password": password}
        return {**found, "login": login}

    def settings(self, way: str, secrets: dict[str, dict[str, bytes]]) -> ClientSettings:
        return client_settings("KafkaConnection main", KafkaConnectionSpec.model_validate(self.spec(way)), secrets)

    def set_scram_password(self, user: str, password: str) -> None:
        """Connections that are open stay open."""
        info = ScramCredentialInfo(_SCRAM[user], 4096)
        change = UserScramCredentialUpsertion(user, info, password.encode())
        self.strict.admin.alter_user_scram_credentials([change])[user].result(30)
        self.passwords[user] = password


@contextmanager
def secured_broker(folder: Path, *, reauthenticate_after_ms: int = 0) -> Iterator[SecuredBroker]:
    """Start one, and a token endpoint. Both end with the context.

    `reauthenticate_after_ms`: how long a log-in by SASL lasts; 0: as long as the connection.
    """
    passwords = {user: secrets.token_hex(16) for user in MECHANISMS}
    authority = Authority()
    opened, secured, mutual = free_ports(LOOPBACK, LOOPBACK, LOOPBACK)
    listeners = (
        Listener("OPEN", "SASL_PLAINTEXT", opened),
        Listener("SECURED", "SASL_SSL", secured),
        Listener("MUTUAL", "SSL", mutual),
    )
    with served(TokenEndpoint("oauth", passwords["oauth"])) as endpoint:
        jwks = folder / "jwks.json"
        jwks.write_text(endpoint.jwks())
        settings = _settings(folder, authority, passwords["plain"], jwks)
        settings["connections.max.reauth.ms"] = str(reauthenticate_after_ms)
        allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={jwks.as_uri()}"
        with strict_broker(folder, settings, also=listeners, java_options=(allowed,)) as strict:
            ports = {listener.name: listener.port for listener in listeners}
            broker = SecuredBroker(strict, ports, passwords, authority, endpoint)
            for user in _SCRAM:
                broker.set_scram_password(user, passwords[user])
            yield broker


def _settings(folder: Path, authority: Authority, plain_password: str, jwks: Path) -> dict[str, str]:
    pair = authority.issue("broker", LOOPBACK)
    store, trusted = folder / "store.pem", folder / "trusted.pem"
    store.write_bytes(pair.key + pair.certificate)
    trusted.write_bytes(authority.certificate)
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trusted),
        "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/",
        "listener.name.mutual.ssl.client.auth": "required",
        "sasl.oauthbearer.jwks.endpoint.url": jwks.as_uri(),
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "sasl.oauthbearer.expected.issuer": ISSUER,
    }
    for listener in ("open", "secured"):
        prefix = f"listener.name.{listener}"
        settings |= {
            f"{prefix}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            f"{prefix}.plain.sasl.jaas.config": f'{LOGIN_MODULE} required user_plain="{plain_password}";',
            f"{prefix}.oauthbearer.sasl.jaas.config": f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required;",
            f"{prefix}.oauthbearer.sasl.server.callback.handler.class": _VALIDATOR,
        }
        for number in ("256", "512"):
            scram = f"{prefix}.scram-sha-{number}.sasl.jaas.config"
            settings[scram] = f"{SECURITY}.scram.ScramLoginModule required;"
    return settings
