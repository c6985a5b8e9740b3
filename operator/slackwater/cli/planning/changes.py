"""What differs between two objects, field by field. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Json = Mapping[str, Any]

NOT_SET: Final = "not set"


@dataclass(frozen=True, slots=True)
class Change:
    field: str
    """Its path, as `spec.template.spec.containers[consumer].image`."""
    before: Any
    """None: not set."""
    after: Any

    @property
    def words(self) -> str:
        return f"{in_words(self.before)} → {in_words(self.after)}"


def in_words(value: Any) -> str:
    if value is None:
        return NOT_SET
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def changes(before: Any, after: Any, path: str) -> Iterator[Change]:
    """Down to single values. What is null is not set; items of lists that have names are told apart by them."""
    if _is_map(before) and _is_map(after) and (before or after):
        for key in {**(before or {}), **(after or {})}:
            yield from changes((before or {}).get(key), (after or {}).get(key), _joined(path, key))
    elif _is_named(before) and _is_named(after) and (before or after):
        yield from _in_lists(before or (), after or (), path)
    elif before != after:
        yield Change(path, before, after)


def _in_lists(before: Sequence[Json], after: Sequence[Json], path: str) -> Iterator[Change]:
    old, new = ({item["name"]: item for item in items} for items in (before, after))
    for name in {**old, **new}:
        one, other = (None if item is None else {**item, "name": None} for item in (old.get(name), new.get(name)))
        found = list(changes(one, other, f"{path}[{name}]"))
        if not found and (one is None or other is None):  # nothing is said of it but its name
            found = [Change(f"{path}[{name}]", *(None if item is None else {"name": name} for item in (one, other)))]
        yield from found
    kept = [[name for name in names if name in old and name in new] for names in (old, new)]
    if kept[0] != kept[1]:
        yield Change(f"{path}, their order", kept[0], kept[1])


def _joined(path: str, key: str) -> str:
    if "." in key or "/" in key:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _is_map(value: Any) -> bool:
    return value is None or isinstance(value, Mapping)


def _is_named(value: Any) -> bool:
    """A list whose items have names of their own."""
    if value is None:
        return True
    if not isinstance(value, list | tuple) or not all(isinstance(each, Mapping) and "name" in each for each in value):
        return False
    return len({each["name"] for each in value}) == len(value)
