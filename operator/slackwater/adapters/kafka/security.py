"""Settings of both Kafka clients, from a KafkaConnection and the Secrets that it names.

Credentials stay in memory: certificates reach Python's TLS without a file that outlives the call, and nothing here
shows in a repr or a log line.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.api.errors import InvalidSpec
from slackwater.api.kafka_connection import (
    CERTIFICATE_KEY,
    PASSWORD_KEY,
    PRIVATE_KEY_KEY,
    USERNAME_KEY,
    AuthenticationType,
    KafkaConnectionSpec,
)

SecretData = Mapping[str, bytes]

_MECHANISMS: Final = {
    AuthenticationType.PLAIN: "PLAIN",
    AuthenticationType.SCRAM_SHA_256: "SCRAM-SHA-256",
    AuthenticationType.SCRAM_SHA_512: "SCRAM-SHA-512",
}


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What to hand to each client's constructor. Holds credentials, and so never shows its content."""

    kafka_python: Mapping[str, Any] = field(repr=False)
    confluent: Mapping[str, str] = field(repr=False)


def secret_names(spec: KafkaConnectionSpec) -> frozenset[str]:
    """The Secrets to read, by name, before `client_settings` can be called."""
    names = [spec.authentication.secret_ref] if spec.authentication else []
    found = {reference.name for reference in names if reference is not None}
    for reference in (spec.tls.ca_secret_ref, spec.tls.certificate_secret_ref) if spec.tls else ():
        if reference is not None:
            found.add(reference.name)
    return frozenset(found)


def client_settings(name: str, spec: KafkaConnectionSpec, secrets: Mapping[str, SecretData]) -> ClientSettings:
    """Make both clients' settings for the KafkaConnection `name`.

    `secrets` has the data of each Secret that exists among `secret_names(spec)`. Raises InvalidSpec with a sentence for
    each Secret, key or certificate that is missing or cannot be used.
    """
    reader = _SecretReader(secrets)
    credentials = _Credentials.read(spec, reader)
    context = _tls_context(credentials, reader) if spec.tls is not None else None
    if reader.problems:
        raise InvalidSpec(f"KafkaConnection {name}", tuple(reader.problems))
    return ClientSettings(
        kafka_python=_for_kafka_python(spec, credentials, context),
        confluent=_for_confluent(spec, credentials),
    )


@dataclass(frozen=True, slots=True)
class _Credentials:
    protocol: str
    mechanism: str | None = None
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    ca_pem: str = field(default="", repr=False)
    certificate_pem: str = field(default="", repr=False)
    key_pem: str = field(default="", repr=False)

    @classmethod
    def read(cls, spec: KafkaConnectionSpec, reader: _SecretReader) -> _Credentials:
        mechanism, username, password = _login(spec, reader)
        ca_pem = certificate_pem = key_pem = ""
        if spec.tls is not None and (ca := spec.tls.ca_secret_ref) is not None:
            ca_pem = reader.text(ca.name, ca.key, "tls.caSecretRef")
        if spec.tls is not None and (shown := spec.tls.certificate_secret_ref) is not None:
            certificate_pem = reader.text(shown.name, CERTIFICATE_KEY, "tls.certificateSecretRef")
            key_pem = reader.text(shown.name, PRIVATE_KEY_KEY, "tls.certificateSecretRef")
        protocol = ("SASL_" if mechanism else "") + ("PLAINTEXT" if spec.tls is None else "SSL")
        return cls(protocol, mechanism, username, password, ca_pem, certificate_pem, key_pem)


def _login(spec: KafkaConnectionSpec, reader: _SecretReader) -> tuple[str | None, str, str]:
    """Return SASL mechanism, user name and password; no mechanism without SASL."""
    authentication = spec.authentication
    if authentication is None or authentication.type is AuthenticationType.TLS or authentication.secret_ref is None:
        return None, "", ""
    if authentication.type is AuthenticationType.OAUTH_BEARER:
        reader.problems.append(
            "authentication.type OAuthBearer is not supported yet: use ScramSha512, ScramSha256, Plain or Tls."
        )
        return None, "", ""
    secret = authentication.secret_ref.name
    username = reader.text(secret, USERNAME_KEY, "authentication.secretRef")
    password = reader.text(secret, PASSWORD_KEY, "authentication.secretRef")
    return _MECHANISMS[authentication.type], username, password


class _SecretReader:
    """Reads values of Secrets and collects a sentence for each that is not there."""

    def __init__(self, secrets: Mapping[str, SecretData]) -> None:
        self._secrets = secrets
        self.problems: list[str] = []

    def text(self, secret: str, key: str, path: str) -> str:
        """Return a value without the line break that `echo` puts behind it; "" with a problem noted."""
        data = self._secrets.get(secret)
        if data is None:
            self._note(f"Secret {secret}, which spec.{path} names, does not exist in this namespace: create it.")
            return ""
        if not data.get(key):
            self._note(f"Secret {secret}, which spec.{path} names, has no key {key}: add it.")
            return ""
        try:
            return data[key].decode().rstrip("\r\n")
        except UnicodeDecodeError:
            self._note(f"Key {key} of Secret {secret}, which spec.{path} names, is not text: put UTF-8 text there.")
            return ""

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


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
    return {key: value for key, value in settings.items() if value}


def _tls_context(credentials: _Credentials, reader: _SecretReader) -> ssl.SSLContext | None:
    """Verify brokers by the given authority, or by the system's; show the certificate where there is one."""
    try:
        context = ssl.create_default_context(cadata=credentials.ca_pem or None)
    except (ssl.SSLError, ValueError):
        reader.problems.append("The certificate authority in spec.tls.caSecretRef cannot be read: put PEM text there.")
        return None
    if credentials.certificate_pem and credentials.key_pem:
        try:
            with _as_file(credentials.certificate_pem + "\n" + credentials.key_pem + "\n") as path:
                context.load_cert_chain(path, password="")  # else OpenSSL asks the terminal for one
        except ssl.SSLError:
            reader.problems.append(
                "The certificate and key in spec.tls.certificateSecretRef cannot be read, or do not belong together:"
                " put the certificate (chain) into tls.crt and its unencrypted private key into tls.key, both in PEM."
            )
    return context


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
