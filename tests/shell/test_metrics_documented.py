"""docs/metrics.md and the registry say the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from slackwater.shell.operator import Operator
from slackwater.shell.settings import Settings
from tests.shell.fakes import FakeApi

PAGE: Final = Path(__file__).parents[2] / "docs" / "metrics.md"
_ROW: Final = re.compile(r"^\| `(\w+)` \| (\w+)[^|]*\| ([^|]*)\|", re.MULTILINE)


def documented() -> dict[str, str]:
    """Name → type."""
    return {name: kind for name, kind, _ in _ROW.findall(PAGE.read_text())}


def published(folder: Path) -> dict[str, str]:
    api: Any = FakeApi()
    operator = Operator(api, Settings.model_validate({"telemetry": f"file:{folder}"}))
    families = operator.metrics.families()
    return {f.name + ("_total" if f.type == "counter" else ""): f.type for f in families}


def test_every_metric_is_documented_and_every_documented_one_is_there(tmp_path: Path) -> None:
    assert documented() == published(tmp_path)
