"""Instance ids, in both directions: the one that a pod's member is given, and the ordinal in one (F9)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

T = TypeVar("T")

_NUMBER: Final = re.compile("0|[1-9][0-9]{0,9}")
"""Without leading zeros, in ASCII: other digits are somebody else's id. Ordinals are 32-bit numbers; and any member may
choose its id, so that it may be longer than `int` takes."""


def instance_id(group: str, ordinal: int | str, thread: int | None = None) -> str:
    """The id that a pod's member has: `<group>-<ordinal>`, with `-<thread>` where each thread of it joins.

    Never the pod's name: in every second warm rollout that is `<group>-alt-<ordinal>`. `ordinal`: as a text where the
    kubelet puts it in.
    """
    return f"{group}-{ordinal}" if thread is None else f"{group}-{ordinal}-{thread}"


def ordinal_of(instance_id: str | None, name: str) -> int | None:
    """The ordinal in `<name>-<ordinal>` or `<name>-<ordinal>-<thread>`; None for an id that is not ours."""
    if instance_id is None or not instance_id.startswith(f"{name}-"):
        return None
    ordinal, dash, thread = instance_id[len(name) + 1 :].partition("-")
    return number_in(ordinal) if not dash or number_in(thread) is not None else None


def number_in(text: str) -> int | None:
    """An ordinal or a thread's number, written as Kubernetes and clients write it; None for any other text."""
    return int(text) if _NUMBER.fullmatch(text) else None


def by_ordinal(known: Mapping[str, T], ordinal_of: Callable[[str], int | None]) -> Mapping[int, Mapping[str, T]]:
    """What is known by instance id, for each ordinal; what is known of ids that are not ours is left out."""
    found: defaultdict[int, dict[str, T]] = defaultdict(dict)
    for key, value in known.items():
        if (ordinal := ordinal_of(key)) is not None:
            found[ordinal][key] = value
    return found
