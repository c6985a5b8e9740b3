"""How deep an object may be nested: the API server takes 10,000 levels where a schema keeps unknown fields, as that of
a pod template does, and Python stops at 1,000, with an error that nobody who reads JSON expects."""

from __future__ import annotations

import sys
from typing import Final

DEEPEST: Final = 25_000
"""Of calls of Python: kopf copies each object that it sees, by two calls for a level of it. Of the json module's calls,
which are not Python's, so many need half of the 8 MiB that a stack has."""


def allow_deep_objects() -> None:
    """First thing in each process that reads objects: one object must not end it for all others."""
    sys.setrecursionlimit(DEEPEST)
