"""Which settings both clients get from a KafkaConnection and its Secrets, and what is said when one is missing."""

from __future__ import annotations

import datetime
import ssl
from base64 import encodebytes
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from slackwater.adapters.kafka.oauth import ClientCredentials
from slackwater.adapters.kafka.security import client_settings, secret_names
from slackwater.api.errors import InvalidSpec
from slackwater.api.kafka_connection import ClusterKafkaConnectionSpec, KafkaConnectionSpec

LOGIN = {"username": b"slackwater", "password": b"hunter2\n"}
TOKENS = {"clientId": b"slackwater", "clientSecret": b"hunter2\n", "tokenEndpoint": b"https://login.example/token"}


def spec_of(**fields: Any) -> KafkaConnectionSpec:
    return KafkaConnectionSpec.model_validate({"bootstrapServers": "a:9092, b:9092", **fields})


def sasl(kind: str) -> dict[str, Any]:
    """In the clear, where no tls is given."""
    return {"type": kind, "secretRef": {"name": "login"}, "allowUnencrypted": True}


@pytest.fixture(scope="module")
def pair() -> tuple[bytes, bytes]:
    """A self-signed certificate and its key, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "slackwater")])
    today = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    return certificate.public_bytes(pem), key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)


def test_without_security_only_the_servers_are_set() -> None:
    settings = client_settings("KafkaConnection main", spec_of(), {})

    assert settings.kafka_python == {"bootstrap_servers": "a:9092,b:9092", "security_protocol": "PLAINTEXT"}
    assert settings.confluent == {"bootstrap.servers": "a:9092,b:9092", "security.protocol": "PLAINTEXT"}


@pytest.mark.parametrize(
    ("kind", "mechanism"), [("Plain", "PLAIN"), ("ScramSha256", "SCRAM-SHA-256"), ("ScramSha512", "SCRAM-SHA-512")]
)
@pytest.mark.parametrize(("tls", "protocol"), [({}, "SASL_PLAINTEXT"), ({"tls": {}}, "SASL_SSL")])
def test_names_and_passwords_reach_both_clients(kind: str, mechanism: str, tls: dict[str, Any], protocol: str) -> None:
    settings = client_settings("KafkaConnection main", spec_of(authentication=sasl(kind), **tls), {"login": LOGIN})

    python = settings.kafka_python
    assert (python["security_protocol"], python["sasl_mechanism"]) == (protocol, mechanism)
    assert (python["sasl_plain_username"], python["sasl_plain_password"]) == ("slackwater", "hunter2")
    assert ("ssl_context" in python) == bool(tls)
    confluent = settings.confluent
    assert (confluent["security.protocol"], confluent["sasl.mechanism"]) == (protocol, mechanism)
    assert (confluent["sasl.username"], confluent["sasl.password"]) == ("slackwater", "hunter2")


def test_brokers_are_verified_by_the_authority_given(pair: tuple[bytes, bytes]) -> None:
    settings = client_settings(
        "KafkaConnection main", spec_of(tls={"caSecretRef": {"name": "ca"}}), {"ca": {"ca.crt": pair[0]}}
    )

    context = settings.kafka_python["ssl_context"]
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert len(context.get_ca_certs()) == 1
    assert settings.confluent["ssl.ca.pem"] == pair[0].decode().rstrip()
    assert settings.confluent["security.protocol"] == "SSL"


def test_a_certificate_is_shown_to_the_brokers(pair: tuple[bytes, bytes]) -> None:
    spec = spec_of(tls={"certificateSecretRef": {"name": "shown"}}, authentication={"type": "Tls"})

    settings = client_settings("KafkaConnection main", spec, {"shown": {"tls.crt": pair[0], "tls.key": pair[1]}})

    assert settings.confluent["ssl.certificate.pem"].startswith("-----BEGIN CERTIFICATE")
    assert settings.confluent["ssl.key.pem"].startswith("-----BEGIN PRIVATE KEY")
    assert settings.kafka_python["security_protocol"] == "SSL"


def test_nothing_secret_shows() -> None:
    settings = client_settings("KafkaConnection main", spec_of(authentication=sasl("Plain")), {"login": LOGIN})

    assert "hunter2" not in repr(settings)
    assert "hunter2" not in str(settings)


def test_secrets_are_named_before_they_are_read() -> None:
    tls = {"caSecretRef": {"name": "ca"}, "certificateSecretRef": {"name": "shown"}}

    assert secret_names(spec_of(tls=tls, authentication=sasl("Plain"))) == {"ca", "shown", "login"}
    assert secret_names(spec_of()) == frozenset()


@pytest.mark.parametrize(
    ("secrets", "sentence"),
    [
        ({}, "Secret login, which spec.authentication.secretRef names, does not exist in this namespace: create it."),
        (
            {"login": {"username": b"me"}},
            "Secret login, which spec.authentication.secretRef names, has no key password: add it.",
        ),
        (
            {"login": {**LOGIN, "password": b"x" * 65_537}},
            "Key password of Secret login, which spec.authentication.secretRef names, has 65,537 bytes, of 65,536 that",
        ),
        ({"login": {**LOGIN, "password": b"\xff"}}, "Key password of Secret login, which"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(secrets: dict[str, dict[str, bytes]], sentence: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        client_settings("KafkaConnection main", spec_of(authentication=sasl("ScramSha512")), secrets)

    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith(sentence)


def test_what_is_no_certificate_is_said(pair: tuple[bytes, bytes]) -> None:
    spec = spec_of(tls={"caSecretRef": {"name": "ca"}, "certificateSecretRef": {"name": "shown"}})
    other_key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"locked"),
    )

    with pytest.raises(InvalidSpec, match=r"tls\.caSecretRef cannot be read"):
        client_settings(
            "KafkaConnection main",
            spec,
            {"ca": {"ca.crt": b"rubbish"}, "shown": {"tls.crt": pair[0], "tls.key": pair[1]}},
        )
    with pytest.raises(InvalidSpec, match=r"tls\.certificateSecretRef cannot be read"):
        client_settings(
            "KafkaConnection main",
            spec,
            {"ca": {"ca.crt": pair[0]}, "shown": {"tls.crt": pair[0], "tls.key": other_key}},
        )


def test_authorities_may_come_as_the_systems_whole_bundle(pair: tuple[bytes, bytes]) -> None:
    """As trust-manager writes it; Debian's has 220 KB."""
    bundle = pair[0] * 450
    assert len(bundle) > 200_000
    settings = client_settings(
        "KafkaConnection main", spec_of(tls={"caSecretRef": {"name": "ca"}}), {"ca": {"ca.crt": bundle}}
    )
    assert settings.confluent["ssl.ca.pem"].startswith("-----BEGIN CERTIFICATE-----")


MOST_ROUNDS = b"\x02\x04\x7f\xff\xff\xff"
"""As ASN.1 has the number 2^31 - 1: so many take OpenSSL about 40 minutes."""


USUAL_ROUNDS = b"\x02\x02\x08\x00"


def with_most_rounds(der: bytes) -> bytes:
    """Each value of the ASN.1 as it was, but for the number of rounds, and the lengths around it."""
    found, rest = b"", der
    while rest:
        head, length = 2, rest[1]
        if length & 0x80:
            head, length = 2 + (length & 0x7F), int.from_bytes(rest[2 : 2 + (length & 0x7F)], "big")
        whole, content = rest[: head + length], rest[head : head + length]
        if rest[0] == 0x30:
            inner = with_most_rounds(content)
            size = bytes([len(inner)]) if len(inner) < 0x80 else bytes([0x82]) + len(inner).to_bytes(2, "big")
            whole = b"\x30" + size + inner
        found += MOST_ROUNDS if whole == USUAL_ROUNDS else whole
        rest = rest[head + length :]
    return found


@pytest.mark.timeout(60)
def test_a_key_that_takes_an_hour_to_derive_costs_nothing(pair: tuple[bytes, bytes]) -> None:
    """OpenSSL asks for the password first: nobody who may write a Secret keeps the operator busy by it."""
    key = serialization.load_pem_private_key(pair[1], password=None)
    locked = serialization.BestAvailableEncryption(b"locked")
    der = key.private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, locked)
    slow = with_most_rounds(der)
    assert MOST_ROUNDS in slow
    pem = b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n" + encodebytes(slow) + b"-----END ENCRYPTED PRIVATE KEY-----\n"
    spec = spec_of(tls={"certificateSecretRef": {"name": "shown"}})
    with pytest.raises(InvalidSpec, match="its unencrypted private key"):
        client_settings("KafkaConnection main", spec, {"shown": {"tls.crt": pair[0], "tls.key": pem}})


def test_a_client_of_tokens_reaches_both_clients() -> None:
    settings = client_settings("KafkaConnection main", spec_of(authentication=sasl("OAuthBearer")), {"login": TOKENS})

    assert settings.kafka_python["sasl_mechanism"] == "OAUTHBEARER"
    assert isinstance(settings.kafka_python["sasl_oauth_token_provider"], ClientCredentials)
    assert "sasl_plain_password" not in settings.kafka_python
    assert {name: value for name, value in settings.confluent.items() if name.startswith("sasl.")} == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "slackwater",
        "sasl.oauthbearer.client.secret": "hunter2",
        "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
    }
    assert "hunter2" not in repr(settings)


def test_a_scope_is_asked_for_where_one_is_named() -> None:
    login = {**TOKENS, "scope": b"kafka\n"}

    settings = client_settings("KafkaConnection main", spec_of(authentication=sasl("OAuthBearer")), {"login": login})

    assert settings.confluent["sasl.oauthbearer.scope"] == "kafka"


@pytest.mark.parametrize(
    "endpoint", [b"login.example/token", b"file:///etc/passwd", b"https://[::1/token", b"https:///token"]
)
def test_an_endpoint_for_tokens_is_an_address_of_the_web(endpoint: bytes) -> None:
    login = {**TOKENS, "tokenEndpoint": endpoint}

    with pytest.raises(InvalidSpec, match=r"Key tokenEndpoint of Secret login, .* is no address"):
        client_settings("KafkaConnection main", spec_of(authentication=sasl("OAuthBearer")), {"login": login})


@pytest.mark.parametrize(
    ("endpoint", "hosts", "is_asked"),
    [
        ("https://login.example/token", (), True),
        ("https://login.example/token", ("login.example",), True),
        ("https://LOGIN.example:8443/token", ("other.example", "Login.Example"), True),
        ("https://a.b.login.example/token", ("*.login.example",), True),
        ("https://login.example/token", ("*.login.example",), False),
        ("https://evil-login.example/token", ("login.example", "*.login.example"), False),
        ("https://login.example@evil.example/token", ("login.example",), False),
    ],
)
def test_tokens_are_asked_for_where_whoever_runs_the_operator_allows_it(
    endpoint: str, hosts: tuple[str, ...], is_asked: bool
) -> None:
    spec, login = spec_of(authentication=sasl("OAuthBearer")), {**TOKENS, "tokenEndpoint": endpoint.encode()}
    if is_asked:
        assert (
            client_settings("KafkaConnection main", spec, {"login": login}, hosts).confluent["sasl.mechanism"]
            == "OAUTHBEARER"
        )
        return
    with pytest.raises(InvalidSpec, match=r"is on a host that this operator asks for no tokens: write one on .*login"):
        client_settings("KafkaConnection main", spec, {"login": login}, hosts)


@pytest.mark.parametrize("allowed", [True, False])
def test_a_client_secret_goes_over_the_web_in_the_clear_only_where_somebody_says_so(allowed: bool) -> None:
    login = {**TOKENS, "tokenEndpoint": b"http://login.example/token"}
    spec = spec_of(tls={}, authentication={**sasl("OAuthBearer"), "allowUnencrypted": allowed})
    if allowed:
        assert (
            client_settings("KafkaConnection main", spec, {"login": login}).confluent["sasl.mechanism"] == "OAUTHBEARER"
        )
        return
    with pytest.raises(InvalidSpec, match=r"would send the client secret in the clear: write https://host/path"):
        client_settings("KafkaConnection main", spec, {"login": login})


def test_what_a_client_of_tokens_lacks_is_said_at_once() -> None:
    with pytest.raises(InvalidSpec) as caught:
        client_settings(
            "KafkaConnection main", spec_of(authentication=sasl("OAuthBearer")), {"login": {"username": b"me"}}
        )

    assert [problem.split(" key ")[1] for problem in caught.value.problems] == [
        "tokenEndpoint: add it.",
        "clientId: add it.",
        "clientSecret: add it.",
    ]


def test_a_secret_that_is_missing_is_missed_where_it_would_be() -> None:
    given = {"bootstrapServers": "broker:9092", "authentication": sasl("ScramSha512")}
    shared = ClusterKafkaConnectionSpec.model_validate({**given, "tenants": [{"namespaces": ["a"]}]})
    with pytest.raises(InvalidSpec, match="does not exist in the operator's namespace: create it"):
        client_settings("ClusterKafkaConnection shared", shared, {})
    with pytest.raises(InvalidSpec, match="does not exist in this namespace: create it"):
        client_settings("KafkaConnection main", spec_of(authentication=sasl("ScramSha512")), {})
