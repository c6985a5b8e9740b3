"""Of what is played with several values, the fast tests take the first one; the others belong to the explorations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_of(*values: Any) -> list[Any]:
    """`values`, each one or a tuple, for `pytest.mark.parametrize`: all but the first are slow."""
    return [values[0], *(pytest.param(*_tuple(value), marks=pytest.mark.slow) for value in values[1:])]


def _tuple(value: Any) -> Iterable[Any]:
    return value if isinstance(value, tuple) else (value,)
