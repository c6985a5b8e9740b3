"""The Debian packages that the sandbox needs, installed where apt is there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.commands import run
from sandbox.console import step
from sandbox.errors import CommandFailed, MissingPrerequisite

# Debian puts the network plugins in the first, most other distributions and the upstream archive in the second.
CNI_FOLDERS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))
INSTALL_DEADLINE_S = 900


@dataclass(frozen=True, slots=True)
class Package:
    """A Debian package, a program that proves it is there, and what the sandbox wants it for."""

    name: str
    program: str
    why: str


NETWORK = (
    Package("iproute2", "ip", "network namespaces and the bridge"),
    Package("util-linux", "nsenter", "entering them"),
)
CLUSTER = (
    *NETWORK,
    Package("runc", "runc", "starts containers"),
    Package("containernetworking-plugins", "bridge", "connects pods to the bridge"),
    Package("iptables", "iptables", "kube-proxy's rules for services, in the node's own namespace"),
    Package("mount", "mount", "the kubelet mounts volumes"),
)
IMAGES = (
    Package("buildah", "buildah", "builds the images"),
    Package("debootstrap", "debootstrap", "makes the root file system they start from"),
)
MAVEN = (Package("maven", "mvn", "fetches jars"),)


def ensure_packages(packages: Sequence[Package]) -> None:
    """Install those that are missing. Raises MissingPrerequisite where that cannot be done."""
    missing = [package for package in packages if not is_there(package)]
    if not missing:
        return
    listed = ", ".join(f"{package.name} ({package.why})" for package in missing)
    names = [package.name for package in missing]
    if shutil.which("apt-get") is None:
        raise MissingPrerequisite(
            f"The sandbox needs {listed}, and there is no apt here to install it with.",
            todo="Install the equivalent packages of this system, then run the command again.",
        )
    if os.geteuid() != 0:
        raise MissingPrerequisite(
            f"The sandbox needs {listed}.", todo=f"Install it as root: apt-get install {' '.join(names)}"
        )
    with step(f"Installing with apt: {', '.join(names)}", "; ".join(package.why for package in missing)):
        _install(names)
    still = [package.name for package in missing if not is_there(package)]
    if still:
        raise MissingPrerequisite(f"apt installed {', '.join(still)}, but the expected program is not there.")


def unpack(name: str, folder: Path) -> None:
    """What the package brings, in `folder`, whole or not at all; nothing is installed. Raises MissingPrerequisite."""
    if folder.exists():
        return
    with (
        step(f"Fetching {name} from Debian", "once, then cached"),
        tempfile.TemporaryDirectory(dir=folder.parent) as out,
    ):
        _apt(["apt-get", "download", name], name, Path(out))
        (package,) = Path(out).glob("*.deb")
        run(["dpkg-deb", "--extract", str(package), f"{out}/unpacked"], deadline_s=INSTALL_DEADLINE_S)
        Path(out, "unpacked").replace(folder)


def is_there(package: Package) -> bool:
    """Whether the program that the package brings is on this machine."""
    if package.name == "containernetworking-plugins":
        return cni_folder() is not None
    return shutil.which(package.program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is not None


def cni_folder() -> Path | None:
    """The folder with the network plugins that the sandbox uses, if there is one."""
    wanted = ("bridge", "host-local", "loopback")
    return next((folder for folder in CNI_FOLDERS if all((folder / name).exists() for name in wanted)), None)


def _install(names: Sequence[str]) -> None:
    _apt(
        ["apt-get", "install", "--yes", "-o", "DPkg::Lock::Timeout=600", "--no-install-recommends", *names],
        ", ".join(names),
    )


def _apt(argv: Sequence[str], what: str, cwd: Path | None = None) -> None:
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    if run(argv, env=environment, cwd=cwd, check=False, deadline_s=INSTALL_DEADLINE_S).returncode == 0:
        return
    # A fresh machine has no package lists yet.
    try:
        run(["apt-get", "update"], env=environment, deadline_s=INSTALL_DEADLINE_S)
        run(argv, env=environment, cwd=cwd, deadline_s=INSTALL_DEADLINE_S)
    except CommandFailed as error:
        raise MissingPrerequisite(
            f"apt could not fetch {what}.",
            log=error.log,
            todo=f"Try it by hand, then run the command again: {' '.join(argv)}",
        ) from error
