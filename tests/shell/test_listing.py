"""When a list that failed is due again, and when it is no use."""

from __future__ import annotations

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable, Forbidden
from slackwater.shell.listing import REFUSED_FOR_S, Failing


def test_who_fails_again_waits_longer_and_never_long() -> None:
    failing, waits = Failing(), []
    for _ in range(8):
        failing.failed(ClusterUnreachable("no answer"))
        waits.append(failing.again_s)
    assert waits == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_only_what_is_refused_all_the_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("slackwater.shell.listing.time.monotonic", lambda: clock[0])
    failing, refused = Failing(), Forbidden("forbidden (403)")
    failing.failed(refused)
    clock[0] = REFUSED_FOR_S - 1
    failing.failed(ClusterUnreachable("no answer"))
    clock[0] = REFUSED_FOR_S + 1
    failing.failed(refused)
    clock[0] = 2 * REFUSED_FOR_S + 1
    with pytest.raises(Forbidden):
        failing.failed(refused)
