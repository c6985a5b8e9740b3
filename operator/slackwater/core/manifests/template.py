"""The pod template that the operator renders: the user's, with the client settings and our marks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from slackwater.api.annotations import PROTOCOL, REJOINED, RESTARTED_AT, TEMPLATE_HASH
from slackwater.api.resources import ConsumerGroup
from slackwater.api.timeouts import Timeouts
from slackwater.core.manifests.client_settings import offered, settings
from slackwater.core.manifests.objects import (
    Json,
    selector,
)
from slackwater.core.world.broker import Bounds
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World


@dataclass(frozen=True, slots=True)
class Template:
    """A pod template as it stands in the StatefulSet, and its digest."""

    hash: str
    body: Mapping[str, Any]


def wanted_template(world: World) -> Template:
    """What the spec, adopted timeouts, the protocol and the brokers' bounds ask for together.

    ValueError where the brokers' address is not known.
    """
    if world.bootstrap_servers is None:
        raise ValueError("no template without the brokers' address")
    memory = world.memory
    group = _with_timeouts(world.group, world.timeouts)
    restart = memory.restart
    return render_template(group, world.bootstrap_servers, memory.protocol, memory.session_bounds, restart)


def render_template(
    group: ConsumerGroup,
    bootstrap_servers: str,
    profile: Profile,
    session_bounds: Bounds | None = None,
    restart: str = "",
) -> Template:
    """The user's template with the client settings, our label, and the digest of it all (F7: the set goes together).

    `session_bounds`: what the brokers allow classic sessions to be, where that is known to bind. `restart`: the token
    of the last `restart` that was obeyed; the annotation itself may be gone.
    """
    body: Json = group.spec.template.to_manifest()  # what is changed of it below is a new one for each call
    metadata = body["metadata"] = {**(body.get("metadata") or {})}
    metadata["labels"] = {**(metadata.get("labels") or {}), **selector(group)}
    if restart:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), RESTARTED_AT: restart}
    # A Service called kafka would put KAFKA_PORT and more into every pod: variables that look like client settings.
    body["spec"].setdefault("enableServiceLinks", False)
    if group.spec.readiness_gate:
        others = [gate for gate in body["spec"].get("readinessGates") or () if gate.get("conditionType") != REJOINED]
        body["spec"]["readinessGates"] = [*others, {"conditionType": REJOINED}]
    container = next(c for c in body["spec"]["containers"] if c["name"] == group.spec.consumer_container.name)
    ours = settings(group, bootstrap_servers, profile, session_bounds)
    names = {variable["name"] for variable in ours}  # a profile of the user's own may name what the template has, too
    own = [each for each in container.get("env", ()) if each["name"] not in names]
    said = {each["name"] for each in own}
    container["env"] = [*own, *(each for each in offered(group) if each["name"] not in said), *ours]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), PROTOCOL: profile.value}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), TEMPLATE_HASH: digest}
    return Template(digest, body)


def what_people_gave(world: World) -> str:
    """A digest of the person's own part of what is rendered: not of brokers, their bounds, or how we render it."""
    return _digest_of(world, {*_PEOPLES_OWN, "connection_ref"})


def gave_the_same(world: World) -> bool:
    """People's own part is what it was when the version that memory has as the target began. Operators before this one
    noted it without the connection."""
    known = world.memory.target_given
    return known == world.once(what_people_gave) or known == _digest_of(world, _PEOPLES_OWN)


def _digest_of(world: World, fields: set[str]) -> str:
    given = world.group.spec.model_dump(mode="json", by_alias=True, exclude_defaults=True, include=fields)
    whole = {**given, "restart": world.memory.restart}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]


_PEOPLES_OWN: Final = {
    "template",
    "client",
    "membership",
    "members_per_pod",
    "topics",
    "protocol",
    "timeouts",
    "readiness_gate",
}


def _with_timeouts(group: ConsumerGroup, timeouts: Timeouts) -> ConsumerGroup:
    if timeouts is group.spec.timeouts:
        return group
    return group.model_copy(update={"spec": group.spec.model_copy(update={"timeouts": timeouts})})
