"""etcd, the API server, the controller manager and the scheduler: four processes in the node's network namespace.

Each has its own identity and the rights that Kubernetes' built-in roles give it; none is cluster-admin.
"""

from __future__ import annotations

import http.client
import ssl
from pathlib import Path

from sandbox import pki, processes
from sandbox.commands import run
from sandbox.layout import API_PORT, GATEWAY, NODE_NETNS, SERVICES, Layout

ETCD, APISERVER, CONTROLLER_MANAGER, SCHEDULER = "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"

ETCD_URL = "http://127.0.0.1:2379"  # loopback of the node's namespace: not reachable from this machine, nor from pods
START_DEADLINE_S = 60

# Tests count who wrote and who read what; bodies would fill the disk.
AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""

# The API server calls the kubelet for logs and exec under a name of its own; no built-in binding gives it that right.
KUBELET_ACCESS = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: sandbox-apiserver-to-kubelet}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:kubelet-api-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: kube-apiserver-kubelet-client}]
"""


def start_etcd(layout: Layout, binary: Path) -> None:
    argv: list[str | Path] = [
        binary,
        "etcd",
        "--name=sandbox",
        f"--data-dir={layout.run / 'etcd'}",
        f"--listen-client-urls={ETCD_URL}",
        f"--advertise-client-urls={ETCD_URL}",
        "--listen-peer-urls=http://127.0.0.1:2380",
        "--initial-advertise-peer-urls=http://127.0.0.1:2380",
        "--initial-cluster=sandbox=http://127.0.0.1:2380",
        "--unsafe-no-fsync",  # a sandbox need not survive a power cut, and fsync is most of a write's time
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=10m",
        "--log-level=warn",
    ]
    processes.start(layout, ETCD, argv, netns=NODE_NETNS)


def start_apiserver(layout: Layout, binary: Path) -> None:
    """Start the API server; see `wait_for_apiserver`. It waits for etcd by itself."""
    policy = layout.run / "audit-policy.yaml"
    policy.write_text(AUDIT_POLICY)
    argv: list[str | Path] = [
        binary,
        "kube-apiserver",
        f"--etcd-servers={ETCD_URL}",
        f"--advertise-address={GATEWAY}",
        f"--secure-port={API_PORT}",
        f"--service-cluster-ip-range={SERVICES}",
        f"--tls-cert-file={pki.certificate(layout, 'apiserver')}",
        f"--tls-private-key-file={pki.key(layout, 'apiserver')}",
        f"--client-ca-file={pki.certificate(layout, 'ca')}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki.key(layout, 'service-accounts')}",
        f"--service-account-signing-key-file={pki.key(layout, 'service-accounts')}",
        f"--kubelet-certificate-authority={pki.certificate(layout, 'ca')}",
        f"--kubelet-client-certificate={pki.certificate(layout, 'apiserver-to-kubelet')}",
        f"--kubelet-client-key={pki.key(layout, 'apiserver-to-kubelet')}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--audit-policy-file={policy}",
        f"--audit-log-path={layout.audit_log}",
        "--audit-log-maxsize=500",
        "--audit-log-maxbackup=1",
        "--profiling=false",
    ]
    processes.start(layout, APISERVER, argv, netns=NODE_NETNS)


def stop_apiserver(layout: Layout) -> None:
    """End it in order. It would wait up to a minute for open watches: after 5 s it has done all that matters."""
    processes.stop(layout, APISERVER, deadline_s=5)


def wait_for_apiserver(layout: Layout) -> None:
    """Raises StartFailed when it is not ready within a minute."""
    processes.wait_until(
        layout, "the API server is ready", lambda: is_ready(layout), START_DEADLINE_S, process=APISERVER
    )


def is_ready(layout: Layout) -> bool:
    """Whether the API server answers its readiness question with yes."""
    trust = ssl.create_default_context(cafile=str(pki.certificate(layout, "ca")))
    connection = http.client.HTTPSConnection(str(GATEWAY), API_PORT, timeout=2, context=trust)
    try:
        connection.request("GET", "/readyz")  # open to anyone, by a built-in role
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def allow_kubelet_access(layout: Layout, kubectl: Path) -> None:
    """Let the API server fetch logs and execute commands for the people who may."""
    run([kubectl, f"--kubeconfig={layout.kubeconfig}", "apply", "-f", "-"], text=KUBELET_ACCESS)


def start_controller_manager(layout: Layout, binary: Path) -> None:
    kubeconfig = pki.kubeconfig_of(layout, CONTROLLER_MANAGER)
    argv: list[str | Path] = [
        binary,
        "kube-controller-manager",
        *_as_identity(kubeconfig),
        "--use-service-account-credentials",  # each controller under its own, narrower role
        f"--root-ca-file={pki.certificate(layout, 'ca')}",
        f"--service-account-private-key-file={pki.key(layout, 'service-accounts')}",
    ]
    processes.start_kept(layout, CONTROLLER_MANAGER, argv, netns=NODE_NETNS)


def start_scheduler(layout: Layout, binary: Path) -> None:
    """It ends itself ("Scheduler cache is corrupted") when an outage of the API server made it miss too much."""
    argv: list[str | Path] = [binary, "kube-scheduler", *_as_identity(pki.kubeconfig_of(layout, SCHEDULER))]
    processes.start_kept(layout, SCHEDULER, argv, netns=NODE_NETNS)


def _as_identity(kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        "--leader-elect=false",  # there is one of each; electing would cost a start 15 s after a crash
        "--profiling=false",
    ]
