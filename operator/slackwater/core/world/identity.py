"""Instance ids: the ordinal in one."""

from __future__ import annotations


def ordinal_of(instance_id: str | None, name: str) -> int | None:
    """The ordinal in `<name>-<ordinal>` or `<name>-<ordinal>-<thread>` (F9); None for an id that is not ours."""
    if instance_id is None or not instance_id.startswith(f"{name}-"):
        return None
    ordinal, dash, thread = instance_id.removeprefix(f"{name}-").partition("-")
    if dash and not thread.isdecimal():
        return None
    return int(ordinal) if ordinal.isdecimal() and str(int(ordinal)) == ordinal else None
