"""Why a StatefulSet cannot be adopted, or not now. Pure; each `check_` raises CannotBeAdopted, or passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from slackwater.adapters.cluster.translation import revision_template, to_workload
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.consumer_group import Membership
from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.adopting.steps import Standing, names_of_pods, revision_of
from slackwater.cli.errors import CannotBeAdopted
from slackwater.core.decision.words import listing
from slackwater.core.manifests.claims import claims_asked_for, has_the_claims_asked_for, names_of_claims
from slackwater.core.members.ownership import find_strangers, name_in_words
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.profile import Profile, profile_in, profile_of
from slackwater.core.world.world import World

Json = Mapping[str, Any]

_HPA_CONTROLLER: Final = "kube-controller-manager"
"""Who scales in the name of every HorizontalPodAutoscaler."""


def check_adoptable(standing: Standing) -> None:
    """What no waiting changes."""
    if why := next((why for check in UNADOPTABLE if (why := check(standing))), ""):
        raise CannotBeAdopted(why)


def belongs_to_another(standing: Standing) -> str:
    """Two controllers would write it."""
    owner = _controller(standing.workload)
    return f"{_what(standing)} belongs to {owner['kind']} {owner['name']}: only that can give it up" if owner else ""


def is_labelled_as_another_groups(standing: Standing) -> str:
    """It is adopted already, or was made by an operator."""
    labels = standing.workload["spec"]["template"].get("metadata", {}).get("labels") or {}
    label = labels.get(GROUP_LABEL, standing.name)
    if label == standing.name:
        return ""
    return f"the pods of {_what(standing)} are labelled as ConsumerGroup {label}'s: adopt it as that one"


def has_other_volume_claims(standing: Standing) -> str:
    """Kubernetes changes none of a StatefulSet that is there, and pods that run are given no other volume."""
    workload, group = to_workload(standing.workload), parse_consumer_group(standing.group)
    if has_the_claims_asked_for(workload, group):
        return ""
    has = listing(names_of_claims(workload.claims)) or "none"
    asks = listing(names_of_claims(claims_asked_for(group))) or "none"
    what = f"{_what(standing)} has other volumeClaimTemplates ({has}) than the ConsumerGroup asks for ({asks})"
    return f"{what}: write those of the StatefulSet into spec.volumeClaimTemplates, and change them when it is adopted"


def starts_elsewhere(standing: Standing) -> str:
    """Instance ids are counted from 0."""
    if (standing.workload["spec"].get("ordinals") or {}).get("start", 0) == 0:
        return ""
    return f"the ordinals of {_what(standing)} do not start with 0, as a ConsumerGroup's do: leave it as it is"


def has_another_number_of_pods(standing: Standing) -> str:
    """It would be scaled before anybody has looked at it."""
    replicas, wanted = standing.workload["spec"]["replicas"], standing.group["spec"].get("replicas", 1)
    if replicas == wanted:
        return ""
    what = f"{_what(standing)} has {replicas} replicas, and the ConsumerGroup asks for {wanted}"
    return f"{what}: give both the same number first, since the operator would scale it at once"


def selects_by_expressions(standing: Standing) -> str:
    """A ConsumerGroup's StatefulSet selects by labels, and a selector cannot be changed."""
    if not standing.workload["spec"]["selector"].get("matchExpressions"):
        return ""
    return f"{_what(standing)} selects its pods by matchExpressions, not by labels alone: leave it as it is"


def selects_by_other_labels(standing: Standing) -> str:
    """Its own new pods would not be its pods."""
    selected = standing.workload["spec"]["selector"].get("matchLabels") or {}
    given = (standing.group["spec"]["template"].get("metadata") or {}).get("labels") or {}
    labels = {**given, GROUP_LABEL: standing.name}
    missing = [f"{key}: {value}" for key, value in selected.items() if labels.get(key) != value]
    if not missing:
        return ""
    what = f"{_what(standing)} selects pods by labels that the ConsumerGroup's template lacks"
    return f"{what}: add {listing(missing)} to spec.template.metadata.labels"


def was_made_for_another_protocol(standing: Standing) -> str:
    """Its pods could not be in one group with the next."""
    made_with, wanted = profile_in(standing.workload["spec"]["template"]), _wanted_profile(standing)
    if made_with in (Profile.OWN_CHOICE, wanted):
        return ""
    made = f"the pods of {_what(standing)} were made for protocol {made_with.words} by an earlier ConsumerGroup"
    return f"{made}: set spec.protocol.target to that"


def has_no_such_container(standing: Standing) -> str:
    """The settings go into the consumer's container by its name."""
    container = parse_consumer_group(standing.group).spec.consumer_container.name
    names = [str(each["name"]) for each in standing.workload["spec"]["template"]["spec"]["containers"]]
    if container in names:
        return ""
    what = f"the pods of {_what(standing)} have no container {container}, but {listing(names)}"
    return f"{what}: call the consumer's container in the ConsumerGroup's template as it is called there"


UNADOPTABLE: Final = (
    belongs_to_another,
    is_labelled_as_another_groups,
    has_other_volume_claims,
    starts_elsewhere,
    has_another_number_of_pods,
    selects_by_expressions,
    selects_by_other_labels,
    was_made_for_another_protocol,
    has_no_such_container,
)
"""What no waiting changes, in a sentence; empty where nothing is wrong. Whose it is comes first, what it holds last."""


def _what(standing: Standing) -> str:
    return f"StatefulSet {standing.name}"


def _controller(obj: Json) -> Json | None:
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((each for each in owners if each.get("controller")), None)


def check_unscaled(standing: Standing, scalers: Sequence[Json] | None) -> None:
    """An autoscaler and the operator would take turns. `scalers`: the namespace's HorizontalPodAutoscalers; None where
    they may not be read.

    KEDA makes one, too. Who scaled it once (`managedFields`) is history: that autoscaler may be gone or moved.
    """
    scaler = next((each for each in scalers or () if _scales(each, standing)), None)
    if scaler is not None:
        ours = f"have it scale ConsumerGroup {standing.name} first (scaleTargetRef)"
        who = f"HorizontalPodAutoscaler {scaler['metadata']['name']}"
        if owner := _controller(scaler):
            who += f", which is {owner['kind']} {owner['name']}'s,"
        raise CannotBeAdopted(f"{who} scales {_what(standing)}, and would fight with the operator: {ours}")


def _scales(scaler: Json, standing: Standing) -> bool:
    """OpenKruise's StatefulSets are of another API group."""
    target = scaler["spec"]["scaleTargetRef"]
    of_apps = str(target.get("apiVersion") or "").partition("/")[0] == "apps"
    return of_apps and (target["kind"], target["name"]) == ("StatefulSet", standing.name)


def remarks(standing: Standing, scalers: Sequence[Json] | None) -> Iterator[str]:
    """What cannot be told from here, and would undo it. `scalers`: as in `check_unscaled`."""
    yield from _of_autoscalers(standing, scalers)
    metadata = standing.workload["metadata"]
    marks = [
        mark for mark in {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})} if _of_tool(mark)
    ]
    if marks:
        yield (
            f"See that whatever set {listing(marks)} lets go of StatefulSet {standing.name}: what it puts back may"
            " restart pods, without gates."
        )


def _of_autoscalers(standing: Standing, scalers: Sequence[Json] | None) -> Iterator[str]:
    """Of those that would not be found among `scalers`."""
    last = _last_to_scale(standing)
    if scalers is not None and last in (None, _HPA_CONTROLLER):
        return
    unseen = "" if scalers is not None else ", for you may not list the HorizontalPodAutoscalers here"
    scaled = f", as {last} has done" if last else ""
    yield (
        f"See that nothing scales StatefulSet {standing.name} by itself{scaled}{unseen}: it would fight with the"
        f" operator until it scales ConsumerGroup {standing.name} instead (scaleTargetRef)."
    )


def _of_tool(mark: str) -> bool:
    return mark.startswith(
        ("argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "meta.helm")
    )


def _last_to_scale(standing: Standing) -> str | None:
    """Who last set the number of replicas by the scale subresource, if that was no person."""
    for entry in standing.workload["metadata"].get("managedFields") or ():
        fields = (entry.get("fieldsV1") or {}).get("f:spec") or {}
        if (
            entry.get("subresource") == "scale"
            and "f:replicas" in fields
            and not entry["manager"].startswith("kubectl")
        ):
            return str(entry["manager"])
    return None


def _wanted_profile(standing: Standing) -> Profile:
    target = parse_consumer_group(standing.group).spec.protocol.target
    return profile_of(target) if target is not None else Profile.OWN_CHOICE


def check_unchanged(standing: Standing, newest: Json | None, before: Json | None) -> None:
    """`newest`, `before`: the ControllerRevisions of the template with our label, and of what the pods ran before."""
    others = [pod for pod in standing.pods if revision_of(pod) not in (standing.revision, standing.was_revision)]
    same = newest is not None and before is not None and _without_label(newest) == _without_label(before)
    if others or not same:
        which = f" ({names_of_pods(others)})" if others else ""
        raise CannotBeAdopted(
            f"the template of StatefulSet {standing.name} was changed while it was being adopted{which}: put it back as"
            " it was, or delete its pods one by one so that they take it up, then adopt it again"
        )


def check_members(world: World) -> str | None:
    """The members that Kafka has are those that the operator would expect. Returns why that is not known."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation):
        return f"the group cannot be seen in Kafka from here ({kafka.message}), so its members are not compared"
    if not (strangers := find_strangers(world, kafka)):
        _check_each_pod(world)
        return None
    who = listing(name_in_words(member) for member in strangers)
    if world.group.spec.membership is Membership.STATIC:
        way_out = (
            "set spec.membership of the ConsumerGroup to Dynamic, or first give each pod its own name as"
            " group.instance.id"
        )
        raise CannotBeAdopted(
            f"members of group {world.group.group_id} are not its pods' static ones: {who}: {way_out}"
        )
    raise CannotBeAdopted(f"members of group {world.group.group_id} are in none of its pods: {who}: stop them first")


def _check_each_pod(world: World) -> None:
    """A pod without a member would be taken for one that is down, and replaced first, when the group is resumed."""
    wanted = world.group.spec.members_per_pod
    without = [pod.name for pod in world.pods if len(world.members_of(pod)) != wanted]
    if without:
        members = "a member" if wanted == 1 else f"{wanted} members"
        raise CannotBeAdopted(
            f"not each pod has {members} in group {world.group.group_id} ({listing(without)} not): correct groupId or"
            " membersPerPod of the ConsumerGroup, or wait until they have joined"
        )


def _without_label(revision: Json) -> dict[str, Any]:
    template = revision_template(revision)
    metadata = dict(template.get("metadata") or {})
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != GROUP_LABEL}
    return {**template, "metadata": {**metadata, "labels": labels}}
