"""Build the sandbox's programs from source, once, into the cache.

Each lands in a folder named by a hash of all that it is built from, so a changed version or source is built again
and an unchanged one is found at once. Go verifies every module against `go.sum` or the public checksum database.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox import toolchain
from sandbox.commands import run
from sandbox.console import step
from sandbox.errors import CommandFailed, SandboxError
from sandbox.layout import Layout
from sandbox.packages import unpack

KUBERNETES_VERSION = "1.36.3"
CONTAINERD_VERSION = "2.4.2"

GO_SOURCE = Path(__file__).parent / "k8s"
"""One module for Kubernetes, helm and its test runner: what they share is compiled once."""
HELM = "helm.sh/helm/v4/cmd/helm"
HELM_UNITTEST = "github.com/helm-unittest/helm-unittest/cmd/helm-unittest"
_COMPILED = ("-trimpath", "-gcflags=all=-dwarf=false")
"""Nobody debugs these programs, and what a debugger wants is a sixth of the compiler's work."""
_COMPILER = {"GOGC": "off", "GOMEMLIMIT": "2GiB"}
"""A compiler process lives for seconds: it collects its garbage only when it grows large. Saves another tenth."""
BUILD_DEADLINE_S = 3600


@dataclass(frozen=True, slots=True)
class Binaries:
    """Where the built programs are."""

    kubernetes: Path  # one binary, a sub-command for each component
    containerd: Path
    ctr: Path
    shims: Path  # a folder for the PATH
    helm: Path


def ensure_binaries(layout: Layout) -> Binaries:
    """Build what is missing. Raises SandboxError with the compiler's last words when a build fails."""
    kubernetes, containerd = ensure_kubernetes(layout), _ensure_containerd(layout)
    return Binaries(
        kubernetes=kubernetes,
        containerd=containerd / "containerd",
        ctr=containerd / "ctr",
        shims=containerd,
        helm=ensure_helm(layout),
    )


def ensure_kubernetes(layout: Layout) -> Path:
    """The binary with etcd and all Kubernetes components: 135 MB, about 5 minutes on 2 cores the first time."""
    version = f"v{KUBERNETES_VERSION}"
    major, minor, _ = KUBERNETES_VERSION.split(".")
    stamp = "k8s.io/component-base/version"
    flags = f"-X {stamp}.gitVersion={version} -X {stamp}.gitMajor={major} -X {stamp}.gitMinor={minor}"
    what = f"Kubernetes {version} and etcd"
    return _ensure(layout, "kubernetes", (".",), what, "about 5 minutes on 2 cores", flags) / "k8s"


def ensure_helm(layout: Layout) -> Path:
    """Helm, also linked as `<cache>/bin/helm`."""
    program = _ensure(layout, "helm", (HELM,), "helm", "less than a minute after Kubernetes") / "helm"
    link = layout.binaries / "helm"
    if not link.exists() or link.resolve() != program.resolve():
        link.unlink(missing_ok=True)
        link.symlink_to(program)
    return program


def ensure_promtool(layout: Layout) -> Path:
    """promtool, which tests the alerts. Not part of `ensure_binaries`: nothing that runs in the sandbox needs it.

    Debian's, which is there in seconds; not installed, since then a Prometheus would run on this machine.
    """
    layout.make()
    folder = layout.binaries / "prometheus"
    unpack("prometheus", folder)
    return folder / "usr" / "bin" / "promtool"


def ensure_helm_unittest(layout: Layout) -> Path:
    """The chart's test runner."""
    return _ensure(layout, "helm-unittest", (HELM_UNITTEST,), "helm-unittest", "seconds after helm") / "helm-unittest"


def ensure_go_program(layout: Layout, package: str, version: str) -> Path:
    """A command of a published module, such as those that look at the chart."""
    name = package.rpartition("/")[2]
    return _install(layout, name, version, (package,), "about 1 minute on 2 cores") / name


def _ensure_containerd(layout: Layout) -> Path:
    """By its own module, for it wants a newer Kubernetes' interface for runtimes than this Kubernetes has."""
    module = "github.com/containerd/containerd/v2/cmd"
    packages = tuple(f"{module}/{name}" for name in ("containerd", "containerd-shim-runc-v2", "ctr"))
    return _install(layout, "containerd", CONTAINERD_VERSION, packages, "about 1 minute on 2 cores")


def _ensure(
    layout: Layout, name: str, packages: Sequence[str], what: str, how_long: str, linker_flags: str = ""
) -> Path:
    """A folder with programs of the one module: its own (".") or those of modules that it requires."""
    sources = sorted(path for path in GO_SOURCE.iterdir() if path.suffix in (".go", ".mod", ".sum"))
    flags = f"-s -w {linker_flags}".strip()
    key = _digest(*_COMPILED, flags, *packages, *(path.read_text() for path in sources))
    folder = layout.binaries / f"{name}-{key}"
    if not folder.exists():
        argv = ["build", *_COMPILED, "-ldflags", flags, "-o", "{out}/", *packages]
        _build(layout, folder, argv, what, how_long, GO_SOURCE)
    return folder


def _install(layout: Layout, name: str, version: str, packages: Sequence[str], how_long: str) -> Path:
    """`go install` commands of one published module into a folder of their own, which is returned."""
    folder = layout.binaries / f"{name}-{version}-{_digest(*packages)}"
    if not folder.exists():
        argv = ["install", *_COMPILED, "-ldflags", "-s -w", *(f"{package}@v{version}" for package in packages)]
        _build(layout, folder, argv, f"{name} {version}", how_long, layout.cache)
    return folder


def _build(layout: Layout, folder: Path, argv: Sequence[str], what: str, how_long: str, cwd: Path) -> None:
    """Run Go with `argv` ("{out}" stands for the output folder); the result appears in `folder` whole or not at all."""
    go = toolchain.go(layout)
    layout.make()
    with step(f"Building {what} from source", f"once, then cached; {how_long}"):
        out = Path(tempfile.mkdtemp(prefix="building-", dir=layout.binaries))
        words = [word.replace("{out}", str(out)) for word in argv]
        # Without cgo the programs need no C compiler to build and no C library to run.
        environment = {"CGO_ENABLED": "0", "GOBIN": str(out), "GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"}
        environment |= _COMPILER
        try:
            run(["nice", go, *words], env=environment, cwd=cwd, deadline_s=BUILD_DEADLINE_S)
        except CommandFailed as error:
            shutil.rmtree(out)
            raise SandboxError(
                f"{what} could not be built.",
                log=error.log or (str(error),),
                todo="If modules could not be fetched, check GOPROXY and the network, then run the command again.",
            ) from error
        out.chmod(0o755)
        _put(out, folder)


def _put(out: Path, folder: Path) -> None:
    """Give what was built its name, unless somebody else, from another clone perhaps, has built the same meanwhile."""
    try:
        out.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        shutil.rmtree(out)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
