"""The node: a process that holds its namespaces, containerd, the kubelet and kube-proxy.

They live in mount and process namespaces of their own (see `k8s/node.go`): ending the first process ends the others and
every pod, and takes their mounts with it, whatever state they were in.
"""

from __future__ import annotations

import json
from pathlib import Path

from sandbox import containerd, pki, processes
from sandbox.binaries import Binaries
from sandbox.commands import run
from sandbox.control_groups import weigh_pods
from sandbox.layout import API_SERVICE, GATEWAY, NODE_NAME, NODE_NETNS, Layout

NODE, KUBELET, KUBE_PROXY = "node", "kubelet", "kube-proxy"

START_DEADLINE_S = 60

# Paths that the kubelet and the network plugins have built in. The node sees folders of the run folder there.
HARD_CODED = {"var-log-containers": Path("/var/log/containers"), "var-lib-cni": Path("/var/lib/cni")}


def start_node(layout: Layout, binaries: Binaries) -> None:
    """Start the process that holds the node's namespaces; everything else of the node starts inside of it."""
    binds = []
    for name, target in HARD_CODED.items():
        source = layout.run / name
        source.mkdir(parents=True, exist_ok=True)
        target.mkdir(parents=True, exist_ok=True)
        binds.append(f"{source}:{target}")
    unshare = ["unshare", "--mount", "--propagation", "slave", "--pid", "--fork", "--kill-child=KILL"]
    processes.start(layout, "node-holder", [*unshare, binaries.kubernetes, "node-init", *binds], netns=NODE_NETNS)
    processes.wait_until(  # most of it the loading of a big program, from a disk that may be slow
        layout, "the node's namespaces are made", lambda: _adopt_init(layout), START_DEADLINE_S, process="node-holder"
    )


def start_runtime(layout: Layout, binaries: Binaries) -> None:
    """Start containerd, with no memory of containers that an earlier run left."""
    weigh_pods()
    containerd.start_containerd(layout, binaries, inside=NODE)
    if containerd.forget_containers(layout, binaries):
        processes.stop(layout, containerd.CONTAINERD)
        containerd.start_containerd(layout, binaries, inside=NODE)


def start_kubelet(layout: Layout, binaries: Binaries) -> None:
    config = layout.run / "kubelet.json"
    config.write_text(json.dumps(_kubelet_config(layout), indent=2))
    argv: list[str | Path] = [
        binaries.kubernetes,
        "kubelet",
        f"--config={config}",
        f"--kubeconfig={pki.kubeconfig_of(layout, KUBELET)}",
        f"--root-dir={layout.run / 'kubelet'}",
        f"--cert-dir={layout.run / 'kubelet' / 'pki'}",
        f"--hostname-override={NODE_NAME}",
        f"--node-ip={GATEWAY}",
    ]
    processes.start_inside(layout, KUBELET, argv, of=NODE)


def start_kube_proxy(layout: Layout, binaries: Binaries) -> None:
    config = layout.run / "kube-proxy.json"
    config.write_text(json.dumps(_kube_proxy_config(layout), indent=2))
    argv: list[str | Path] = [
        binaries.kubernetes,
        "kube-proxy",
        f"--config={config}",
        f"--hostname-override={NODE_NAME}",
    ]
    processes.start_inside(layout, KUBE_PROXY, argv, of=NODE)


def wait_until_ready(layout: Layout, kubectl: Path) -> None:
    """Wait until the node says Ready and pods would get their service account. Raises StartFailed."""
    processes.wait_until(
        layout, "the node is Ready", lambda: is_ready(layout, kubectl), START_DEADLINE_S, process=KUBELET, poll_s=0.2
    )
    processes.wait_until(
        layout,
        "the default service account exists",
        lambda: _kubectl(layout, kubectl, "get", "serviceaccount", "default", "--namespace=default") is not None,
        START_DEADLINE_S,
        process="kube-controller-manager",
        poll_s=0.2,
    )
    processes.wait_until(
        layout,
        "kube-proxy has written the API server's service",
        _services_are_written,
        START_DEADLINE_S,
        process=KUBE_PROXY,
        poll_s=0.2,
    )


def is_ready(layout: Layout, kubectl: Path) -> bool:
    """Whether the API server says that the node is Ready."""
    path = '{.status.conditions[?(@.type=="Ready")].status}'
    return _kubectl(layout, kubectl, "get", "node", NODE_NAME, f"--output=jsonpath={path}") == "True"


def _adopt_init(layout: Layout) -> bool:
    """Record the first process of the node, the child of `unshare`; false until it has made its mounts."""
    holder = processes.find(layout, "node-holder")
    if holder is None or "node-init: ready" not in processes.log_tail(layout, "node-holder", 1):
        return False
    children = Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()
    processes.record(layout, NODE, int(children[0]))
    return True


def _services_are_written() -> bool:
    rules = run(["nsenter", f"--net=/run/netns/{NODE_NETNS}", "iptables-save", "-t", "nat"], check=False).stdout
    return f"-d {API_SERVICE}/32" in rules


def _kubectl(layout: Layout, kubectl: Path, *words: str) -> str | None:
    """The command's output, or None when it failed."""
    done = run([kubectl, f"--kubeconfig={layout.kubeconfig}", "--request-timeout=5s", *words], check=False)
    return done.stdout if done.returncode == 0 else None


def _kubelet_config(layout: Layout) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": str(GATEWAY),
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(pki.certificate(layout, "ca"))},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(pki.certificate(layout, "kubelet-server")),
        "tlsPrivateKeyFile": str(pki.key(layout, "kubelet-server")),
        "containerRuntimeEndpoint": f"unix://{layout.containerd_socket}",
        "podLogsDir": str(layout.pod_logs),
        "volumePluginDir": str(layout.run / "volume-plugins"),
        # Nothing listens there: whoever asks for a name is told so at once instead of waiting for an answer.
        "clusterDNS": [str(GATEWAY)],
        "clusterDomain": "cluster.local",
        # What machines like a container or a small VM have: cgroup v1, no systemd, swap, no right to move cgroups.
        "failCgroupV1": False,
        "failSwapOn": False,
        "cgroupDriver": "cgroupfs",
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        "localStorageCapacityIsolation": False,
        # Images cannot be pulled again, so none may ever be collected; and a nearly full disk is no reason to evict.
        "imageGCHighThresholdPercent": 100,
        "imageMaximumGCAge": "0s",
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "serializeImagePulls": False,
        "maxPods": 500,
        "registerNode": True,
        "shutdownGracePeriod": "0s",
    }


def _kube_proxy_config(layout: Layout) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": str(pki.kubeconfig_of(layout, KUBE_PROXY))},
        "mode": "iptables",
        "bindAddress": "127.0.0.1",
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        # Services' pods sit on the caller's own bridge: their answers would go past the node's address translation.
        "iptables": {"masqueradeAll": True, "minSyncPeriod": "0s"},
        # These limits belong to the whole machine, not to the node's namespace: leave them alone.
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        "nodePortAddresses": [f"{GATEWAY}/32"],
    }
