"""The node's container runtime: containerd with runc, and the pods' network by the standard bridge plugin."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from sandbox import processes, readiness
from sandbox.binaries import Binaries
from sandbox.commands import run
from sandbox.errors import MissingPrerequisite, SandboxError
from sandbox.layout import BRIDGE, GATEWAY, NETWORK, POD_RANGE, Layout
from sandbox.packages import cni_folder

CONTAINERD = "containerd"
NAMESPACE = "k8s.io"  # where the kubelet's images and containers are
NETWORK_NAME = "slackwater"
PAUSE_IMAGE = "slackwater.dev/pause:1"
START_DEADLINE_S = 60
IMPORT_DEADLINE_S = 300


def start_containerd(layout: Layout, binaries: Binaries, *, inside: str) -> None:
    """Start containerd in the namespaces of the process `inside`, and wait until all of it is ready.

    Its socket answers `ctr` a moment before the part that the kubelet talks to does, and the kubelet gives up at once.
    """
    plugins = cni_folder()
    if plugins is None:
        raise MissingPrerequisite(
            "The network plugins bridge, host-local and loopback are not on this machine.",
            todo="Install the package containernetworking-plugins.",
        )
    config = layout.run / "containerd.toml"
    config.write_text(_config(layout, plugins))
    (layout.run / "cni").mkdir(exist_ok=True)
    (layout.run / "cni" / "10-slackwater.conflist").write_text(json.dumps(_pod_network(layout), indent=2))
    # Shims and runc are found on the PATH.
    path = f"{binaries.shims}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    argv: list[str | Path] = [binaries.containerd, f"--config={config}"]
    told = layout.run / "containerd.ready"
    with readiness.told_at(told) as is_ready:
        env = {"PATH": path, readiness.VARIABLE: str(told)}
        processes.start_inside(layout, CONTAINERD, argv, of=inside, env=env)
        processes.wait_until(layout, "containerd is ready", is_ready, START_DEADLINE_S, process=CONTAINERD)


def import_image(layout: Layout, binaries: Binaries, archive: Path) -> None:
    """Load a docker archive into the node. Raises CommandFailed."""
    # `--local` imports through the client's own code, which knows docker archives of buildah's kind.
    _ctr(layout, binaries, "images", "import", "--local", str(archive), deadline_s=IMPORT_DEADLINE_S)


def image_names(layout: Layout, binaries: Binaries) -> set[str]:
    """The names of all images in the node."""
    return set(_ctr(layout, binaries, "images", "ls", "--quiet").split())


def forget_containers(layout: Layout, binaries: Binaries) -> bool:
    """Remove the containers that an earlier run left in containerd's books; true when there were any.

    Their processes are gone already. containerd must be started again afterwards: its Kubernetes side has read them.
    """
    containers = _ctr(layout, binaries, "containers", "ls", "--quiet").split()
    for container in containers:
        _ctr(layout, binaries, "containers", "rm", container)
    return bool(containers)


def _ctr(layout: Layout, binaries: Binaries, *words: str, deadline_s: float = 60) -> str:
    if not layout.containerd_socket.exists():
        raise SandboxError("The node's containerd is not up.", todo="Start it: sandbox up")
    argv: list[str | Path] = [binaries.ctr, "--address", layout.containerd_socket, "--namespace", NAMESPACE, *words]
    return run(argv, deadline_s=deadline_s).stdout


def _config(layout: Layout, plugins: Path) -> str:
    """containerd's configuration: everything in the sandbox's own folders."""
    runc = shutil.which("runc") or "/usr/sbin/runc"
    return f"""\
version = 3
root = "{layout.containerd_root}"
state = "{layout.containerd_state}"
imports = []

[grpc]
address = "{layout.containerd_socket}"

[plugins."io.containerd.cri.v1.images"]
snapshotter = "overlayfs"

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "{PAUSE_IMAGE}"

[plugins."io.containerd.cri.v1.runtime"]
# Without it no pod starts where this machine may not lower oom_score_adj (in a container, for example).
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
cdi_spec_dirs = []

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = "{runc}"
Root = "{layout.run / "runc"}"
SystemdCgroup = false

[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["{plugins}"]
conf_dir = "{layout.run / "cni"}"

[plugins."io.containerd.nri.v1.nri"]
disable = true

[plugins."io.containerd.internal.v1.opt"]
path = "{layout.run / "opt"}"

[plugins."io.containerd.shim.v1.manager"]
socket_dir = "{layout.run / "shims"}"
"""


def _pod_network(layout: Layout) -> dict[str, object]:
    """Pods get addresses of the bridge's own network: they and the brokers reach each other without any routing."""
    first, last = POD_RANGE
    addresses = {
        "subnet": str(NETWORK),
        "rangeStart": str(first),
        "rangeEnd": str(last),
        "gateway": str(GATEWAY),
    }
    bridge = {
        "type": "bridge",
        "bridge": BRIDGE,
        "isGateway": True,
        "ipMasq": False,
        "ipam": {
            "type": "host-local",
            "ranges": [[addresses]],
            "routes": [{"dst": "0.0.0.0/0"}],
            "dataDir": str(layout.run / "pod-addresses"),
        },
    }
    return {"cniVersion": "1.0.0", "name": NETWORK_NAME, "plugins": [bridge]}
