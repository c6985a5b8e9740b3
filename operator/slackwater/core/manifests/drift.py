"""Does an object of the API still hold what we applied? What we do not set is the API server's to fill in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Final

_PLAIN: Final = (str, int, float, NoneType)
"""Most of what is compared: asked first, since asking whether something is a Mapping takes ten times as long."""


def holds(live: Any, wanted: Any) -> bool:
    """Whether `live` has every value of `wanted`; lists of named things are compared by name.

    The API server writes some values in another way (`1000m` as `1`), so a No may be wrong. Who asks must have another
    proof of its own last write (`RolloutMemory.revisions`, `Workload.as_written`): applying once more parks a step.
    """
    if isinstance(wanted, _PLAIN):
        return bool(live == wanted) or (not wanted and wanted in (None, "") and live in (None, ""))
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(holds(live.get(key), value) for key, value in wanted.items())
    return _holds_list(live, wanted)


def _holds_list(live: Any, wanted: Sequence[Any]) -> bool:
    if not isinstance(live, Sequence) or isinstance(live, str):
        return not wanted and live is None
    if all(isinstance(item, Mapping) and "name" in item for item in [*live, *wanted]):
        by_name = {item["name"]: item for item in live}
        return all(item["name"] in by_name and holds(by_name[item["name"]], item) for item in wanted)
    return len(live) == len(wanted) and all(map(holds, live, wanted))
