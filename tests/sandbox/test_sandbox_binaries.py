from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import binaries, toolchain
from sandbox.layout import Layout


def test_two_clones_may_build_the_same_tool_at_once(layout_in: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = layout_in.binaries / "tool-1.0"
    monkeypatch.setattr(toolchain, "go", lambda layout: _go(layout_in, theirs=folder))

    binaries._build(layout_in, folder, ["build", "{out}"], "tool 1.0", "a moment", layout_in.cache)

    assert [path.read_text() for path in folder.iterdir()] == ["theirs\n"]
    assert list(layout_in.binaries.glob("building-*")) == []


@pytest.fixture
def layout_in(tmp_path: Path) -> Layout:
    made = Layout(cache=tmp_path / "cache", run=tmp_path / "run")
    made.make()
    return made


def _go(layout: Layout, theirs: Path) -> Path:
    """Builds a tool; and while it does, the other clone comes to its end."""
    script = layout.cache / "go"
    script.write_text(f'#!/bin/sh\necho ours >"$2/tool"\nmkdir {theirs}\necho theirs >{theirs}/tool\n')
    script.chmod(0o755)
    return script
