"""Is a StatefulSet at rest that is to be adopted? What a ConsumerGroup before left may not be. Pure, as `refusals`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from slackwater.cli.adopting.steps import Standing, names_of_pods, revision_of
from slackwater.cli.errors import CannotBeAdopted
from slackwater.core.world.two_sets import other_name
from slackwater.core.world.workload import Workload

Json = Mapping[str, Any]

_UNHELD: Final[Json] = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}}


def check_at_rest(standing: Standing) -> None:
    """Before anything is written: every pod runs the newest version, and is Ready."""
    status, replicas = standing.workload["status"], standing.workload["spec"]["replicas"]
    if outdated := _kept_as_they_are(standing):
        undo = f"kubectl rollout undo statefulset/{standing.name} -n {standing.group['metadata']['namespace']}"
        raise CannotBeAdopted(
            f"StatefulSet {standing.name} was left in the middle of a rollout: {names_of_pods(outdated)} are of an"
            " earlier revision than its newest, and it replaces none of them by itself. Have it do so, which goes"
            f" without gates: {_patched(standing, _UNHELD)}. Where the newest had failed, first {undo}. Then adopt it"
        )
    observed = status.get("observedGeneration", 0) >= standing.workload["metadata"]["generation"]
    if not observed or not standing.relabelled or status.get("readyReplicas", 0) != replicas:
        raise CannotBeAdopted(
            f"StatefulSet {standing.name} is being rolled out, or a pod is not Ready: let that end, then adopt it"
        )


def _kept_as_they_are(standing: Standing) -> list[Json]:
    """Pods of an earlier revision that the StatefulSet's update strategy will not replace."""
    strategy = standing.workload["spec"].get("updateStrategy") or {}
    held = float((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    held = float("inf") if strategy.get("type") == "OnDelete" else held
    outdated = [pod for pod in standing.pods if revision_of(pod) != standing.revision]
    return [pod for pod in outdated if int(pod["metadata"]["name"].rpartition("-")[2]) < held]


def check_alone(standing: Standing, others: Iterable[Workload]) -> None:
    """A warm handover has two. `others`: StatefulSets under the group's names that have its label."""
    name = standing.name
    beside = next((each for each in others if each.name == other_name(name, name)), None)
    if beside is not None:
        whole = {"replicas": standing.group["spec"].get("replicas", 1), "ordinals": {"start": 0}}
        raise CannotBeAdopted(
            f"StatefulSet {beside.name} is there beside {name}: a handover between them had not ended when their"
            f" ConsumerGroup was deleted, and one of them is to have all pods. Delete {beside.name}; when its pods have"
            f" ended, {_patched(standing, whole)}; when all are Ready, adopt {name}"
        )


def _patched(standing: Standing, spec: Json) -> str:
    namespace = standing.group["metadata"]["namespace"]
    patch = json.dumps({"spec": spec}, separators=(",", ":"))
    return f"kubectl patch statefulset {standing.name} -n {namespace} --type=merge -p '{patch}'"
