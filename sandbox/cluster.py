"""Start and stop the sandbox's own Kubernetes: the order of its parts, and what each waits for."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

from sandbox import containerd, control_plane, images, node, packages, pki, processes, toolchain
from sandbox.binaries import KUBERNETES_VERSION, Binaries, ensure_binaries
from sandbox.console import step
from sandbox.errors import MissingPrerequisite
from sandbox.layout import Layout

ANSWERS_WITHIN_S = 20.0
"""An API server that is up but busy is not one to be swept away with all that others play on it."""
PROCESSES = (
    control_plane.ETCD,
    control_plane.APISERVER,
    control_plane.CONTROLLER_MANAGER,
    control_plane.SCHEDULER,
    "node-holder",
    node.NODE,
    containerd.CONTAINERD,
    node.KUBELET,
    node.KUBE_PROXY,
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that has to be on this machine before the cluster can start."""

    binaries: Binaries
    kubectl: Path
    pause_image: Path


def refuse_impossible() -> None:
    """Raise MissingPrerequisite where the sandbox's own cluster cannot run at all."""
    if platform.system() != "Linux":
        raise MissingPrerequisite(
            "The sandbox's own Kubernetes runs on Linux only.",
            todo="Set KUBECONFIG to a cluster of yours, or start Docker and install kind.",
        )
    if os.geteuid() != 0:
        raise MissingPrerequisite(
            "The sandbox needs root: it makes network namespaces, a bridge, mounts and containers.",
            todo="Run it with sudo, or set KUBECONFIG to a cluster of yours, or start Docker and install kind.",
        )


def prepare(layout: Layout) -> Prepared:
    """Install, fetch and build what is missing; everything is cached."""
    packages.ensure_packages(packages.CLUSTER)
    return Prepared(ensure_binaries(layout), toolchain.kubectl(layout), images.ensure_pause_image(layout))


def start(layout: Layout, prepared: Prepared) -> None:
    """Start all parts and wait until the node is Ready. The network must be there. Raises StartFailed."""
    binaries = prepared.binaries
    pki.write_all(layout)
    with step(f"Starting Kubernetes {KUBERNETES_VERSION}: API server"):
        control_plane.start_etcd(layout, binaries.kubernetes)
        control_plane.start_apiserver(layout, binaries.kubernetes)
        # The runtime needs no API server: it starts while that does.
        node.start_node(layout, binaries)
        node.start_runtime(layout, binaries)
        if containerd.PAUSE_IMAGE not in containerd.image_names(layout, binaries):
            containerd.import_image(layout, binaries, prepared.pause_image)
        control_plane.wait_for_apiserver(layout)
    with step("Starting Kubernetes: controllers, scheduler, node"):
        control_plane.start_controller_manager(layout, binaries.kubernetes)
        control_plane.start_scheduler(layout, binaries.kubernetes)
        node.start_kubelet(layout, binaries)
        node.start_kube_proxy(layout, binaries)
        control_plane.allow_kubelet_access(layout, prepared.kubectl)
        node.wait_until_ready(layout, prepared.kubectl)


def restart_apiserver(layout: Layout) -> None:
    """Start the API server again after it was stopped or killed, and wait until it is ready."""
    control_plane.start_apiserver(layout, ensure_binaries(layout).kubernetes)
    control_plane.wait_for_apiserver(layout)


def is_up(layout: Layout) -> bool:
    """Whether every part runs and the API server is ready; on a busy machine it may take a while to say so."""
    if not all(processes.is_running(layout, name) for name in PROCESSES):
        return False
    deadline = time.monotonic() + ANSWERS_WITHIN_S
    while not control_plane.is_ready(layout):
        if time.monotonic() > deadline:
            return False
        time.sleep(processes.POLL_S)
    return True


def stop(layout: Layout) -> None:
    """End all parts: first those that write, then the node with all its pods, then what they wrote to."""
    for name in (node.KUBELET, node.KUBE_PROXY, control_plane.SCHEDULER, control_plane.CONTROLLER_MANAGER):
        processes.stop(layout, name, deadline_s=3)
    processes.stop(layout, containerd.CONTAINERD, deadline_s=3)
    processes.stop(layout, node.NODE, deadline_s=3)
    processes.stop(layout, "node-holder", deadline_s=3)
    control_plane.stop_apiserver(layout)
    processes.stop(layout, control_plane.ETCD, deadline_s=5)
