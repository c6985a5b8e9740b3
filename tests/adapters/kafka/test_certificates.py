"""Until when certificates are valid, read from what a Secret has."""

from __future__ import annotations

import time
from typing import Final

import pytest

from slackwater.adapters.kafka.certificates import validity_of_authorities, validity_of_shown
from slackwater.adapters.kafka.security import client_settings
from slackwater.api.kafka_connection import KafkaConnectionSpec
from slackwater.core.status.certificates import Validity
from tests.adapters.kafka.certificates import Authority

AUTHORITY: Final = Authority()
PAIR: Final = AUTHORITY.issue("operator", days=30)
LONGER: Final = AUTHORITY.issue("an issuer", days=300)
DAY_S: Final = 86_400.0


def days_left(validity: Validity | None) -> int:
    assert validity is not None
    return round((validity.ends_at - time.time()) / DAY_S)


def test_of_a_chain_the_certificate_counts_that_is_shown() -> None:
    chain = (PAIR.certificate + LONGER.certificate).decode()
    found = validity_of_shown(chain, "tls.crt of Secret shown")
    assert days_left(found) == 30
    assert found is not None
    assert (found.where, round((found.ends_at - found.begins_at) / DAY_S)) == ("tls.crt of Secret shown", 31)


def test_of_several_authorities_the_last_counts() -> None:
    bundle = (PAIR.certificate + LONGER.certificate + AUTHORITY.certificate).decode()
    assert days_left(validity_of_authorities(bundle, "ca.crt of Secret ca")) == 300


@pytest.mark.parametrize("pem", ["", "rubbish", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_what_cannot_be_read_has_none(pem: str) -> None:
    assert validity_of_shown(pem, "") is None
    assert validity_of_authorities(pem, "") is None


def test_a_connection_tells_of_those_in_its_secrets() -> None:
    tls = {"caSecretRef": {"name": "ca"}, "certificateSecretRef": {"name": "shown"}}
    spec = KafkaConnectionSpec.model_validate(
        {"bootstrapServers": "broker:9092", "tls": tls, "authentication": {"type": "Tls"}}
    )
    shown = {"tls.crt": PAIR.certificate, "tls.key": PAIR.key}
    found = client_settings(
        "KafkaConnection main", spec, {"ca": {"ca.crt": AUTHORITY.certificate}, "shown": shown}
    ).certificates
    assert {each.where: days_left(each) for each in found} == {
        "ca.crt of Secret ca": 1,
        "tls.crt of Secret shown": 30,
    }
    plain = KafkaConnectionSpec.model_validate({"bootstrapServers": "broker:9092", "tls": {}})
    assert client_settings("KafkaConnection main", plain, {}).certificates == ()
