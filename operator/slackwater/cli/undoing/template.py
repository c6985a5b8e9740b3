"""What people wrote of a template that the operator has rendered and the API server has filled in. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from slackwater.api.annotations import GROUP_LABEL, PROTOCOL, REJOINED, RESTARTED_AT, TEMPLATE_HASH
from slackwater.api.consumer_group import Membership
from slackwater.api.owned_settings import OwnedSetting
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.errors import NoSuchRevision
from slackwater.cli.undoing.filled_in import same, without_filled_in
from slackwater.core.manifests.client_settings import offered, settings
from slackwater.core.world.profile import Profile

Json = Mapping[str, Any]

_OUR_ANNOTATIONS: Final = frozenset({PROTOCOL, TEMPLATE_HASH, RESTARTED_AT})


def own_part(template: Json, group: ConsumerGroup, before: Json) -> dict[str, Any]:
    """Of a template that the operator has rendered, what people wrote. `before`: what they ask for now, which tells
    what is theirs where both could have written it. Raises NoSuchRevision."""
    body = without_filled_in(template, before)
    metadata = {
        part: {key: value for key, value in found.items() if key not in ours}
        for part, ours in (("labels", {GROUP_LABEL}), ("annotations", _OUR_ANNOTATIONS))
        if (found := (body.get("metadata") or {}).get(part))
    }
    metadata = {part: found for part, found in metadata.items() if found}
    spec, asked = dict(body["spec"]), before.get("spec") or {}
    if spec.get("enableServiceLinks") is False and "enableServiceLinks" not in asked:
        del spec["enableServiceLinks"]
    gates = [gate for gate in spec.pop("readinessGates", ()) if gate.get("conditionType") != REJOINED]
    spec |= {"readinessGates": gates} if gates else {}
    _check_client(template, group)
    spec["containers"] = [_own_container(each, group, asked) for each in spec["containers"]]
    return ({"metadata": metadata} if metadata else {}) | {"spec": spec}


def _check_client(template: Json, group: ConsumerGroup) -> None:
    """Raises NoSuchRevision where `spec.client` tells another consumer from that version's."""
    name = group.spec.consumer_container.name
    consumer: Json | None = next((each for each in template["spec"]["containers"] if each["name"] == name), None)
    if consumer is None:
        raise NoSuchRevision(
            f"the consumer's container was not called {name} in that version, so client.container has to go back with"
            " it: apply the manifest of then"
        )
    is_ours = TEMPLATE_HASH in ((template.get("metadata") or {}).get("annotations") or {})
    prefix, given = group.spec.client.env_prefix, {each["name"] for each in consumer.get("env") or ()}
    if is_ours and OwnedSetting.BOOTSTRAP_SERVERS.variable(prefix) not in given:
        raise NoSuchRevision(
            f"the consumer's variables did not begin with {prefix} in that version, so client.envPrefix has to go back"
            " with it: apply the manifest of then"
        )


def without_defaults(template: Any, before: Any, now: Any) -> Any:
    """Without what the API server has put into the version that is asked for as well. `before`: as people ask for that
    one; `now`: as the API server keeps it."""
    if isinstance(template, Mapping) and isinstance(before, Mapping) and isinstance(now, Mapping):
        return {
            key: without_defaults(value, before.get(key), now.get(key))
            for key, value in template.items()
            if key in before or key not in now or now[key] != value
        }
    if isinstance(template, list) and isinstance(before, list) and isinstance(now, list):
        return [without_defaults(each, same(each, at, before), same(each, at, now)) for at, each in enumerate(template)]
    return template


def _own_container(container: Json, group: ConsumerGroup, asked: Json) -> dict[str, Any]:
    found = dict(container)
    if container["name"] != group.spec.consumer_container.name or "env" not in container:
        return found
    ours = _ours(group) - _variables(asked, container["name"])
    env = [each for each in container["env"] if each["name"] not in ours]
    del found["env"]
    return found | ({"env": env} if env else {})


def _ours(group: ConsumerGroup) -> set[str]:
    """Variables that the operator gives to one profile or another, to static members or dynamic ones."""
    static = group.model_copy(update={"spec": group.spec.model_copy(update={"membership": Membership.STATIC})})
    given = (each["name"] for profile in Profile for each in settings(static, "", profile))
    owned = (setting.variable(group.spec.client.env_prefix) for setting in OwnedSetting)
    return {*given, *owned, *(each["name"] for each in offered(group))}


def _variables(pod: Json, container: str) -> set[str]:
    here: Iterable[Json] = pod.get("containers") or ()
    return {env["name"] for each in here if each["name"] == container for env in each.get("env") or ()}


def merge_patch(before: Any, after: Any) -> Any:
    """What RFC 7386 takes to make the one of the other: lists are replaced whole, what is left out is null."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return after
    gone = {key: None for key in before if key not in after}
    changed = {key: value for key, value in after.items() if key not in before or before[key] != value}
    return gone | {key: merge_patch(before.get(key), value) for key, value in changed.items()}
