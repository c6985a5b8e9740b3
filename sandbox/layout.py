"""Where everything of the sandbox lives: its folders, its addresses, and the record of what is up.

Two folders: the cache (what is slow to make; survives `down`) and the run folder (all that one `up` makes; `down`
removes it). The addresses are private to the sandbox's own network namespaces (see `network`), so they only have to
differ from the machine's other networks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from sandbox.errors import SandboxError

CACHE_VARIABLE = "SLACKWATER_SANDBOX_CACHE"
RUN_VARIABLE = "SLACKWATER_SANDBOX_RUN"
USUAL_RUN = Path("/run/slackwater-sandbox")

BRIDGE = "slackwater0"
NODE_NETNS = "slackwater-node"
NETWORK = IPv4Network("10.203.0.0/16")
GATEWAY = IPv4Address("10.203.0.1")  # the node: API server, kubelet, the bridge itself
HOST = IPv4Address("10.203.0.2")  # this machine, as pods and brokers see it
FIRST_BROKER = IPv4Address("10.203.0.11")
POD_RANGE = (IPv4Address("10.203.1.1"), IPv4Address("10.203.9.254"))
SERVICES = IPv4Network("10.204.0.0/16")
API_SERVICE = IPv4Address("10.204.0.1")

API_PORT = 6443
BROKER_PORT = 9092
NODE_NAME = "slackwater"


@dataclass(frozen=True, slots=True)
class Layout:
    """The sandbox's folders. Every path below is derived from these two."""

    cache: Path
    run: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Layout:
        """Read both folders from the environment, or take their usual places."""
        home = Path(environment.get("HOME", "/root"))
        return cls(
            cache=Path(environment.get(CACHE_VARIABLE) or home / ".cache" / "slackwater-sandbox").absolute(),
            run=Path(environment.get(RUN_VARIABLE) or USUAL_RUN).absolute(),
        )

    @property
    def binaries(self) -> Path:
        """Programs that were built here."""
        return self.cache / "bin"

    @property
    def images(self) -> Path:
        """Container images as docker archives."""
        return self.cache / "images"

    @property
    def pids(self) -> Path:
        return self.run / "pids"

    @property
    def logs(self) -> Path:
        return self.run / "logs"

    @property
    def pod_logs(self) -> Path:
        """A folder for each pod that is there, named `<namespace>_<pod>_<uid>`."""
        return self.run / "pod-logs"

    @property
    def pki(self) -> Path:
        return self.run / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The person's: cluster-admin."""
        return self.run / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        """One JSON event a line for each write and read that the API server served, with the user's name."""
        return self.run / "audit.log"

    @property
    def containerd_root(self) -> Path:
        """Image layers. In the cache: unpacking them is slow, and the run folder is often in memory."""
        return self.cache / "containerd"

    @property
    def containerd_state(self) -> Path:
        return self.run / "containerd"

    @property
    def containerd_socket(self) -> Path:
        return self.containerd_state / "containerd.sock"

    @property
    def state_file(self) -> Path:
        return self.run / "state.json"

    @property
    def marker(self) -> Path:
        """Says that a run folder is the sandbox's, to be removed with all that is in it."""
        return self.run / ".slackwater-sandbox"

    @property
    def is_ours(self) -> bool:
        """Whether the run folder is there and the sandbox's: by its marker, or by its name where that is the usual."""
        return self.marker.exists() or (self.run == USUAL_RUN and self.run.is_dir())

    def make(self) -> None:
        """Create the folders that every part of the sandbox expects.

        Raises SandboxError when the run folder holds something else, because `down` removes all that is in it.
        """
        if self.run.is_dir() and any(self.run.iterdir()) and not self.is_ours:
            raise SandboxError(
                f"The folder {self.run} is not empty, and was not made by the sandbox.",
                todo=f"Choose a new one: {RUN_VARIABLE}=/path/to/folder",
            )
        for folder in (self.cache, self.binaries, self.images, self.run, self.pids, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        self.marker.touch()
        self.run.chmod(0o711)
        self.pids.chmod(0o700)


def broker_address(number: int) -> IPv4Address:
    """The address of broker `number`, counted from 1."""
    return FIRST_BROKER + (number - 1)


def read_state(layout: Layout) -> dict[str, object]:
    """What is up, as last written; empty when nothing is (or the record is unreadable after a crash)."""
    try:
        state = json.loads(layout.state_file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return state if isinstance(state, dict) else {}


def update_state(layout: Layout, **changes: object) -> None:
    """Merge `changes` into the record; a value of None removes its key."""
    state = {**read_state(layout), **changes}
    kept = {key: value for key, value in state.items() if value is not None}
    layout.state_file.parent.mkdir(parents=True, exist_ok=True)
    fresh = layout.state_file.with_suffix(".new")
    fresh.write_text(json.dumps(kept, indent=2) + "\n")
    fresh.replace(layout.state_file)
