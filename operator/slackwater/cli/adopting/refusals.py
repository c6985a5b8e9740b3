"""Why a StatefulSet cannot be adopted, or not now. Pure; each check raises CannotBeAdopted, or passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slackwater.adapters.cluster.translation import revision_template
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.consumer_group import Membership
from slackwater.cli.adopting.steps import Standing, names_of_pods, revision_of
from slackwater.cli.errors import CannotBeAdopted
from slackwater.core.observation import GroupObservation
from slackwater.core.strangers import find_strangers, name_in_words
from slackwater.core.text import listing
from slackwater.core.world import World

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
    selected = spec["selector"].get("matchLabels") or {}
    labels = {**((standing.group["spec"]["template"].get("metadata") or {}).get("labels") or {}), GROUP_LABEL: name}
    if missing := [f"{key}: {value}" for key, value in selected.items() if labels.get(key) != value]:
        raise CannotBeAdopted(
            f"{what} selects pods by labels that the ConsumerGroup's template lacks: add {listing(missing)} to"
            " spec.template.metadata.labels"
        )
    wanted = standing.group["spec"].get("replicas", 1)
    if spec["replicas"] != wanted:
        raise CannotBeAdopted(
            f"{what} has {spec['replicas']} replicas, and the ConsumerGroup asks for {wanted}: give both the same"
            " number first, since the operator would scale it at once"
        )


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


def _without_label(revision: Json) -> dict[str, Any]:
    template = revision_template(revision)
    metadata = dict(template.get("metadata") or {})
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != GROUP_LABEL}
    return {**template, "metadata": {**metadata, "labels": labels}}
