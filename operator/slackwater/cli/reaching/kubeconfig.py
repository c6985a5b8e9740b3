"""The kubeconfig, as far as a person can get it wrong: which files, which context, which namespace it stands in.

The kubernetes package reads the rest, and says little of what is wrong with it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import yaml

from slackwater.adapters.cluster.credentials import is_from_a_pod
from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.core.decision.words import listing

_OWN_NAMESPACE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """All contexts of all files."""

    where: str
    contexts: Mapping[str, Mapping[str, Any]]
    clusters: frozenset[str]
    users: frozenset[str]
    current: str

    def context(self, name: str | None) -> Mapping[str, Any]:
        """The context called `name`, or the current one. Raises ClusterRefused."""
        chosen = name or self.current
        if not chosen:
            raise ClusterRefused(f"{self.where} has no current-context: choose one with --context ({self._there()})")
        if chosen not in self.contexts:
            close = get_close_matches(chosen, self.contexts, n=1)
            hint = f"did you mean {close[0]}?" if close else self._there()
            raise ClusterRefused(f"there is no context {chosen} in {self.where}: {hint}")
        context = self.contexts[chosen]
        for what, there in (("cluster", self.clusters), ("user", self.users)):
            if (named := context.get(what)) and named not in there:
                message = f"context {chosen} names {what} {named}, which is not in {self.where}"
                raise ClusterRefused(f"{message}: correct it, or use another --context")
        return context

    def _there(self) -> str:
        return f"there are {listing(sorted(self.contexts))}" if self.contexts else "there is none at all"


def namespace_of(context: str | None) -> str:
    """The namespace that the context stands in; `default` where it names none. Raises ClusterRefused."""
    if is_from_a_pod(context):
        return _OWN_NAMESPACE.read_text().strip() if _OWN_NAMESPACE.is_file() else "default"
    return str(read_kubeconfig().context(context).get("namespace") or "default")


def read_kubeconfig() -> Kubeconfig:
    """From the files in KUBECONFIG, or from the usual place. Raises ClusterRefused."""
    named = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    paths = [Path(path).expanduser() for path in named.split(os.pathsep) if path]
    found = [path for path in paths if path.exists()]
    if not found:
        message = f"no Kubernetes cluster is configured, for there is no file {named}: set KUBECONFIG to your cluster's"
        raise ClusterRefused(message)
    contexts: dict[str, Mapping[str, Any]] = {}
    clusters, users = set[str](), set[str]()
    current = ""
    for path in found:
        document = _read(path)
        for item in document.get("contexts") or ():
            contexts.setdefault(str(item["name"]), item.get("context") or {})
        clusters |= _names(document, "clusters")
        users |= _names(document, "users")
        current = str(document.get("current-context") or current)
    return Kubeconfig(named, contexts, frozenset(clusters), frozenset(users), current)


def _names(document: Mapping[str, Any], part: str) -> set[str]:
    return {str(item["name"]) for item in document.get(part) or () if isinstance(item, Mapping) and "name" in item}


def _read(path: Path) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        raise ClusterRefused(f"the kubeconfig {path} is not YAML{where}: correct it, or set KUBECONFIG") from error
    except UnicodeDecodeError as error:
        raise ClusterRefused(f"the kubeconfig {path} is not text: set KUBECONFIG to another") from error
    except OSError as error:
        why = error.strerror or error
        raise ClusterRefused(f"the kubeconfig {path} cannot be read ({why}): set KUBECONFIG to another") from error
    contexts = document.get("contexts") if isinstance(document, Mapping) else None
    if not isinstance(contexts, list) or not all(isinstance(item, Mapping) and "name" in item for item in contexts):
        raise ClusterRefused(f"{path} is no kubeconfig, for it lists no contexts: set KUBECONFIG to your cluster's")
    checked: Mapping[str, Any] = document
    return checked
