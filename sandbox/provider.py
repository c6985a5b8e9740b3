"""Whose cluster and whose brokers: the person's own where given, kind where Docker is there, else the sandbox's own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox.commands import run
from sandbox.errors import SandboxError
from sandbox.layout import Layout

KUBECONFIG_VARIABLES = ("SLACKWATER_SANDBOX_KUBECONFIG", "KUBECONFIG")
BOOTSTRAP_VARIABLE = "SLACKWATER_BOOTSTRAP_SERVERS"


class ClusterProvider(StrEnum):
    """Where the Kubernetes comes from."""

    GIVEN = "given"
    KIND = "kind"
    OWN = "own"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Choice:
    """What `up` will use. `kubeconfig` and `bootstrap_servers` are set only where the person gave them."""

    cluster: ClusterProvider
    kubeconfig: Path | None
    bootstrap_servers: str | None


def choose(layout: Layout, environment: Mapping[str, str], *, with_cluster: bool) -> Choice:
    """Look at the environment and at this machine. Raises SandboxError when a given kubeconfig is not there."""
    bootstrap_servers = environment.get(BOOTSTRAP_VARIABLE) or None
    if not with_cluster:
        return Choice(ClusterProvider.NONE, None, bootstrap_servers)
    given = _given_kubeconfig(layout, environment)
    if given is not None:
        return Choice(ClusterProvider.GIVEN, given, bootstrap_servers)
    provider = ClusterProvider.KIND if kind_is_there() else ClusterProvider.OWN
    return Choice(provider, None, bootstrap_servers)


def kind_is_there() -> bool:
    """Whether kind is on the PATH and a Docker daemon answers."""
    if shutil.which("kind") is None or shutil.which("docker") is None:
        return False
    return run(["docker", "version", "--format", "{{.Server.Version}}"], check=False).returncode == 0


def _given_kubeconfig(layout: Layout, environment: Mapping[str, str]) -> Path | None:
    """The person's kubeconfig; the sandbox's own, exported from an earlier `up`, does not count."""
    for variable in KUBECONFIG_VARIABLES:
        # KUBECONFIG may list several files; kubectl merges them, and the first one that is there serves us.
        paths = [Path(word) for word in environment.get(variable, "").split(":") if word]
        if not paths or paths == [layout.kubeconfig]:
            continue
        found = next((path for path in paths if path.is_file()), None)
        if found is None:
            raise SandboxError(
                f"{variable} names {paths[0]}, and there is no such file.",
                todo=f"Correct it, or unset it to get the sandbox's own cluster: unset {variable}",
            )
        return found
    return None
