"""kubectl as a person uses it, in one namespace."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.api.manifests import Manifest


class Refused(AssertionError):
    """kubectl exited with an error; the text is what it printed."""


@dataclass(frozen=True, slots=True)
class Kubectl:
    kubeconfig: Path
    namespace: str

    def run(self, *arguments: str, given: str = "") -> str:
        """Run kubectl with `given` as its input, and return what it prints; Refused when it fails."""
        command = ["kubectl", f"--kubeconfig={self.kubeconfig}", f"--namespace={self.namespace}", *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise Refused(done.stderr)
        return done.stdout

    def apply(self, manifest: Manifest, *options: str) -> str:
        return self.run("apply", "-f", "-", *options, given=json.dumps(manifest))

    def read(self, kind: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("get", kind, name, "-o", "json"))
        return found
