"""How far apart times of several clocks may lie, and how long things take: each number with its reason.

The rules that compare such times are here as well, over plain numbers: `certainly_before`, `latest_join`,
`backoff_left_s`, `release_again_s`, `restart_again_s`.

When is a process known to have been refused (F13)? It asks for its instance id about `takes_s` after its start, as long
as its last run took to join. Both of these started while a dead member held the id:

    a dead member has the id   ████████████████████████│ free_at
    A   started ───takes_s───► asks                    │          refused: certain 3 s after back_by
    B            started ────────takes_s───────────────┼──► asks  let in, unless it was quicker than the last time:
                                                       │          refused is certain 6 s after back_by

    back_by = the later of free_at and started + twice takes_s

A process of which `takes_s` is not known gets 10 s after the later of free_at and its pod's becoming Ready; while its
pod is not Ready, it gets `rejoinTimeout`.
"""

from __future__ import annotations

from typing import Final

CLOCKS_DIFFER_S: Final = 2.0
"""The kubelet's clock, rounded to whole seconds, may differ from the operator's by that much."""

NO_TIME_FOR_A_CRASH_S: Final = 3.0
"""Between two looks this close no process can crash, start, join and end, and its pod be replaced by one that starts.
A group in motion is looked at every second."""
LOOKS_CLOSE_S: Final = 6.0
"""Between looks at a group in motion, which come each second, where a broker is busy: it has 5 s for an answer."""
SESSION_MARGIN_S: Final = 5.0
"""The broker may end a session late, and the kubelet's clock may differ from the operator's."""
CONSUMER_SESSION_TIMEOUT_S: Final = 60.0
"""KIP-848 sessions are set on the broker, where they are at most this long by default (F23)."""

RELEASE_AGAIN_S: Final = 2.0
"""An id that is held although it was released is released again: the request was lost, or a process that nobody knows
of took the id back. The wait doubles with each try."""
RELEASE_DOUBLES: Final = 5
"""The wait stops doubling there, at 64 s: about as long as a session, which frees the id without us."""

SLOWER_BY: Final = 2.0
"""A process that was not refused takes at most so many times as long as its last run took to join."""
JOINS_LATER_S: Final = 3.0
"""And so much longer, where it asked for the id, at its last run's pace, while that was still held."""
MAY_JOIN_LATER_S: Final = 6.0
"""The same where, at that pace, it asks when the id is free already: it was refused only if it was quicker today."""
TAKES_AT_MOST_S: Final = 60.0
"""A longer time to join says that we began to watch late; then it counts as unknown."""
JOINS_WITHIN_S: Final = 10.0
"""From when its pod became Ready, where nothing is known of how long the process takes."""

RESTARTS_APART_S: Final = 30.0
"""Between two restarts of one pod for refusals. It doubles each time, as the kubelet's back-off does, which a new pod
evades."""
REFUSAL_FORGOTTEN_S: Final = 600.0
"""A pod that was not restarted for so long counts from one again; the kubelet forgets after as long."""
BACKOFFS_S: Final = (10.0, 20.0, 40.0, 80.0, 160.0, 300.0)
"""The kubelet's waits, one after the other, from the end of a run that ended soon after the one before."""
NEW_POD_TAKES_S: Final = 4.0
"""A new pod is quicker than a container whose back-off lasts longer than this."""


def certainly_before(earlier: float, moment: float, now: float, reported_at: float | None = None) -> bool:
    """Whether `earlier`, by our clock, lies before `moment`, by another one; never if that is ahead of ours.

    `reported_at`: when we learned by our clock that `moment` had come. It cannot have come later than that.
    """
    latest = moment if reported_at is None else min(moment, reported_at)
    return moment <= now + CLOCKS_DIFFER_S and earlier < latest - CLOCKS_DIFFER_S


def latest_join(
    started_at: float, free_at: float, takes_s: float | None, ready_at: float | None, rejoin_timeout_s: float
) -> float:
    """The latest moment at which a process is in the group that was let in; `ready_at` is None for one not Ready."""
    if takes_s is not None and takes_s <= TAKES_AT_MOST_S:
        asked_while_held = started_at + takes_s < free_at
        later_s = JOINS_LATER_S if asked_while_held else MAY_JOIN_LATER_S
        return max(free_at, started_at + SLOWER_BY * takes_s) + later_s
    if ready_at is not None:
        return max(free_at, ready_at) + JOINS_WITHIN_S
    return max(free_at, started_at) + rejoin_timeout_s


def backoff_left_s(waited_s: float) -> float:
    """Seconds that the kubelet still makes a container wait, if it has waited so long: to the end of the next wait."""
    return next((backoff_s - waited_s for backoff_s in BACKOFFS_S if backoff_s > waited_s), 0.0)


def release_again_s(tries: int) -> float:
    """Seconds after that many tries until the next one is due."""
    wait_s: float = RELEASE_AGAIN_S * 2 ** min(tries - 1, RELEASE_DOUBLES)
    return wait_s


def restart_again_s(times: int) -> float:
    """Seconds after that many restarts of a pod in a row until the next one may come."""
    wait_s: float = min(RESTARTS_APART_S * 2 ** (times - 1), REFUSAL_FORGOTTEN_S)
    return wait_s
