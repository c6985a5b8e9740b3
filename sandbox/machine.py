"""What `up` changes on the machine outside of the sandbox's own folders and namespaces, and how it is put back.

The record lies in the cache, not in the run folder: even if that is lost, the settings of before are known. It is
good for one boot of the machine, because a restart puts the kernel's settings back by itself.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

from sandbox.layout import Layout
from sandbox.node import HARD_CODED

SYSCTLS = Path("/proc/sys")
BOOT_ID = SYSCTLS / "kernel/random/boot_id"

# The kubelet sets these for the whole machine.
CHANGED_SYSCTLS = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)


class Before(TypedDict):
    """The machine before the first `up`."""

    boot: str
    sysctls: dict[str, str]
    made_folders: list[str]


def note(layout: Layout) -> None:
    """Write down what the machine looks like, unless that was done already since it was started."""
    if _noted(layout) is not None:
        return
    present = [name for name in CHANGED_SYSCTLS if (SYSCTLS / name).exists()]
    record: Before = {
        "boot": BOOT_ID.read_text().strip(),
        "sysctls": {name: (SYSCTLS / name).read_text().strip() for name in present},
        "made_folders": [str(folder) for folder in HARD_CODED.values() if not folder.exists()],
    }
    _file(layout).write_text(json.dumps(record, indent=2) + "\n")


def put_back(layout: Layout) -> None:
    """Set the kernel's settings back, and remove the folders that were not there before."""
    record = _noted(layout)
    if record is None:
        return
    for name, value in record["sysctls"].items():
        (SYSCTLS / name).write_text(f"{value}\n")
    for folder in record["made_folders"]:
        with suppress(OSError):  # someone else has put something into it, or removed it
            Path(folder).rmdir()
    _file(layout).unlink()


def _noted(layout: Layout) -> Before | None:
    try:
        record: Before = json.loads(_file(layout).read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return record if record.get("boot") == BOOT_ID.read_text().strip() else None


def _file(layout: Layout) -> Path:
    return layout.cache / "machine-before.json"
