from __future__ import annotations

import pytest

from slackwater.core.members import crashing


@pytest.fixture(autouse=True)
def _as_soon_as_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ended is waited for no longer than until it is back. For how long one has run the model does not
    know: its times only come before or after each other, and what waits for nothing else would wait for ever."""
    monkeypatch.setattr(crashing, "LONGER_BY", 0.0)
