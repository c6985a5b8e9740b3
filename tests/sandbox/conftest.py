"""A sandbox layout in a temporary folder, for tests that need no root and start nothing real."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import processes
from sandbox.layout import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Iterator[Layout]:
    """Made and empty; whatever a test starts in it ends with the test."""
    made = Layout(cache=tmp_path / "cache", run=tmp_path / "run")
    made.make()
    yield made
    for name in processes.names(made):
        processes.stop(made, name, deadline_s=1)
