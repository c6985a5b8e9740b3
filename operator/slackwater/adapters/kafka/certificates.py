"""Until when the certificates of a KafkaConnection are valid."""

from __future__ import annotations

from cryptography import x509

from slackwater.core.status.certificates import Validity


def validity_of_shown(pem: str, where: str) -> Validity | None:
    """Of the certificate that is shown to brokers: the first of its chain. None where there is none that can be read.

    `where`: key and Secret, for people.
    """
    found = _read(pem)
    return _validity(found[0], where) if found else None


def validity_of_authorities(pem: str, where: str) -> Validity | None:
    """Of the last authority that is valid: a bundle may keep some whose time is over. None where none can be read."""
    found = _read(pem)
    return _validity(max(found, key=lambda each: each.not_valid_after_utc), where) if found else None


def _read(pem: str) -> list[x509.Certificate]:
    """Empty where OpenSSL takes what this library does not: what is refused is said elsewhere."""
    try:
        found = x509.load_pem_x509_certificates(pem.encode())
        return [each for each in found if each.not_valid_before_utc < each.not_valid_after_utc]
    except (ValueError, x509.InvalidVersion):
        return []


def _validity(certificate: x509.Certificate, where: str) -> Validity:
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return Validity(where, begins.timestamp(), ends.timestamp())
