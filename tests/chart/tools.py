"""Programs that look at the chart: pinned, made or fetched once, and kept in the sandbox's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sandbox.binaries import ensure_go_program, ensure_helm_unittest
from sandbox.layout import Layout

HELM_DOCS = ("github.com/norwoodj/helm-docs/cmd/helm-docs", "1.14.2")
KUBECONFORM = ("github.com/yannh/kubeconform/cmd/kubeconform", "0.8.0")
KUBE_SCORE = ("github.com/zegl/kube-score/cmd/kube-score", "1.20.0")
CHECKOV = "checkov==3.3.30"
SCHEMAS = "kubernetes-validate==1.37.0"
"""Of this package only the data is used: Kubernetes' own schemas, of many versions, in which nothing unknown may be."""

_ABSOLUTE = '"/api/_definitions.json#'
"""How these schemas refer to each other: as if they lay there."""


def run(program: Path, *arguments: str) -> str:
    """What it prints; AssertionError with that where it fails. It sees no cluster."""
    environment = {**os.environ, "KUBECONFIG": os.devnull}
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def go_program(package: str, version: str) -> Path:
    return ensure_go_program(Layout.from_environment(), package, version)


def helm_unittest() -> Path:
    return ensure_helm_unittest(Layout.from_environment())


def schemas(kubernetes: str) -> str:
    """Where kubeconform finds the schemas of a version such as 1.36.0."""
    environment = _environment(SCHEMAS, "--no-deps")
    folder = environment / kubernetes
    if not folder.exists():
        (source,) = environment.glob(f"lib/python*/**/v{kubernetes}-local-strict")
        with tempfile.TemporaryDirectory(dir=environment) as making:
            for schema in source.iterdir():
                text = schema.read_text(encoding="utf-8").replace(_ABSOLUTE, f'"file://{folder}/_definitions.json#')
                (Path(making) / schema.name).write_text(text, encoding="utf-8")
            shutil.copytree(making, folder)
    return f"{folder}/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"


def checkov() -> Path:
    return _environment(CHECKOV) / "bin" / "checkov"


def _environment(package: str, *options: str) -> Path:
    """A virtual environment with that package, apart from ours: checkov wants other versions of what we use."""
    folder = Layout.from_environment().cache / "checkers" / package
    done = folder / "installed"
    if not done.exists():
        run(Path(sys.executable), "-m", "venv", "--clear", str(folder))
        run(folder / "bin" / "pip", "install", "--quiet", *options, package)
        done.touch()
    return folder
