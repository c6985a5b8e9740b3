"""The version that a group is given, by the tag of its consumer's image: what people deploy, and what they look for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from slackwater.core.decision.words import shown
from slackwater.core.manifests.template import wanted_template
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.world import World

_DIGITS_OF_A_DIGEST: Final = 12


def version_in_words(world: World, memory: RolloutMemory) -> str:
    """The image, or the template's digest where it is not known with which image that version goes."""
    image = _image_of(world, memory)
    return tag_of(image) if image else f"version {memory.target_hash}"


def new_version_in_words(world: World, memory: RolloutMemory) -> str:
    """Beside pods that have another one, which may have the same image: a variable makes a version, too."""
    image = _image_of(world, memory)
    return f"the new version ({tag_of(image)})" if image else f"version {memory.target_hash}"


def tag_of(image: str) -> str:
    """Without the registry and its folders; of a digest the beginning, and nothing where a tag says it."""
    name, _, digest = image.rpartition("/")[2].partition("@")
    if digest and ":" not in name:
        kind, _, digits = digest.partition(":")
        name = f"{name}@{kind}:{digits[:_DIGITS_OF_A_DIGEST]}"
    return shown(name)


def _image_of(world: World, memory: RolloutMemory) -> str:
    """Of the consumer's container in the template with that digest: the one that is written, or the one asked for."""
    workload, target = world.workload, memory.target_hash
    if workload is not None and target and workload.template_hash == target:
        written = _image_in(world, (workload.template.get("spec") or {}).get("containers") or ())
        if written:
            return written
    known = world.remembering(memory)
    if known.bootstrap_servers is None or wanted_template(known).hash != target:
        return ""
    return _image_in(world, (each.to_manifest() for each in world.group.spec.template.spec.containers))


def _image_in(world: World, containers: Iterable[Mapping[str, Any]]) -> str:
    name = world.group.spec.consumer_container.name
    image = next((each.get("image") for each in containers if each.get("name") == name), "")
    return image if isinstance(image, str) else ""
