"""A World as a document that can be kept, sent with a question, edited by hand and planned from again.

    {"version": 2, "recordedBy": "slackwater 0.1.0", "world": {…}}

The group stands in it as the API server has it (with its status), `memory` as `status.rollout`, everything else by the
names of `World`; times are seconds since the epoch, a partition is `<topic>-<number>`. No credential is ever in a
World, but whatever the pod template holds is. Left out is the history's fingerprint: it serves only to fold the next
observation in, and a recorded world has none.

Version 1 had `workload`, `pods` and `beside` instead of `sets` and `all_pods`; it is still read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from slackwater.api.durations import WIRE_CONTEXT
from slackwater.api.errors import SlackwaterError
from slackwater.api.parsing import parse_consumer_group
from slackwater.core.world.observation import TopicPartition
from slackwater.core.world.world import World

Json = dict[str, Any]

VERSION: Final = 2
_CODEC: Final = TypeAdapter(World)


class RecordingUnreadable(SlackwaterError):
    """A document that is no recorded world, or one of a later version."""


def write_world(world: World, recorded_by: str = "") -> Json:
    """The document, of JSON's types only."""
    plain = replace(world, history=replace(world.history, fingerprint=()))
    written: Json = _CODEC.dump_python(plain, mode="json", by_alias=True, exclude_unset=True)
    for part in ("kafka", "history"):
        written[part] = _in_order(written[part])
    return {"version": VERSION, "recordedBy": recorded_by, "world": written}


def read_world(document: object) -> World:
    """The reverse of `write_world`. Raises RecordingUnreadable, and InvalidSpec for what is wrong with the group."""
    if not isinstance(document, Mapping) or not isinstance(document.get("world"), Mapping):
        raise RecordingUnreadable("it is no recorded world: record one with slackwater observe NAME -o json")
    version, world = document.get("version"), document["world"]
    if version not in (1, VERSION):
        shown = f"of version {version}" if "version" in document else "without a version"
        what_to_do = "use the slackwater that recorded it, or record again"
        raise RecordingUnreadable(f"it is a recording {shown}, and this slackwater reads 1 and {VERSION}: {what_to_do}")
    if version == 1:
        world = _with_both_sets(world)
    if isinstance(world.get("group"), Mapping):
        world = {**world, "group": parse_consumer_group(world["group"])}
    try:
        return _CODEC.validate_python(world, by_alias=True, by_name=False, context=WIRE_CONTEXT)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in ("world", *first["loc"]))
        raise RecordingUnreadable(f"{where} cannot be read ({first['msg']}): record the world again") from error


def _with_both_sets(world: Mapping[str, Any]) -> Json:
    """From version 1, whose `workload` was both StatefulSets in one while there were two."""
    kept = {key: value for key, value in world.items() if key not in ("workload", "pods", "beside")}
    workload, beside, pods = world.get("workload"), world.get("beside"), list(world.get("pods") or ())
    if beside:
        pods += [*beside["arriving"], *beside["leaving"]]
        return {**kept, "sets": [beside["in_use"], beside["newcomer"]], "all_pods": pods}
    name = workload["name"] if workload else ""
    return {**kept, "sets": [workload] if workload else [], "all_pods": [{"workload": name, **pod} for pod in pods]}


def _in_order(value: Any) -> Any:
    """Sets have no order of their own, and two recordings of the same world should be equal."""
    if isinstance(value, dict):
        return {key: _in_order(item) for key, item in sorted(value.items(), key=_place)}
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return sorted(value, key=lambda item: _place((item, None)))
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _place(item: tuple[str, object]) -> tuple[str, int]:
    """Partitions by number, so that orders-2 comes before orders-10; everything else by name."""
    try:
        return TopicPartition.parse(item[0])
    except ValueError:
        return item[0], 0
