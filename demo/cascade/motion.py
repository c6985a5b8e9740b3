"""When a group was moving, and who had a bad pod: by what the API server says of pods, nothing else. Pure.

A pod is on its way from when it is made until it is Ready for the first time, and from when it is deleted until it is
gone. A group is moving while one of its pods is on its way, or while there are fewer than it should have. A pod that
is Ready and then is not, as on a machine that is too busy to answer probes, was taken by nobody, and moves no group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from demo.cascade.manifests import BAD_IMAGE
from demo.cascade.modes import MEMBERS
from demo.cascade.spans import Span
from demo.manifests import APP


@dataclass(frozen=True, slots=True)
class Sight:
    """One version of one pod, and when it came (unix seconds)."""

    at_s: float
    group: str
    """The name of what runs it."""
    uid: str
    version: str
    is_ready: bool
    is_ending: bool
    is_gone: bool
    is_bad: bool


def sight(at_s: float, pod: Mapping[str, Any], *, deleted: bool) -> Sight:
    """Of a pod in the API server's words."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    container = pod["spec"]["containers"][0]
    values = {entry["name"]: entry.get("value", "") for entry in container.get("env", ())}
    return Sight(
        at_s=at_s,
        group=(metadata.get("labels") or {}).get(APP, ""),
        uid=metadata["uid"],
        version=values.get("VERSION", ""),
        is_ready=any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions", ())),
        is_ending="deletionTimestamp" in metadata,
        is_gone=deleted,
        is_bad=container["image"] == BAD_IMAGE,
    )


def moving(sights: Iterable[Sight], until_s: float, replicas: int = MEMBERS) -> dict[str, list[Span]]:
    """Group → when it was moving, from its first pod on; what has no end yet ends at `until_s`."""
    on_its_way: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    since: dict[str, float] = {}
    found: dict[str, list[Span]] = {}
    for each in sights:
        if each.at_s > until_s:
            break
        pods = on_its_way[each.group]
        _take(pods, each)
        spans = found.setdefault(each.group, [])
        if any(pods.values()) or len(pods) < replicas:
            since.setdefault(each.group, each.at_s)
        elif (began := since.pop(each.group, None)) is not None:
            spans.append(Span(began, each.at_s))
    for group, began in since.items():
        found[group].append(Span(began, until_s))
    return found


def newest(sights: Iterable[Sight]) -> dict[str, dict[str, Sight]]:
    """Group → its pods that are there, by uid, as last seen."""
    found: dict[str, dict[str, Sight]] = {}
    for each in sights:
        pods = found.setdefault(each.group, {})
        if each.is_gone:
            pods.pop(each.uid, None)
        else:
            pods[each.uid] = each
    return found


def with_bad_pods(sights: Iterable[Sight]) -> set[str]:
    """The groups that ever had one."""
    return {each.group for each in sights if each.is_bad}


def _take(pods: dict[str, bool], each: Sight) -> None:
    if each.is_gone:
        pods.pop(each.uid, None)
    elif each.is_ending:
        pods[each.uid] = True
    elif each.is_ready:
        pods[each.uid] = False
    else:
        pods.setdefault(each.uid, True)
