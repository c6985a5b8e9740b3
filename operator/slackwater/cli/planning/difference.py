"""What applying a manifest would change: fields of the objects, the pods' client settings, and the pods. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.api.parsing import parse_kafka_connection
from slackwater.api.resources import ConsumerGroup
from slackwater.api.timestamps import timestamp
from slackwater.cli.planning.changes import Change, changes
from slackwater.cli.planning.outlook import Outlook
from slackwater.cli.words.protocol import protocol_in_words, refused
from slackwater.core.decision.acts import AlterGroupSettings
from slackwater.core.decision.words import count
from slackwater.core.manifests.template import wanted_template
from slackwater.core.rollout.scaling import is_held
from slackwater.core.world.memory import read_memory

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ObjectDifference:
    kind: str
    name: str
    is_new: bool
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    outlook: Outlook
    """Of the world with the manifest applied."""
    objects: tuple[ObjectDifference, ...]
    """Those that would change, or be new."""
    new_version: bool
    """Whether pods would get another template than the one that they have, or are being given."""
    settings: tuple[Change, ...]
    """Environment variables that the operator sets in the consumer's container, where there is a new version."""


def difference(
    outlook: Outlook, live: ConsumerGroup | None, connection: Json | None, beside: Json | None
) -> Difference:
    """`live`: the group as it is. `connection`: its KafkaConnection; `beside`: that one as it stands in the file."""
    found = [_of_group(live, outlook.world.group)]
    if beside is not None:
        found.append(_of_connection(connection, beside))
    objects = tuple(each for each in found if each.is_new or each.changes)
    version = outlook.plan.memory.target_hash
    new_version = live is None or version != read_memory(live.status).target_hash
    return Difference(outlook, objects, new_version, _settings(outlook, live) if new_version else ())


def difference_document(found: Difference) -> dict[str, Any]:
    """Fields are added to it, never renamed; what is not set is null."""
    world, explanation = found.outlook.world, found.outlook.explanation
    return {
        "version": 1,
        "namespace": world.group.namespace,
        "name": world.group.name,
        "at": timestamp(world.now),
        "differs": bool(found.objects),
        "objects": [
            {
                "kind": each.kind,
                "name": each.name,
                "new": each.is_new,
                "changes": [_change(change) for change in each.changes],
            }
            for each in found.objects
        ],
        "settings": [_change(change) for change in found.settings],
        "newVersion": found.new_version,
        "pods": list(explanation.follow) if found.new_version else [],
        "words": list(consequences(found)) if found.objects else [],
    }


def difference_picture(found: Difference) -> RenderableType:
    group = found.outlook.world.group
    if not found.objects:
        return Text(f"Applying it changes nothing of {group.name} in namespace {group.namespace}.")
    parts: list[RenderableType] = []
    for each in found.objects:
        heading = Text.assemble(f"{each.kind} ", (each.name, "bold"), " would be new" if each.is_new else "")
        parts += [heading, _table(each.changes), Text()]
    if found.settings:
        parts += [Text("Settings of its consumers", "dim"), _table(found.settings), Text()]
    parts.append(Text("Its pods", "dim"))
    parts += [Text(f"  {words}") for words in consequences(found)]
    if found.outlook.remark:
        parts.append(Text(f"  {found.outlook.remark}", "dim"))
    return Group(*parts)


def consequences(found: Difference) -> Iterator[str]:
    """What it means for the pods, in sentences."""
    world, plan, explanation = found.outlook.world, found.outlook.plan, found.outlook.explanation
    waits = f"it would wait, {explanation.reason}: " if explanation.reason else ""
    if found.new_version and _every_pod_has_it(found.outlook):
        yield "no pod is restarted for it: each has this version already"
    elif found.new_version:
        yield f"{waits}{explanation.words}"
        if explanation.afterwards:
            yield f"then {explanation.afterwards}"
    else:
        yield "no pod is restarted for it"
        if plan.hold is not None:
            yield f"{waits}{explanation.words}"
        if isinstance(plan.act, AlterGroupSettings):
            yield explanation.words
    asked = world.group.spec.replicas
    if world.made and asked != world.made:
        held = "once the rollout is over, " if is_held(world.remembering(plan.memory)) else ""
        yield f"{held}{count(asked, 'pod')} instead of {world.made}"
    if (refusal := refused(world, plan)) is not None and refusal.message != explanation.words:
        yield f"the protocol stays {protocol_in_words(world, plan)}, {refusal.reason}: {refusal.message}"


def _every_pod_has_it(outlook: Outlook) -> bool:
    """As where the last good version is applied again after a rollback."""
    workload, plan = outlook.world.workload, outlook.plan
    written = workload is not None and workload.template_hash == plan.memory.target_hash
    return written and plan.act is None and not outlook.explanation.follow and not outlook.world.outdated


def _of_group(live: ConsumerGroup | None, applied: ConsumerGroup) -> ObjectDifference:
    before = None if live is None else _said(live, is_new=False)
    found = changes(before, _said(applied, is_new=live is None), "")
    return ObjectDifference("ConsumerGroup", applied.name, live is None, tuple(found))


def _said(group: ConsumerGroup, *, is_new: bool) -> dict[str, Any]:
    """With the defaults, unless it is new: then nobody has another value to compare them with."""
    metadata = {"labels": dict(group.metadata.labels), "annotations": dict(group.metadata.annotations)}
    said = {key: value for key, value in metadata.items() if value}
    spec = group.spec.model_dump(mode="json", by_alias=True, exclude_unset=is_new)
    return {**({"metadata": said} if said else {}), "spec": spec}


def _of_connection(live: Json | None, beside: Json) -> ObjectDifference:
    before, after = (None if each is None else parse_kafka_connection(each).spec for each in (live, beside))
    one, other = (
        None if spec is None else {"spec": spec.model_dump(mode="json", by_alias=True, exclude_unset=live is None)}
        for spec in (before, after)
    )
    return ObjectDifference(
        str(beside["kind"]), beside["metadata"]["name"], live is None, tuple(changes(one, other, ""))
    )


def _settings(outlook: Outlook, live: ConsumerGroup | None) -> tuple[Change, ...]:
    world, memory = outlook.world, outlook.plan.memory
    if world.bootstrap_servers is None or memory.phase.goes_back:
        return ()
    wanted = wanted_template(world.remembering(memory)).body
    given = world.workload.template if world.workload is not None and live is not None else {}
    before, after = {} if live is None else _ours(given, live), _ours(wanted, world.group)
    names = {**before, **after}
    return tuple(Change(n, before.get(n), after.get(n)) for n in names if before.get(n) != after.get(n))


def _ours(template: Json, group: ConsumerGroup) -> dict[str, Any]:
    """Variables of the consumer's container that its own template does not set."""
    containers = (template.get("spec") or {}).get("containers") or ()
    container: Json = next((c for c in containers if c["name"] == group.spec.consumer_container.name), {})
    own = {variable.name for variable in group.spec.consumer_container.env}
    variables = [variable for variable in container.get("env") or () if variable["name"] not in own]
    return {variable["name"]: variable.get("value", variable.get("valueFrom")) for variable in variables}


def _change(change: Change) -> dict[str, Any]:
    return {"field": change.field, "before": change.before, "after": change.after}


def _table(found: tuple[Change, ...]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column()
    for change in found:
        table.add_row(Text(f"  {change.field}"), Text(change.words))
    return table
