"""KafkaConnection: where Kafka is, and how to log in there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from slackwater.api.distinct import Distinct
from slackwater.api.durations import PositiveDurationMs, cel_between
from slackwater.api.model import ApiModel, rule
from slackwater.api.references import CaSecretRef, SecretRef
from slackwater.api.text import PrintableText, Text

USERNAME_KEY: Final = "username"
PASSWORD_KEY: Final = "password"
CLIENT_ID_KEY: Final = "clientId"
CLIENT_SECRET_KEY: Final = "clientSecret"
TOKEN_ENDPOINT_KEY: Final = "tokenEndpoint"
SCOPE_KEY: Final = "scope"
CERTIFICATE_KEY: Final = "tls.crt"
PRIVATE_KEY_KEY: Final = "tls.key"

_HOST: Final = r"[A-Za-z0-9_-]{1,63}([.][A-Za-z0-9_-]{1,63})*[.]?"
BootstrapServers = Annotated[
    str,
    Text(
        rf"\s*{_HOST}:[0-9]{{1,5}}\s*(,\s*{_HOST}:[0-9]{{1,5}}\s*)*",
        "write host:port of one or more brokers, with commas between them, such as broker-0:9092,broker-1:9092",
        max_length=4096,
    ),
]
GroupIdPrefix = Annotated[
    str,
    PrintableText(sentence="write how the group ids begin: 1 to 249 printable characters"),
]
_LONGEST_REST_MS: Final = 86_400_000
"""What was seen of a group is kept until the next look."""

Prefixes = tuple[str, ...] | None
"""How the ids of Kafka groups begin that a connection runs for a namespace. Empty: any id; None: no group."""


def prefixes_of(connection: Mapping[str, Any], namespace: str) -> Prefixes:
    """What a connection allows a namespace, by the object as the API server has it."""
    spec = connection.get("spec") or {}
    own = _texts(spec.get("groups"))
    if connection.get("kind") != "ClusterKafkaConnection" and "tenants" not in spec:
        return own
    tenants = spec.get("tenants") or ()
    mine = [_texts(each.get("groups")) for each in tenants if namespace in (each.get("namespaces") or ())]
    if not mine:
        return None
    theirs = () if () in mine else tuple(dict.fromkeys(prefix for prefixes in mine for prefix in prefixes))
    if not own or not theirs:
        return own or theirs
    both = (
        max(one, other, key=len) for one in own for other in theirs if one.startswith(other) or other.startswith(one)
    )
    return tuple(dict.fromkeys(both)) or None


def allows(prefixes: Prefixes, group_id: str) -> bool:
    """Whether a connection that allows these prefixes runs a Kafka group of this id."""
    return prefixes is not None and (not prefixes or group_id.startswith(prefixes))


def _texts(values: Sequence[object] | None) -> tuple[str, ...]:
    return tuple(map(str, values or ()))


class AuthenticationType(StrEnum):
    SCRAM_SHA_512 = "ScramSha512"
    SCRAM_SHA_256 = "ScramSha256"
    PLAIN = "Plain"
    OAUTH_BEARER = "OAuthBearer"
    TLS = "Tls"


class Tls(ApiModel):
    """Given, even as {}, connections are encrypted and the brokers' certificates and host names are verified."""

    ca_secret_ref: CaSecretRef | None = None
    """The certificate authority that signed the brokers' certificates; the system's own ones when not given."""
    certificate_secret_ref: SecretRef | None = None
    """A Secret of type kubernetes.io/tls, with tls.crt and tls.key: the certificate to show to the brokers."""


class Authentication(ApiModel):
    type: AuthenticationType
    """ScramSha512, ScramSha256, Plain, OAuthBearer, or Tls (by the certificate of tls.certificateSecretRef)."""
    secret_ref: SecretRef | None = None
    """The Secret with username and password; for OAuthBearer with clientId, clientSecret, tokenEndpoint and, where
    the provider wants one, scope. Not with type Tls."""
    allow_unencrypted: bool = False
    """Log in without encryption: without tls, or by a token endpoint without https. Whoever listens on
    the way learns the password or the token."""

    @rule(
        "self.type == 'Tls' || has(self.secretRef)",
        "name the Secret that holds the credentials in authentication.secretRef",
        field_path="secretRef",
    )
    def there_are_credentials(self) -> bool:
        return self.type is AuthenticationType.TLS or self.secret_ref is not None

    @rule(
        "self.type != 'Tls' || !has(self.secretRef)",
        "with type Tls the certificate is the credential: remove authentication.secretRef",
        field_path="secretRef",
    )
    def a_certificate_needs_no_password(self) -> bool:
        return self.type is not AuthenticationType.TLS or self.secret_ref is None


class Observe(ApiModel):
    moving_interval_ms: Annotated[PositiveDurationMs, Field(alias="movingInterval")] = 1_000
    """How often the operator looks at groups in motion."""
    rest_interval_ms: Annotated[PositiveDurationMs, Field(alias="restInterval")] = 15_000
    """How often the operator looks at groups at rest."""

    @rule(
        cel_between(("self.movingInterval",), "duration(self.movingInterval) >= duration('100ms')"),
        "all groups share one process, and brokers tell nothing new so soon: set observe.movingInterval to 100ms or"
        " more",
        field_path="movingInterval",
    )
    def motion_is_not_watched_without_a_pause(self) -> bool:
        return self.moving_interval_ms >= 100

    @rule(
        cel_between(("self.restInterval",), "duration(self.restInterval) >= duration('1s')"),
        "all groups share one process, and at rest nothing is urgent: set observe.restInterval to 1s or more",
        field_path="restInterval",
    )
    def rest_is_watched_seldom(self) -> bool:
        return self.rest_interval_ms >= 1_000

    @rule(
        cel_between(("self.restInterval",), "duration(self.restInterval) <= duration('24h')"),
        "the operator keeps what it saw until the next look: set observe.restInterval to 24h or less",
        field_path="restInterval",
    )
    def rest_is_watched_daily(self) -> bool:
        return self.rest_interval_ms <= _LONGEST_REST_MS

    @rule(
        cel_between(
            ("self.movingInterval", "self.restInterval"),
            "duration(self.movingInterval) <= duration(self.restInterval)",
        ),
        "groups in motion are looked at more often than groups at rest: lower observe.movingInterval or raise"
        " observe.restInterval",
        field_path="movingInterval",
    )
    def motion_is_watched_closer(self) -> bool:
        return self.moving_interval_ms <= self.rest_interval_ms


class KafkaConnectionSpec(ApiModel):
    bootstrap_servers: BootstrapServers
    """host:port of some of the brokers, with commas between them."""
    tls: Tls | None = None
    """Encrypt connections, and verify whom they reach. {} will do where the system knows the authority."""
    authentication: Authentication | None = None
    """How to log in; no authentication when not given."""
    groups: Annotated[tuple[GroupIdPrefix, ...], Field(max_length=100), Distinct()] = ()
    """How the ids of the Kafka groups begin that ConsumerGroups may have with this connection; any when not given."""
    observe: Observe = Field(default_factory=Observe)
    """How often the operator looks at this cluster's groups."""

    @rule(
        "!has(self.authentication) || self.authentication.type == 'Tls' || has(self.tls)"
        " || (has(self.authentication.allowUnencrypted) && self.authentication.allowUnencrypted)",
        "whoever listens on the way would learn the password or the token: set tls, even as {}, or"
        " authentication.allowUnencrypted to true",
        field_path="tls",
    )
    def a_log_in_is_encrypted(self) -> bool:
        known = self.authentication
        by_certificate = known is None or known.type is AuthenticationType.TLS
        return by_certificate or self.tls is not None or (known is not None and known.allow_unencrypted)

    @rule(
        "!has(self.authentication) || self.authentication.type != 'Tls'"
        " || (has(self.tls) && has(self.tls.certificateSecretRef))",
        "authentication by Tls shows a certificate: name its Secret in tls.certificateSecretRef",
        field_path="tls",
    )
    def a_certificate_is_there_to_show(self) -> bool:
        if self.authentication is None or self.authentication.type is not AuthenticationType.TLS:
            return True
        return self.tls is not None and self.tls.certificate_secret_ref is not None


NamespaceName = Annotated[
    str, Text(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", "write the name of a namespace: lower-case letters, digits and -", 63)
]


class Tenant(ApiModel):
    """Namespaces that may use a connection, and for which groups."""

    namespaces: Annotated[tuple[NamespaceName, ...], Field(max_length=100), Distinct()] = ()
    """The namespaces whose ConsumerGroups may use it. At least one."""
    groups: Annotated[tuple[GroupIdPrefix, ...], Field(max_length=50), Distinct()] = ()
    """How the ids of their Kafka groups begin; any that spec.groups allows when not given."""

    @rule(
        "has(self.namespaces) && size(self.namespaces) > 0",
        "name at least one namespace, for example namespaces: [payments]",
        field_path="namespaces",
    )
    def there_is_a_namespace(self) -> bool:
        return bool(self.namespaces)


class ClusterKafkaConnectionSpec(KafkaConnectionSpec):
    tenants: Annotated[tuple[Tenant, ...], Field(max_length=200)] = ()
    """Who may use it: at least one. A namespace that is in several may have the groups of each; any other has none."""

    @rule(
        "has(self.tenants) && size(self.tenants) > 0",
        "name who may use it, for example tenants: [{namespaces: [payments]}]",
        field_path="tenants",
    )
    def somebody_may_use_it(self) -> bool:
        return bool(self.tenants)
