"""Manifests and recorded worlds from files, or from standard input as `-`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import yaml

from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import (
    parse_consumer_fleet,
    parse_consumer_group,
    parse_fleet_campaign,
    parse_kafka_connection,
)
from slackwater.api.references import ConnectionKind
from slackwater.cli.errors import FileUnusable
from slackwater.cli.options import NAME
from slackwater.core.decision.words import listing
from slackwater.core.world.recording import RecordingUnreadable, read_world
from slackwater.core.world.world import World

Json = dict[str, Any]

STDIN = "-"
_CONNECTIONS: Final = tuple(map(str, ConnectionKind))
_GROUP, _FLEET, _CAMPAIGN = "ConsumerGroup", "ConsumerFleet", "FleetCampaign"


@dataclass(frozen=True, slots=True)
class Manifests:
    """What files ask for: one ConsumerGroup, and the connections that stand beside it."""

    group: Json
    connections: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class CampaignManifests:
    """What files ask for: one FleetCampaign, and the fleets that stand beside it."""

    campaign: Json
    fleets: tuple[Json, ...]


def read_manifests(*paths: str) -> Manifests:
    """What all files hold together.

    Raises FileUnusable, and InvalidSpec when an object breaks its rules. Other kinds of objects are left alone.
    """
    group, found = _the_one(_GROUP, paths)
    return Manifests(group, tuple(each for each in found if each.get("kind") in _CONNECTIONS))


def read_campaign_manifests(*paths: str) -> CampaignManifests:
    """The same, of a campaign."""
    campaign, found = _the_one(_CAMPAIGN, paths)
    return CampaignManifests(campaign, tuple(each for each in found if each.get("kind") == _FLEET))


def _the_one(kind: str, paths: Sequence[str]) -> tuple[Json, list[Json]]:
    """And all that stands in the files. Raises FileUnusable where it is none, or one of several, and InvalidSpec."""
    found = [(document, path) for path in paths for document in _flattened(_documents(path))]
    ones = [document for document, _ in found if document.get("kind") == kind]
    if len(ones) != 1:
        raise FileUnusable(_not_one(kind, paths, [document for document, _ in found], ones))
    for document, path in found:
        _check(document, path)
    _check_name(kind, ones[0]["metadata"], paths)
    return ones[0], [document for document, _ in found]


def read_world_file(path: str) -> World:
    """Raises FileUnusable."""
    text = _text(path)
    if not text.strip():
        raise FileUnusable(f"{shown(path)} is empty: give the recording, as slackwater observe NAME prints it")
    try:
        return read_world(json.loads(text))
    except ValueError as error:
        line = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        message = f"{shown(path)} is not JSON{line}: record a world with slackwater observe NAME"
        raise FileUnusable(message) from error
    except (RecordingUnreadable, InvalidSpec) as error:
        raise FileUnusable(f"{shown(path)} cannot be planned from: {_in_one(error)}") from error


def _documents(path: str) -> list[Json]:
    try:
        documents = [document for document in yaml.safe_load_all(_text(path)) if document is not None]
    except yaml.YAMLError as error:
        raise FileUnusable(_broken_yaml(path, error)) from error
    for document in documents:
        if not isinstance(document, Mapping):
            raise FileUnusable(f"{shown(path)} holds no Kubernetes object, but {document!r:.40}: give a manifest")
        if "kind" not in document and isinstance(document.get("world"), Mapping):
            recorded = f"{shown(path)} is a recorded world"
            raise FileUnusable(f"{recorded}: give it to plan by --world, and a manifest by -f")
    return documents


def _check(document: Json, path: str) -> None:
    parse = _PARSERS.get(str(document.get("kind")))
    try:
        if parse is not None:
            parse(document)
    except InvalidSpec as error:
        raise InvalidSpec(f"{error.subject} in {shown(path)}", error.problems) from error


def _check_name(kind: str, metadata: Json, paths: Sequence[str]) -> None:
    """Anything else would make another path of a request's."""
    for field in ("name", "namespace"):
        value = metadata.get(field)
        if value is not None and not re.fullmatch(NAME, str(value)):
            where = listing(shown(path) for path in paths)
            message = f"metadata.{field} of the {kind} in {where} is {value!r}, which is no name"
            raise FileUnusable(f"{message}: write lower-case letters, digits and -")


_PARSERS: Final[Mapping[str, Callable[[Json], object]]] = {
    _GROUP: parse_consumer_group,
    _FLEET: parse_consumer_fleet,
    _CAMPAIGN: parse_fleet_campaign,
    **dict.fromkeys(_CONNECTIONS, parse_kafka_connection),
}


def _flattened(documents: list[Json]) -> list[Json]:
    """`kubectl get -o yaml` writes several objects as one List."""
    flat: list[Json] = []
    for document in documents:
        items = document.get("items") if document.get("kind") == "List" else None
        flat.extend(items if isinstance(items, list) else [document])
    return flat


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == STDIN else Path(path).read_text()
    except FileNotFoundError as error:
        raise FileUnusable(f"there is no file {path}: correct the path, or give - for standard input") from error
    except UnicodeDecodeError as error:
        raise FileUnusable(f"{shown(path)} is not text: give a YAML or JSON file in UTF-8") from error
    except OSError as error:
        raise FileUnusable(f"{path} cannot be read ({error.strerror or error}): give a file that can") from error


def _not_one(kind: str, paths: Sequence[str], documents: list[Json], ones: list[Json]) -> str:
    where = listing(shown(path) for path in paths)
    hold, are = ("holds", "is") if len(paths) == 1 else ("hold", "are")
    if ones:
        names = listing(str((each.get("metadata") or {}).get("name")) for each in ones)
        return f"{where} {hold} {len(ones)} {kind}s ({names}): give one at a time"
    kinds = [str(document.get("kind", "something without a kind")) for document in documents]
    if not kinds:
        return f"{where} {are} empty: give the manifest of a {kind}"
    close = [each for each in kinds if get_close_matches(each, [kind])]
    hint = f"did you mean kind: {kind} instead of {close[0]}?" if close else "give the manifest of one"
    return f"{where} {hold} no {kind}, but {listing(kinds)}: {hint}"


def _broken_yaml(path: str, error: yaml.YAMLError) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    return f"{shown(path)} is not YAML{where}: {problem or str(error).partition(chr(10))[0]}"


def shown(path: str) -> str:
    """What a message calls it."""
    return "standard input" if path == STDIN else path


def _in_one(error: RecordingUnreadable | InvalidSpec) -> str:
    if isinstance(error, InvalidSpec):
        return f"its {error.subject} is not valid: " + "; ".join(problem.rstrip(".") for problem in error.problems)
    return str(error)
