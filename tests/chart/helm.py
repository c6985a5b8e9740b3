"""Helm as a person uses it, on the chart of this repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sandbox.binaries import ensure_helm
from sandbox.layout import Layout

CHART = Path(__file__).parents[2] / "charts" / "slackwater"
RELEASE = "slackwater"
NAMESPACE = "operations"

Manifest = dict[str, Any]


class Refused(AssertionError):
    """Helm exited with an error; the text is what it printed."""


def helm(*arguments: str, kubeconfig: Path | None = None) -> str:
    """Run Helm and return what it prints; Refused when it fails. Without `kubeconfig` it sees no cluster."""
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig or os.devnull)}
    done = subprocess.run(
        [program(), *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode:
        raise Refused(done.stderr)
    return done.stdout


def render(**values: str) -> list[Manifest]:
    """All that the chart makes with these values; a dot in a value's name is written as two underscores."""
    text = helm("template", RELEASE, str(CHART), f"--namespace={NAMESPACE}", *settings(values))
    return [manifest for manifest in yaml.load_all(text, Loader=yaml.CSafeLoader) if manifest]


def settings(values: Mapping[str, str]) -> list[str]:
    return [f"--set={name.replace('__', '.')}={value}" for name, value in values.items()]


def only(manifests: list[Manifest], kind: str, name: str = "") -> Manifest:
    """The one manifest of that kind, or of that kind and name."""
    found = [each for each in manifests if each["kind"] == kind and name in ("", each["metadata"]["name"])]
    assert len(found) == 1, f"{kind} is there {len(found)} times"
    return found[0]


@cache
def program() -> Path:
    """HELM, the one on the PATH, or the one that the sandbox builds."""
    given = os.environ.get("HELM") or shutil.which("helm")
    return Path(given) if given else ensure_helm(Layout.from_environment())
