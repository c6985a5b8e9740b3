"""An API server with its etcd and nothing else, for one test: no controller, no node, nobody else's objects.

It is told to ask whether the maker of an object may block the deletion of its owner, which the sandbox's own is not.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox import pki
from sandbox.binaries import ensure_kubernetes
from sandbox.control_plane import AUDIT_POLICY
from sandbox.layout import Layout
from tests.adapters.kafka.own_broker import free_ports
from tests.e2e.stage.waiting import wait_for

_HOST: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class OwnApiServer:
    kubeconfig: Path
    """Of one who may do everything."""
    audit_log: Path


@contextmanager
def own_api_server(folder: Path) -> Iterator[OwnApiServer]:
    """Up until the block ends, with all that it keeps in that folder. Takes no root."""
    layout = Layout(cache=Layout.from_environment().cache, run=folder)
    program = ensure_kubernetes(layout)
    etcd_port, peer_port, port = free_ports(_HOST, _HOST, _HOST)
    pki.write_all(layout)
    (folder / "policy.yaml").write_text(AUDIT_POLICY)
    layout.kubeconfig.write_text(layout.kubeconfig.read_text().replace(pki.SERVER_URL, f"https://{_HOST}:{port}"))
    etcd, api_server = _etcd(folder, etcd_port, peer_port), _api_server(layout, etcd_port, port)
    with _running(program, etcd, folder / "etcd.log"), _running(program, api_server, folder / "apiserver.log"):
        ready = ["kubectl", f"--kubeconfig={layout.kubeconfig}", "get", "--raw", "/readyz"]
        wait_for("the API server", lambda: subprocess.run(ready, capture_output=True, check=False).returncode == 0)
        yield OwnApiServer(layout.kubeconfig, layout.audit_log)


@contextmanager
def _running(program: Path, arguments: list[str], log: Path) -> Iterator[None]:
    with log.open("wb") as output, subprocess.Popen([program, *arguments], stdout=output, stderr=output) as process:
        try:
            yield
        finally:
            process.kill()  # an API server takes its time over open watches


def _etcd(folder: Path, port: int, peer_port: int) -> list[str]:
    return [
        "etcd",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls=http://{_HOST}:{port}",
        f"--advertise-client-urls=http://{_HOST}:{port}",
        f"--listen-peer-urls=http://{_HOST}:{peer_port}",
        f"--initial-advertise-peer-urls=http://{_HOST}:{peer_port}",
        f"--initial-cluster=default=http://{_HOST}:{peer_port}",
        "--unsafe-no-fsync",
    ]


def _api_server(layout: Layout, etcd_port: int, port: int) -> list[str]:
    accounts = pki.key(layout, "service-accounts")
    return [
        "kube-apiserver",
        f"--etcd-servers=http://{_HOST}:{etcd_port}",
        f"--bind-address={_HOST}",
        f"--advertise-address={_HOST}",
        f"--secure-port={port}",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--tls-cert-file={pki.certificate(layout, 'apiserver')}",
        f"--tls-private-key-file={pki.key(layout, 'apiserver')}",
        f"--client-ca-file={pki.certificate(layout, 'ca')}",
        "--authorization-mode=RBAC",
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={accounts}",
        f"--service-account-signing-key-file={accounts}",
        f"--audit-policy-file={layout.run / 'policy.yaml'}",
        f"--audit-log-path={layout.audit_log}",
    ]
