"""Settings of both Kafka clients, from a KafkaConnection and the Secrets that it names.

Credentials stay in memory: certificates reach Python's TLS without a file that outlives the call, and nothing here
shows in a repr or a log line.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from slackwater.adapters.kafka.certificates import validity_of_authorities, validity_of_shown
from slackwater.adapters.kafka.oauth import ClientCredentials, OAuthClient
from slackwater.adapters.kafka.secret_reader import LONGEST_BUNDLE, SecretData, SecretReader
from slackwater.api.errors import InvalidSpec
from slackwater.api.kafka_connection import (
    CERTIFICATE_KEY,
    CLIENT_ID_KEY,
    CLIENT_SECRET_KEY,
    PASSWORD_KEY,
    PRIVATE_KEY_KEY,
    SCOPE_KEY,
    TOKEN_ENDPOINT_KEY,
    USERNAME_KEY,
    AuthenticationType,
    ClusterKafkaConnectionSpec,
    KafkaConnectionSpec,
)
from slackwater.core.decision.words import listing
from slackwater.core.status.certificates import Validity

_MECHANISMS: Final = {
    AuthenticationType.PLAIN: "PLAIN",
    AuthenticationType.SCRAM_SHA_256: "SCRAM-SHA-256",
    AuthenticationType.SCRAM_SHA_512: "SCRAM-SHA-512",
    AuthenticationType.OAUTH_BEARER: "OAUTHBEARER",
}
_LOGIN_PATH: Final = "authentication.secretRef"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What to hand to each client's constructor. Holds credentials, and so never shows its content."""

    kafka_python: Mapping[str, Any] = field(repr=False)
    confluent: Mapping[str, str] = field(repr=False)
    certificates: tuple[Validity, ...] = ()


def secret_names(spec: KafkaConnectionSpec) -> frozenset[str]:
    """The Secrets to read, by name, before `client_settings` can be called."""
    names = [spec.authentication.secret_ref] if spec.authentication else []
    found = {reference.name for reference in names if reference is not None}
    for reference in (spec.tls.ca_secret_ref, spec.tls.certificate_secret_ref) if spec.tls else ():
        if reference is not None:
            found.add(reference.name)
    return frozenset(found)


def client_settings(
    connection: str, spec: KafkaConnectionSpec, secrets: Mapping[str, SecretData], token_hosts: Collection[str] = ()
) -> ClientSettings:
    """Make both clients' settings for a connection, such as `KafkaConnection main`.

    `secrets` has the data of each Secret that exists among `secret_names(spec)`. `token_hosts`: hosts that may be asked
    for tokens, such as `login.example.com` or `*.example.com`; none means any. Raises InvalidSpec with a sentence for
    each Secret, key or certificate that is missing or cannot be used.
    """
    operators = isinstance(spec, ClusterKafkaConnectionSpec)
    reader = SecretReader(secrets, "the operator's namespace" if operators else "this namespace")
    credentials = _Credentials.read(spec, reader, token_hosts)
    context = _tls_context(credentials, reader) if spec.tls is not None else None
    if reader.problems:
        raise InvalidSpec(connection, tuple(reader.problems))
    return ClientSettings(
        kafka_python=_for_kafka_python(spec, credentials, context),
        confluent=_for_confluent(spec, credentials),
        certificates=_validities(spec, credentials),
    )


def _validities(spec: KafkaConnectionSpec, credentials: _Credentials) -> tuple[Validity, ...]:
    found: list[Validity | None] = []
    if spec.tls is not None and (ca := spec.tls.ca_secret_ref) is not None:
        found.append(validity_of_authorities(credentials.ca_pem, f"{ca.key} of Secret {ca.name}"))
    if spec.tls is not None and (shown := spec.tls.certificate_secret_ref) is not None:
        where = f"{CERTIFICATE_KEY} of Secret {shown.name}"
        found.append(validity_of_shown(credentials.certificate_pem, where))
    return tuple(each for each in found if each is not None)


@dataclass(frozen=True, slots=True)
class _Credentials:
    protocol: str
    mechanism: str | None = None
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    oauth: OAuthClient | None = None
    ca_pem: str = field(default="", repr=False)
    certificate_pem: str = field(default="", repr=False)
    key_pem: str = field(default="", repr=False)

    @classmethod
    def read(cls, spec: KafkaConnectionSpec, reader: SecretReader, token_hosts: Collection[str]) -> _Credentials:
        mechanism, username, password, oauth = None, "", "", None
        authentication = spec.authentication
        if authentication is not None and authentication.secret_ref is not None:
            mechanism, secret = _MECHANISMS[authentication.type], authentication.secret_ref.name
            if authentication.type is AuthenticationType.OAUTH_BEARER:
                oauth = _oauth_client(secret, reader, authentication.allow_unencrypted, token_hosts)
            else:
                username = reader.text(secret, USERNAME_KEY, _LOGIN_PATH)
                password = reader.text(secret, PASSWORD_KEY, _LOGIN_PATH)
        ca_pem = certificate_pem = key_pem = ""
        if spec.tls is not None and (ca := spec.tls.ca_secret_ref) is not None:
            ca_pem = reader.text(ca.name, ca.key, "tls.caSecretRef", LONGEST_BUNDLE)
        if spec.tls is not None and (shown := spec.tls.certificate_secret_ref) is not None:
            certificate_pem = reader.text(shown.name, CERTIFICATE_KEY, "tls.certificateSecretRef")
            key_pem = reader.text(shown.name, PRIVATE_KEY_KEY, "tls.certificateSecretRef")
        protocol = ("SASL_" if mechanism else "") + ("PLAINTEXT" if spec.tls is None else "SSL")
        return cls(protocol, mechanism, username, password, oauth, ca_pem, certificate_pem, key_pem)


def _oauth_client(
    secret: str, reader: SecretReader, allow_unencrypted: bool, token_hosts: Collection[str]
) -> OAuthClient:
    endpoint = reader.text(secret, TOKEN_ENDPOINT_KEY, _LOGIN_PATH)
    scheme, host = _scheme_and_host(endpoint) if endpoint else ("https", "")
    where = f"Key {TOKEN_ENDPOINT_KEY} of Secret {secret}, which spec.{_LOGIN_PATH} names,"
    if scheme not in ("https", "http") or (endpoint and not host):
        reader.note(f"{where} is no address: write https://host/path.")
    elif scheme == "http" and not allow_unencrypted:
        reader.note(
            f"{where} would send the client secret in the clear: write https://host/path, or set"
            " authentication.allowUnencrypted to true."
        )
    elif endpoint and token_hosts and not _is_among(host, token_hosts):
        reader.note(
            f"{where} is on a host that this operator asks for no tokens: write one on {listing(token_hosts)}, or have"
            " its host added to the operator's SLACKWATER_TOKEN_HOSTS (the chart's tokenHosts)."
        )
    return OAuthClient(
        reader.text(secret, CLIENT_ID_KEY, _LOGIN_PATH),
        reader.text(secret, CLIENT_SECRET_KEY, _LOGIN_PATH),
        endpoint,
        reader.optional_text(secret, SCOPE_KEY, _LOGIN_PATH),
    )


def _scheme_and_host(address: str) -> tuple[str, str]:
    """Empty where it is none."""
    try:
        parts = urlsplit(address)
    except ValueError:  # a bracket without the other one
        return "", ""
    return parts.scheme, parts.hostname or ""


def _is_among(host: str, hosts: Collection[str]) -> bool:
    return any(host.endswith(each[1:]) if each.startswith("*.") else host == each for each in map(str.lower, hosts))


def _for_kafka_python(
    spec: KafkaConnectionSpec, credentials: _Credentials, context: ssl.SSLContext | None
) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "bootstrap_servers": "".join(spec.bootstrap_servers.split()),
        "security_protocol": credentials.protocol,
    }
    if context is not None:
        settings["ssl_context"] = context
    if credentials.mechanism is not None:
        settings["sasl_mechanism"] = credentials.mechanism
    if credentials.oauth is not None:
        settings["sasl_oauth_token_provider"] = ClientCredentials(credentials.oauth)
    elif credentials.mechanism is not None:
        settings["sasl_plain_username"] = credentials.username
        settings["sasl_plain_password"] = credentials.password
    return settings


def _for_confluent(spec: KafkaConnectionSpec, credentials: _Credentials) -> dict[str, str]:
    settings = {
        "bootstrap.servers": "".join(spec.bootstrap_servers.split()),
        "security.protocol": credentials.protocol,
        "ssl.ca.pem": credentials.ca_pem,
        "ssl.certificate.pem": credentials.certificate_pem,
        "ssl.key.pem": credentials.key_pem,
        "sasl.mechanism": credentials.mechanism or "",
        "sasl.username": credentials.username,
        "sasl.password": credentials.password,
    }
    if (oauth := credentials.oauth) is not None:
        settings |= {
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": oauth.client_id,
            "sasl.oauthbearer.client.secret": oauth.client_secret,
            "sasl.oauthbearer.token.endpoint.url": oauth.token_endpoint,
            "sasl.oauthbearer.scope": oauth.scope,
        }
    return {key: value for key, value in settings.items() if value}


def _tls_context(credentials: _Credentials, reader: SecretReader) -> ssl.SSLContext | None:
    """Verify brokers by the given authority, or by the system's; show the certificate where there is one."""
    try:
        context = ssl.create_default_context(cadata=credentials.ca_pem or None)
    except (ssl.SSLError, ValueError):
        reader.problems.append("The certificate authority in spec.tls.caSecretRef cannot be read: put PEM text there.")
        return None
    if credentials.certificate_pem and credentials.key_pem:
        try:
            with _as_file(credentials.certificate_pem + "\n" + credentials.key_pem + "\n") as path:
                context.load_cert_chain(path, password=_no_password)
        except (ssl.SSLError, ValueError):
            reader.problems.append(
                "The certificate and key in spec.tls.certificateSecretRef cannot be read, or do not belong together:"
                " put the certificate (chain) into tls.crt and its unencrypted private key into tls.key, both in PEM."
            )
    return context


def _no_password() -> str:
    """Without it OpenSSL asks the terminal; with an empty one it derives a key from that, in as many rounds as the file
    says, which may take it an hour."""
    raise ValueError("the private key is encrypted")


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """A path to read `text` from, for Python's ssl takes certificates from files only. On Linux it is memory."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            yield f"/proc/self/fd/{descriptor}"
    else:  # a developer's machine
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            yield file.name
