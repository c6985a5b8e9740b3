"""What is kept of a ConsumerGroup's spec: whoever writes it chooses its size, and all of them are in one process.

A value of three bytes takes two hundred as Python has it. So what is not small is kept as the text that it came as,
twenty times as small, and is read from that when it is needed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from slackwater.api.packed import Packed, pods_packed

LARGEST_SPEC: Final = 256 * 1024
"""Bytes of JSON. The API server takes six times as much, and all objects are in the memory of one process."""
MOST_VALUES: Final = 20_000
"""Lists, objects and what stands in them: as Python has it, each takes a hundred bytes."""
MOST_ENTRIES: Final = 1_000
"""Of labels, annotations, finalizers or owners: Kubernetes has no bound but for the object's size."""
SMALL: Final = 128 * 1024
"""Bytes, as Python has it: 8 KiB of JSON, and 600 values."""
FREE: Final = 16 * 1024
"""Bytes, as it is kept, of which nothing counts: what is usual takes less."""
_A_VALUE: Final = 200
"""Bytes of an object with one field in it: of all that a value may be, it takes most for what is written."""
_A_CHARACTER: Final = 4
"""Bytes of each, where one of them has no place in ASCII."""
_LISTS: Final = ("labels", "annotations", "finalizers", "ownerReferences")
_NAMING: Final = ("groupId", "connectionRef", "deletionPolicy")
SELECT_BY_LESS: Final = "select groups by fewer labels and values"

Json = Mapping[str, Any]


class CutSpec(dict[str, Any]):
    """What is kept of a spec that is not read: what others have to know of it, and why no more."""

    def __init__(self, kept: Json, problem: str) -> None:
        super().__init__(kept)
        self.problem = problem


class PackedJson(dict[str, Any]):
    """Its text, and of what stands in it only what is looked up again and again; see `unpacked`."""

    def __init__(self, shown: Json, text: str) -> None:
        super().__init__(shown)
        self.text = text.encode("utf-8", "surrogatepass")
        self.weight = weight_of(text)


def packed(part: Json, shown: Json) -> Json:
    """The same, as text where it is not small. `shown`: what of it can be looked up without unpacking."""
    if isinstance(part, PackedJson):
        return part
    text = _text(part)
    return part if weight_of(text) <= SMALL else PackedJson(shown, text)


def unpacked(part: Any) -> Any:
    """As it was before it was packed."""
    return json.loads(part.text.decode("utf-8", "surrogatepass")) if isinstance(part, PackedJson) else part


def weight_of(text: str) -> int:
    """Bytes that the JSON takes, once it is read."""
    return len(text) * (1 if text.isascii() else _A_CHARACTER) + _A_VALUE * _values(text)


def excess_of(metadata: Json, spec: object, *, stays_read: bool) -> int:
    """Bytes that count of an object, with the spec as it is kept: what is over `FREE`. `stays_read`: it is kept as it
    is read, too; else, of what is kept as text, what is over `SMALL` once it is read."""
    lists = weight_of_metadata(metadata)
    if not isinstance(spec, PackedJson):
        return max(0, lists + _as_kept(spec) - FREE)
    return max(0, lists + len(spec.text) - FREE, lists + spec.weight - (FREE if stays_read else SMALL))


def _as_kept(spec: object) -> int:
    if not isinstance(spec, Mapping):
        return 0
    template = spec.get("template")
    pods = template.get("spec") if isinstance(template, Mapping) else None
    if not isinstance(template, Mapping) or not isinstance(pods, Packed):
        return weight_of(_text(spec))
    return weight_of(_text({**spec, "template": {**template, "spec": None}})) + pods.weight


def cut_to_size(obj: Json) -> Json:
    """A ConsumerGroup to be kept, whoever wrote it: without its spec, if that is too large, and without what only the
    API server needs. The pods of a small one are packed: they are read once for each version."""
    many = too_many(obj["metadata"])
    without = ("managedFields", *(_LISTS if many else ()))
    metadata = {key: value for key, value in obj["metadata"].items() if key not in without}
    spec = obj.get("spec")
    if isinstance(spec, (CutSpec, PackedJson)) and not many:
        return {**obj, "metadata": metadata}
    if problem := too_large(spec) or many:
        return {**obj, "metadata": metadata, "spec": CutSpec(naming(spec or {}), problem)}
    if not isinstance(spec, Mapping):
        return {**obj, "metadata": metadata}
    kept = packed(spec, naming(spec))
    return {**obj, "metadata": metadata, "spec": kept if isinstance(kept, PackedJson) else pods_packed(kept)}


def cut_selecting(spec: object, kept: Iterable[str]) -> object:
    """Of a fleet or a campaign, to be kept: of a spec that is too large no more than these fields; what is not small is
    kept as its text, where these can be looked up."""
    if not isinstance(spec, Mapping):
        return spec
    shown = {key: spec[key] for key in kept if key in spec}
    problem = too_large(spec, SELECT_BY_LESS)
    return CutSpec(shown, problem) if problem else packed(spec, shown)


def without_lists(metadata: Json) -> Json:
    """What names an object, without what may have many entries."""
    return {key: value for key, value in metadata.items() if key not in _LISTS}


def weight_of_metadata(metadata: Json) -> int:
    """Bytes, once it is read, of what may have many entries."""
    return weight_of(_text({key: metadata[key] for key in _LISTS if key in metadata}))


def too_many(metadata: Json) -> str:
    """Why it is not read, with as many entries."""
    for field in _LISTS:
        found = metadata.get(field)
        if isinstance(found, Collection) and not isinstance(found, str) and len(found) > MOST_ENTRIES:
            return f"metadata.{field} has {len(found):,} entries: keep it to {MOST_ENTRIES:,}."
    return ""


def too_large(spec: object, instead: str = "") -> str:
    """Why it is not read; a YAML file may have dates in it, which are refused by their fields."""
    if isinstance(spec, CutSpec):
        return spec.problem
    if isinstance(spec, PackedJson):
        return ""  # it was looked at before it was packed
    text = _text(spec)
    into = "{} go into a ConfigMap".format
    if (size := len(text.encode(errors="replace"))) > LARGEST_SPEC:
        return f"spec has {size:,} bytes: keep it to {LARGEST_SPEC:,}; {instead or into('long texts')}."
    if (values := _values(text)) > MOST_VALUES:
        return f"spec has some {values:,} values: keep it to {MOST_VALUES:,}; {instead or into('long lists')}."
    return ""


def naming(spec: Json) -> dict[str, Any]:
    return {key: spec[key] for key in _NAMING if key in spec}


def _values(text: str) -> int:
    return sum(map(text.count, "[{,"))


def _text(part: object) -> str:
    return json.dumps(part, ensure_ascii=False, default=str, separators=(",", ":"))
