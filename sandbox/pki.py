"""The cluster's certificates and kubeconfigs: one authority, and an identity of its own for each component.

All of it is made again by each `up` and lies in the run folder, readable by root only. The API server's certificate is
valid for every address by which it is reached, because kopf ignores a kubeconfig's `tls-server-name` (F45).
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.layout import API_PORT, API_SERVICE, GATEWAY, NODE_NAME, Layout

LIFETIME = datetime.timedelta(days=365)
SERVER_URL = f"https://{GATEWAY}:{API_PORT}"

API_ADDRESSES = (str(GATEWAY), str(API_SERVICE), "127.0.0.1")
API_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
)

# user, groups: the names under which Kubernetes' built-in roles are bound. Only the person is in system:masters.
IDENTITIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "admin": ("sandbox-admin", ("system:masters",)),
    "kube-controller-manager": ("system:kube-controller-manager", ()),
    "kube-scheduler": ("system:kube-scheduler", ()),
    "kube-proxy": ("system:kube-proxy", ()),
    "kubelet": (f"system:node:{NODE_NAME}", ("system:nodes",)),
    "apiserver-to-kubelet": ("kube-apiserver-kubelet-client", ()),
}


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority that can sign."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def write_all(layout: Layout) -> None:
    """Make the authority, every certificate and key, and the kubeconfigs."""
    layout.pki.mkdir(parents=True, exist_ok=True)
    layout.pki.chmod(0o700)
    authority = _new_authority()
    _write(layout.pki / "ca.crt", _pem(authority.certificate))
    _issue(layout, authority, "apiserver", "kube-apiserver", names=API_NAMES, addresses=API_ADDRESSES)
    _issue(layout, authority, "kubelet-server", NODE_NAME, names=(NODE_NAME,), addresses=(str(GATEWAY),))
    for name, (user, groups) in IDENTITIES.items():
        _issue(layout, authority, name, user, groups=groups)
        _write(kubeconfig_of(layout, name), _kubeconfig(layout, name, user))
    _write(layout.pki / "service-accounts.key", _key_pem(ec.generate_private_key(ec.SECP256R1())))
    _write(layout.kubeconfig, kubeconfig_of(layout, "admin").read_bytes())


def certificate(layout: Layout, name: str) -> Path:
    return layout.pki / f"{name}.crt"


def key(layout: Layout, name: str) -> Path:
    return layout.pki / f"{name}.key"


def kubeconfig_of(layout: Layout, name: str) -> Path:
    """The kubeconfig of one component; the person's own is `layout.kubeconfig`."""
    return layout.pki / f"{name}.kubeconfig"


def _new_authority() -> Authority:
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "slackwater sandbox")])
    builder = (
        _builder(name, name, private)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(sign_certificates=True), critical=True)
    )
    return Authority(builder.sign(private, hashes.SHA256()), private)


def _issue(  # noqa: PLR0913 (the parts of one certificate)
    layout: Layout,
    authority: Authority,
    file_name: str,
    user: str,
    *,
    groups: Sequence[str] = (),
    names: Sequence[str] = (),
    addresses: Sequence[str] = (),
) -> None:
    """Write a certificate and its key: a client's, or with names and addresses a server's."""
    private = ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, user)])
    is_server = bool(names or addresses)
    usage = ExtendedKeyUsageOID.SERVER_AUTH if is_server else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _builder(subject, authority.certificate.subject, private)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(sign_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False)
    )
    if is_server:
        others: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
        others += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        builder = builder.add_extension(x509.SubjectAlternativeName(others), critical=False)
    _write(certificate(layout, file_name), _pem(builder.sign(authority.key, hashes.SHA256())))
    _write(key(layout, file_name), _key_pem(private))


def _builder(subject: x509.Name, issuer: x509.Name, private: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))  # a clock that is set back a little must not matter
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False)
    )


def _key_usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _kubeconfig(layout: Layout, name: str, user: str) -> bytes:
    def inline(path: Path) -> str:
        return base64.b64encode(path.read_bytes()).decode()

    cluster = {"server": SERVER_URL, "certificate-authority-data": inline(layout.pki / "ca.crt")}
    credentials = {
        "client-certificate-data": inline(certificate(layout, name)),
        "client-key-data": inline(key(layout, name)),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandbox", "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": user, "namespace": "default"}}],
        "current-context": "sandbox",
    }
    return yaml.safe_dump(config, sort_keys=False).encode()


def _pem(issued: x509.Certificate) -> bytes:
    return issued.public_bytes(serialization.Encoding.PEM)


def _key_pem(private: ec.EllipticCurvePrivateKey) -> bytes:
    # The traditional form, because the API server's reader of service-account keys knows "EC PRIVATE KEY".
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _write(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
