"""How deep an object may be nested: the API server takes 10,000 levels where a schema keeps unknown fields, as that of
a pod template does, and Python stops at 1,000, with an error that nobody who reads JSON expects."""

from __future__ import annotations

import sys
from typing import Final

DEEPEST: Final = 12_000
"""Of calls of Python: what 10,000 levels take, and some; the json module needs less than 2 MiB of stack for them."""


def allow_deep_objects() -> None:
    """First thing in each process that reads objects: one object must not end it for all others."""
    sys.setrecursionlimit(DEEPEST)
