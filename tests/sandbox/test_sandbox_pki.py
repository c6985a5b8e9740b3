"""Certificates are valid for every address they are used at, and only the person is cluster-admin."""

from __future__ import annotations

import base64
import stat

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID

from sandbox import pki
from sandbox.layout import Layout


@pytest.fixture
def made(layout: Layout) -> Layout:
    pki.write_all(layout)
    return layout


def loaded(layout: Layout, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pki.certificate(layout, name).read_bytes())


def test_the_api_servers_certificate_is_valid_for_every_address_and_name(made: Layout) -> None:
    names = loaded(made, "apiserver").extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    addresses = {str(address) for address in names.get_values_for_type(x509.IPAddress)}
    assert addresses == {"10.203.0.1", "10.204.0.1", "127.0.0.1"}
    assert "kubernetes.default.svc" in names.get_values_for_type(x509.DNSName)


@pytest.mark.parametrize("name", ["apiserver", "kubelet-server", *pki.IDENTITIES])
def test_every_certificate_is_signed_by_the_authority(made: Layout, name: str) -> None:
    loaded(made, name).verify_directly_issued_by(loaded(made, "ca"))


def test_only_the_person_is_in_the_group_of_cluster_admins(made: Layout) -> None:
    def groups(name: str) -> list[str]:
        subject = loaded(made, name).subject
        return [str(part.value) for part in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]

    assert [name for name in pki.IDENTITIES if "system:masters" in groups(name)] == ["admin"]
    assert groups("kubelet") == ["system:nodes"]


def test_keys_are_readable_by_their_owner_only(made: Layout) -> None:
    files = [made.kubeconfig, *made.pki.glob("*.key"), *made.pki.glob("*.kubeconfig")]

    assert len(files) > 10
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_the_kubeconfig_carries_all_that_a_client_needs(made: Layout) -> None:
    config = yaml.safe_load(made.kubeconfig.read_text())

    cluster, user = config["clusters"][0]["cluster"], config["users"][0]
    assert cluster["server"] == "https://10.203.0.1:6443"
    assert base64.b64decode(cluster["certificate-authority-data"]) == (made.pki / "ca.crt").read_bytes()
    assert user["name"] == "sandbox-admin"
    assert "tls-server-name" not in cluster  # kopf ignores it (F45)
