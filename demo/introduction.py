"""What the person who waits is told before the demo begins. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from demo import modes
from demo.learning.history import AWAY_FOR_S, LONGEST_SESSION_S
from demo.modes import LEARNING, Mode

_SET_UP_S = 60


def sentences(chosen: Sequence[Mode], *, keep: bool) -> list[str]:
    about_min = (sum(mode.expected_s for mode in chosen) + _SET_UP_S) / 60
    measured = [mode for mode in chosen if not mode.learns]
    after = "It is all left up afterwards." if keep else "What it starts, it takes down again."
    return [
        f"{modes.REPLICAS} consumers that take {modes.START_DELAY_S} s to start share {modes.PARTITIONS} partitions"
        f" with {modes.MESSAGES_PER_PARTITION_S} messages/s in each.",
        *(_on_the_measured(measured) if measured else ()),
        *(_on_learning() if LEARNING in chosen else ()),
        f"About {about_min:.0f} minutes, and some 10 more the very first time, to build the sandbox. {after}",
    ]


def _on_the_measured(measured: Sequence[Mode]) -> list[str]:
    return [
        "A new version is rolled out under that load, or the group is taken to another protocol"
        f" ({modes.JAVA_TWO_BOUNCE.replicas} consumers where they are Java):",
        *(f"  · {mode.title}" for mode in measured),
        f"These groups begin alike: range, session {modes.SESSION_S} s, heartbeat {modes.HEARTBEAT_S} s."
        f" Slackwater: stableFor {modes.STABLE_FOR_S} s, rejoinTimeout {modes.REJOIN_TIMEOUT_S} s"
        f" (Java: {modes.JAVA_REJOIN_TIMEOUT_S} s), onFailure Rollback.",
    ]


def _on_learning() -> list[str]:
    return [
        f"{LEARNING.title}: a KIP-848 group whose session timeout the demo sets to {LONGEST_SESSION_S} s, the most that"
        " brokers take, is rolled out once; each process is killed once, and two pods find no node for"
        f" {AWAY_FOR_S} s. The operator records it, `slackwater pipeline` learns from it, and what it recommends comes"
        " into force.",
    ]
