"""Every way to reach a broker, in the words of both clients."""

from __future__ import annotations

from sandbox.kafka import PLAINTEXT_PORT, SASL_PLAINTEXT_PORT, SASL_SSL_PORT, SSL_PORT, Credentials

LISTENERS = ("plaintext", "tls", "mutual-tls", "plain", "scram-256", "scram-512", "scram-512-over-tls")

_PORTS = {"plaintext": PLAINTEXT_PORT, "tls": SSL_PORT, "mutual-tls": SSL_PORT, "scram-512-over-tls": SASL_SSL_PORT}
_MECHANISMS = {
    "plain": "PLAIN",
    "scram-256": "SCRAM-SHA-256",
    "scram-512": "SCRAM-SHA-512",
    "scram-512-over-tls": "SCRAM-SHA-512",
}


def confluent(listener: str, host: str, credentials: Credentials) -> dict[str, str]:
    """Properties for confluent-kafka."""
    port = _PORTS.get(listener, SASL_PLAINTEXT_PORT)
    settings = {"bootstrap.servers": f"{host}:{port}", "security.protocol": _protocol(listener)}
    if "tls" in listener:
        settings["ssl.ca.location"] = str(credentials.ca)
    if listener == "mutual-tls":
        settings["ssl.certificate.location"] = str(credentials.client_certificate)
        settings["ssl.key.location"] = str(credentials.client_key)
    if listener in _MECHANISMS:
        settings["sasl.mechanism"] = _MECHANISMS[listener]
        settings["sasl.username"] = credentials.user
        settings["sasl.password"] = credentials.password
    return settings


_KAFKA_PYTHON = {
    "bootstrap.servers": "bootstrap_servers",
    "security.protocol": "security_protocol",
    "ssl.ca.location": "ssl_cafile",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.key.location": "ssl_keyfile",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
}


def kafka_python(listener: str, host: str, credentials: Credentials) -> dict[str, str]:
    """The same for kafka-python."""
    return {_KAFKA_PYTHON[name]: value for name, value in confluent(listener, host, credentials).items()}


def _protocol(listener: str) -> str:
    return ("SASL_" if listener in _MECHANISMS else "") + ("SSL" if "tls" in listener else "PLAINTEXT")
