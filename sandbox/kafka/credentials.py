"""Passwords and certificates of the sandbox's brokers: made again by each `up`, readable by their owner only."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from sandbox import commands
from sandbox.kafka.configuration import USER, Broker, Secrets
from sandbox.packages import Package, ensure_packages

_OPENSSL = (Package("openssl", "openssl", "makes the brokers' certificates"),)
_DAYS = "30"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where a client finds what the secured listeners ask for. All paths are files of mode 600."""

    directory: Path
    user: str = USER

    @property
    def ca(self) -> Path:
        """Certificate of the authority that signed the brokers' and the client's certificates (PEM)."""
        return self.directory / "ca.pem"

    @property
    def client_certificate(self) -> Path:
        return self.directory / "client.pem"

    @property
    def client_key(self) -> Path:
        return self.directory / "client-key.pem"

    @property
    def password_file(self) -> Path:
        return self.directory / "password"

    @property
    def password(self) -> str:
        """Password of `user` for PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 alike."""
        return self.password_file.read_text()

    @property
    def for_brokers(self) -> Secrets:
        return Secrets(self.password, key_store=self.directory / "broker-store.pem", trust_store=self.ca)


def make_credentials(directory: Path, brokers: tuple[Broker, ...]) -> Credentials:
    """Fill the new `directory` with a password, an authority, and certificates for the brokers and for one client.

    Raises MissingPrerequisite without openssl, CommandFailed when it refuses.
    """
    ensure_packages(_OPENSSL)
    directory.mkdir(mode=0o700, parents=True)
    made = Credentials(directory)
    _write_private(made.password_file, secrets.token_hex(16))
    authority_key = directory / "ca-key.pem"
    _certificate(made.ca, authority_key, "Slackwater sandbox authority", "-addext", "keyUsage=critical,keyCertSign")
    signed = ("-CA", str(made.ca), "-CAkey", str(authority_key), "-addext", "basicConstraints=critical,CA:FALSE")
    _certificate(made.client_certificate, made.client_key, USER, *signed)
    certificate, key = directory / "broker.pem", directory / "broker-key.pem"
    addresses = ",".join(f"IP:{broker.address}" for broker in brokers)
    _certificate(certificate, key, "Slackwater sandbox broker", *signed, "-addext", f"subjectAltName={addresses}")
    _write_private(made.for_brokers.key_store, key.read_text() + certificate.read_text())
    return made


def _certificate(certificate: Path, key: Path, common_name: str, *options: str) -> None:
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    command = ["openssl", "req", "-x509", *curve, "-days", _DAYS, "-subj", f"/CN={common_name}"]
    command += ["-keyout", str(key), "-out", str(certificate), *options]
    commands.run(command)
    key.chmod(0o600)
    certificate.chmod(0o600)


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)
