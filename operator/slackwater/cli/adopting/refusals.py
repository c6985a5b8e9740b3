"""Why a StatefulSet cannot be adopted, or not now. Pure; each check raises CannotBeAdopted, or passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slackwater.adapters.cluster.translation import revision_template
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.consumer_group import Membership
from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.adopting.steps import Standing, names_of_pods, revision_of
from slackwater.cli.errors import CannotBeAdopted
from slackwater.core.decision.words import listing
from slackwater.core.members.ownership import find_strangers, name_in_words
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.profile import Profile, profile_in, profile_of
from slackwater.core.world.world import World

Json = Mapping[str, Any]


def check_adoptable(standing: Standing) -> None:
    """What no waiting changes."""
    name, spec = standing.name, standing.workload["spec"]
    what = f"StatefulSet {name}"
    owners = standing.workload["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    if owner is not None:
        raise CannotBeAdopted(f"{what} belongs to {owner['kind']} {owner['name']}: only that can give it up")
    label = (spec["template"].get("metadata", {}).get("labels") or {}).get(GROUP_LABEL, name)
    if label != name:
        raise CannotBeAdopted(f"the pods of {what} are labelled as ConsumerGroup {label}'s: adopt it as that one")
    if claims := [each["metadata"]["name"] for each in spec.get("volumeClaimTemplates") or ()]:
        raise CannotBeAdopted(
            f"{what} has volumeClaimTemplates ({listing(claims)}), which a ConsumerGroup cannot have: leave it as it is"
        )
    if (spec.get("ordinals") or {}).get("start", 0) != 0:
        raise CannotBeAdopted(f"the ordinals of {what} do not start with 0, as a ConsumerGroup's do: leave it as it is")
    wanted = standing.group["spec"].get("replicas", 1)
    if spec["replicas"] != wanted:
        raise CannotBeAdopted(
            f"{what} has {spec['replicas']} replicas, and the ConsumerGroup asks for {wanted}: give both the same"
            " number first, since the operator would scale it at once"
        )
    if scaler := _autoscaler(standing):
        raise CannotBeAdopted(
            f"{scaler} scales {what}, and would fight with the operator: have it scale ConsumerGroup {name} first"
            " (scaleTargetRef)"
        )
    _check_template(standing, what)


def _check_template(standing: Standing, what: str) -> None:
    """What its pods have, the ConsumerGroup's must have, too."""
    name, spec = standing.name, standing.workload["spec"]
    if spec["selector"].get("matchExpressions"):
        raise CannotBeAdopted(f"{what} selects its pods by matchExpressions, not by labels alone: leave it as it is")
    selected = spec["selector"].get("matchLabels") or {}
    labels = {**((standing.group["spec"]["template"].get("metadata") or {}).get("labels") or {}), GROUP_LABEL: name}
    if missing := [f"{key}: {value}" for key, value in selected.items() if labels.get(key) != value]:
        raise CannotBeAdopted(
            f"{what} selects pods by labels that the ConsumerGroup's template lacks: add {listing(missing)} to"
            " spec.template.metadata.labels"
        )
    made_with, wanted_profile = profile_in(spec["template"]), _wanted_profile(standing)
    if Profile.OWN_CHOICE is not made_with is not wanted_profile:
        raise CannotBeAdopted(
            f"the pods of {what} were made for protocol {made_with.words} by an earlier ConsumerGroup: set"
            " spec.protocol.target to that"
        )
    container = parse_consumer_group(standing.group).spec.consumer_container.name
    names = [str(each["name"]) for each in spec["template"]["spec"]["containers"]]
    if container not in names:
        raise CannotBeAdopted(
            f"the pods of {what} have no container {container}, but {listing(names)}: call the consumer's container in"
            " the ConsumerGroup's template as it is called there"
        )


def remarks(standing: Standing) -> Iterator[str]:
    """What cannot be told from here, and would undo it."""
    metadata = standing.workload["metadata"]
    marks = [
        mark for mark in {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})} if _of_tool(mark)
    ]
    if marks:
        yield (
            f"See that whatever set {listing(marks)} lets go of StatefulSet {standing.name}: what it puts back may"
            " restart pods, without gates."
        )


def _of_tool(mark: str) -> bool:
    return mark.startswith(
        ("argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "meta.helm")
    )


def _autoscaler(standing: Standing) -> str | None:
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


def check_at_rest(standing: Standing) -> None:
    """Before anything is written: every pod runs the newest version, and is Ready."""
    status, replicas = standing.workload["status"], standing.workload["spec"]["replicas"]
    observed = status.get("observedGeneration", 0) >= standing.workload["metadata"]["generation"]
    if not observed or not standing.relabelled or status.get("readyReplicas", 0) != replicas:
        raise CannotBeAdopted(
            f"StatefulSet {standing.name} is being rolled out, or a pod is not Ready: let that end, then adopt it"
        )


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
