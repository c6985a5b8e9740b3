"""From the Kubernetes API's objects to the core's values. Pure; what an object leaves out gets the safe reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Final

from slackwater.adapters.cluster.managed_fields import writer_of_replicas
from slackwater.adapters.cluster.runs import STARTED
from slackwater.api.annotations import GROUP_LABEL, REJOINED, TEMPLATE_HASH
from slackwater.api.kept import unpacked
from slackwater.api.timestamps import moment
from slackwater.core.decision.words import shown
from slackwater.core.world.identity import number_in
from slackwater.core.world.pods import NotMade, Pod, Sidecar
from slackwater.core.world.profile import profile_in
from slackwater.core.world.two_sets import names_of
from slackwater.core.world.workload import UpdateStrategy, Workload

Json = Mapping[str, Any]

ReadPod = Callable[[Json, str, str, int, Mapping[str, float]], Pod]
"""An object, the container that runs its consumer, its StatefulSet, its ordinal, and when containers were told of."""

REVISION_LABEL = "controller-revision-hash"
LONGEST_SAYING: Final = 1_024
"""Characters of what Kubernetes says of a pod; some of it comes from registries and webhooks."""
_NOT_MADE: Final = re.compile(
    r"create pod (?P<pod>\S+) in statefulset \S+ failed error: (?:pods \"[^\"]*\" )?(?P<why>.*)",
    re.IGNORECASE | re.DOTALL,
)
_FIXED = ("selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates")


def to_workload(obj: Json, written: tuple[str, int] | None = None) -> Workload:
    """From a StatefulSet. `written`: uid and generation of what our own last write made, where that is known. Who makes
    it again by hand begins with generation 1, as we did."""
    metadata, spec, status = obj["metadata"], obj["spec"], obj.get("status", {})
    update = spec.get("updateStrategy", {})
    controller: Json = next((o for o in metadata.get("ownerReferences", ()) if o.get("controller")), {})
    template = unpacked(spec["template"])
    return Workload(
        name=metadata["name"],
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        generation=metadata.get("generation", 0),
        observed_generation=status.get("observedGeneration", 0),
        replicas=spec.get("replicas", 1),
        partition=(update.get("rollingUpdate") or {}).get("partition", 0),
        strategy=UpdateStrategy(update.get("type", "RollingUpdate")),
        current_revision=status.get("currentRevision", ""),
        update_revision=status.get("updateRevision", ""),
        template_hash=_template_hash(template),
        owner_uid=controller.get("uid", ""),
        owner=f"{controller['kind']} {controller['name']}" if controller else "",
        template=template,
        as_written=(metadata["uid"], metadata.get("generation")) == written,
        start=(spec.get("ordinals") or {}).get("start", 0),
        fixed={name: spec[name] for name in _FIXED if name in spec},
        created_at=moment(metadata["creationTimestamp"]) if "creationTimestamp" in metadata else 0.0,
        replicas_by=writer_of_replicas(metadata.get("managedFields") or ()),
        is_ending="deletionTimestamp" in metadata,
        retention=spec.get("persistentVolumeClaimRetentionPolicy") or {},
    )


def to_pods(
    objects: Iterable[Json],
    workloads: Iterable[Workload],
    container_of: Callable[[str], str],
    told_running: Mapping[str, float],
    read: ReadPod | None = None,
) -> tuple[Pod, ...]:
    """The pods that the StatefulSets control, by ordinal. `container_of`: template hash → the container that runs the
    consumer. `told_running`: when a watch first told that a container runs, by its id. `read`: as `to_pod` does it.

    A pod that names one as its owner and is not called as its pods are is none of them: its controller lets it go.
    """
    read = read or to_pod
    names = {workload.uid: workload.name for workload in workloads}
    pods = []
    for obj in objects:
        name = names.get(controller_uid(obj))
        ordinal = _ordinal(obj, (name,)) if name is not None else None
        if name is not None and ordinal is not None:
            pods.append(read(obj, container_of(_template_hash(obj)), name, ordinal, told_running))
    return tuple(sorted(pods, key=lambda pod: pod.ordinal))


def loose_ordinals(objects: Iterable[Json], workloads: Iterable[Workload], group: str) -> frozenset[int]:
    """Of pods named as ours that no StatefulSet of ours controls: it was deleted, and they were left or still end."""
    uids = {workload.uid for workload in workloads}
    ordinals = [_ordinal(obj, names_of(group)) for obj in objects if controller_uid(obj) not in uids]
    return frozenset(ordinal for ordinal in ordinals if ordinal is not None)


def not_made(events: Iterable[Json]) -> dict[str, NotMade]:
    """By the names of pods, what their controller was answered last when it could not make them.

    `events`: the StatefulSet controller's, `create Pod payments-2 in StatefulSet payments failed error: …`.
    """
    found: dict[str, NotMade] = {}
    for event in events:
        told, at = _NOT_MADE.match(event.get("message") or ""), _told_last(event)
        if told is not None and at is not None and at >= found.get(told["pod"], NotMade("", at)).at:
            found[told["pod"]] = NotMade(shown(told["why"], LONGEST_SAYING), at)
    return found


def last_message(events: Iterable[Json], since: float) -> str:
    """What was said last; empty where nothing was since that time."""
    moments = [(_told_last(event) or 0.0, event.get("message")) for event in events]
    told = [(at, message) for at, message in moments if at >= since and message]
    return shown(str(max(told)[1]), LONGEST_SAYING) if told else ""


def _told_last(event: Json) -> float | None:
    """When an Event was last repeated; older and newer writers of Events keep that in different fields."""
    moments = ((event.get("series") or {}).get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return max((moment(each) for each in moments if each), default=None)


def end_by(pods: Iterable[Json]) -> dict[str, float]:
    """When pods that are ending have to have ended: their deletion and their grace; by their names."""
    deadlines = {pod["metadata"]["name"]: pod["metadata"].get("deletionTimestamp") for pod in pods}
    return {name: moment(at) for name, at in deadlines.items() if at}


def left_of(group: str, pods: Iterable[Json]) -> list[Json]:
    """Of pods with the group's label those that are its own: a StatefulSet under one of its names controls them, or
    nobody does and they are called as its pods are (`kubectl delete statefulset --cascade=orphan` leaves such)."""
    names = names_of(group)

    def is_ours(pod: Json) -> bool:
        owner = _controller(pod)
        return _ordinal(pod, names) is not None if not owner else owner["name"] in names

    return [pod for pod in pods if is_ours(pod)]


def without_controller(pods: Iterable[Json]) -> frozenset[str]:
    """Names of those that nobody controls and nobody has deleted."""
    mine = (pod["metadata"] for pod in pods if not _controller(pod))
    return frozenset(each["name"] for each in mine if not each.get("deletionTimestamp"))


def has_run(pod: Json) -> bool:
    """Whether any container of it runs, or has, or may have: of a pod that was evicted nothing more may be said."""
    statuses = pod.get("status", {}).get("containerStatuses", ())
    if pod.get("status", {}).get("phase", "Pending") != "Pending":
        return True
    states = [state for each in statuses for state in (each.get("state") or {}, each.get("lastState") or {})]
    return any(each.get("restartCount") for each in statuses) or any("waiting" not in each and each for each in states)


def group_of(obj: Json) -> str | None:
    """The ConsumerGroup that the object says it belongs to."""
    label: str | None = (obj["metadata"].get("labels") or {}).get(GROUP_LABEL)
    return label


def revision_template(revision: Json) -> dict[str, Any]:
    """The pod template that a ControllerRevision of a StatefulSet keeps."""
    template = dict(revision["data"]["spec"]["template"])
    template.pop("$patch", None)
    return template


def controller_uid(obj: Json) -> str:
    """Empty where nobody controls it."""
    return str(_controller(obj).get("uid", ""))


def _controller(obj: Json) -> Json:
    """The reference to it; empty where there is none."""
    owners = obj["metadata"].get("ownerReferences", ())
    return next((owner for owner in owners if owner.get("controller")), {})


def _ordinal(pod: Json, sets: Container[str]) -> int | None:
    """The ordinal in its name, as a pod of one of these StatefulSets; None where it is not called so."""
    name, _, ordinal = pod["metadata"]["name"].rpartition("-")
    return number_in(ordinal) if name in sets else None


def to_pod(obj: Json, container: str, workload: str, ordinal: int, told_running: Mapping[str, float]) -> Pod:
    """One pod of a StatefulSet. `container`: the one that runs the consumer."""
    metadata, status = obj["metadata"], obj.get("status", {})
    conditions = {condition["type"]: condition for condition in status.get("conditions", ())}
    gates = [gate["conditionType"] for gate in (obj.get("spec") or {}).get("readinessGates") or ()]
    ready, ready_changed_at = _ready(conditions, gates)
    consumer = _consumer(status, container)
    running = consumer.get("state", {}).get("running") or {}
    ends = [(consumer.get(when) or {}).get("terminated") or {} for when in ("state", "lastState")]
    runs = [(moment(end["finishedAt"]), end.get("startedAt")) for end in ends if end.get("finishedAt")]
    ended_at, ran_since = max(runs, key=lambda run: run[0], default=(None, None))
    reason, message = _waiting(status, consumer)
    return Pod(
        name=metadata["name"],
        ordinal=ordinal,
        uid=metadata["uid"],
        revision=(metadata.get("labels") or {}).get(REVISION_LABEL, ""),
        created_at=moment(metadata["creationTimestamp"]),
        ready=ready,
        ready_changed_at=ready_changed_at,
        started_at=moment(running["startedAt"]) if running.get("startedAt") else None,
        told_running_at=told_running.get(consumer.get("containerID", "")) if running else None,
        scheduled_at=_true_since(conditions.get("PodScheduled")),
        rejoined=_is_true(conditions.get(REJOINED)) if REJOINED in gates else None,
        up_since=told_running.get(consumer.get("containerID", "") + STARTED) if running else None,
        starting=bool(running) and consumer.get("started") is False,
        restarts=consumer.get("restartCount", 0),
        waiting=reason,
        waiting_message=message,
        terminating="deletionTimestamp" in metadata,
        address=status.get("podIP", ""),
        node_address=status.get("hostIP", ""),
        ended_at=ended_at,
        last_run_started_at=moment(ran_since) if ran_since else None,
        sidecars=_sidecars(status, consumer),
        protocol=profile_in(obj),
        template_hash=_template_hash(obj),
        workload=workload,
    )


def _consumer(status: Json, container: str) -> Json:
    """The status of the container that runs the consumer; where none is called so, that of the only one."""
    found: list[Json] = status.get("containerStatuses") or []
    named = [each for each in found if each["name"] == container]
    return next(iter(named or (found if len(found) == 1 else [])), {})


def _sidecars(status: Json, consumer: Json) -> tuple[Sidecar, ...]:
    """An init container that runs is one, too: it has `restartPolicy: Always`."""
    found = []
    for each in (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())):
        run = (each.get("state") or {}).get("running") or {}
        ended = (each.get("lastState") or {}).get("terminated") or {}
        if each is not consumer and run.get("startedAt") and ended.get("startedAt") and ended.get("finishedAt"):
            ran_s = moment(ended["finishedAt"]) - moment(ended["startedAt"])
            found.append(Sidecar(each["name"], max(0.0, ran_s), moment(run["startedAt"])))
    return tuple(found)


def _template_hash(obj: Json) -> str:
    """Of a pod, or of a template; empty where no slackwater made it."""
    found: str = (obj.get("metadata", {}).get("annotations") or {}).get(TEMPLATE_HASH, "")
    return found


def _ready(conditions: Mapping[str, Json], gates: Sequence[str]) -> tuple[bool, float | None]:
    """Whether the pod is Ready, apart from our own readiness gate, and when that changed last."""
    whole = ["Ready"] if REJOINED not in gates else ["ContainersReady", *(gate for gate in gates if gate != REJOINED)]
    found = [conditions.get(kind) for kind in whole]
    changed = [each["lastTransitionTime"] for each in found if each is not None and each.get("lastTransitionTime")]
    return all(map(_is_true, found)), max(map(moment, changed), default=None)


def _is_true(condition: Json | None) -> bool:
    return condition is not None and condition["status"] == "True"


def _true_since(condition: Json | None) -> float | None:
    """When a condition became True; None while it is not."""
    if condition is None or condition["status"] != "True" or not condition.get("lastTransitionTime"):
        return None
    return moment(condition["lastTransitionTime"])


def _waiting(status: Json, consumer: Json) -> tuple[str, str]:
    """Why the pod does not run: its consumer's reason, any other container's, or the scheduler's."""
    containers = [consumer, *status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    for container in containers:
        waiting = container.get("state", {}).get("waiting") or {}
        if waiting.get("reason") not in (None, "ContainerCreating", "PodInitializing"):
            return waiting["reason"], shown(waiting.get("message", ""), LONGEST_SAYING)
    for init in status.get("initContainerStatuses", ()):
        ended = (init.get("state") or {}).get("terminated") or {}
        if ended.get("exitCode"):  # between its end and the kubelet's pause
            return "CrashLoopBackOff", f"init container {init['name']} ended with exit code {ended['exitCode']}"
    for condition in status.get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return condition.get("reason", ""), shown(condition.get("message", ""), LONGEST_SAYING)
    return "", ""
