"""The picture of one event's way, from the cluster's watch to the status: the steps of a pass, and where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.docs.drawing import CALM, MOVES, PLAIN, WAITS, arrow, box, picture, text

_WIDE: Final = 205
_HIGH: Final = 98


@dataclass(frozen=True, slots=True)
class Step:
    title: str
    lines: tuple[str, ...]
    place: str
    """The module or folder, below operator/slackwater."""
    fill: str = PLAIN


COMING: Final = (
    Step(
        "A change is seen",
        ("kopf's watch brings a version", "of an object; it is translated,", "no more"),
        "shell/handlers.py",
    ),
    Step("It is kept", ("the newest version of each", "object; an older one never", "replaces it"), "shell/store.py"),
    Step("Its group waits", ("once, however much happens", "meanwhile; one worker a group"), "shell/queue.py"),
    Step("A worker takes it", ("a pass that fails comes back,", "later each time"), "shell/operator.py"),
)
THINKING: Final = (
    Step(
        "Observe",
        ("both halves, the cluster's and", "Kafka's, make a World: from", "what is known, for nothing"),
        "shell/gathering.py",
    ),
    Step("Decide", ("plan(world) → Decision:", "memory, act, hold, refusal,", "notes"), "core/plan", CALM),
    Step(
        "Look again",
        ("anything to do? All is read", "from the source of truth, and", "decided again"),
        "shell/gathering.py",
    ),
)
DOING: Final = (
    Step(
        "Remember",
        ("the status, with the memory,", "on exactly the version that", "was decided about"),
        "core/status",
        WAITS,
    ),
    Step("Act", ("at most one act, refused if", "the world has moved on"), "shell/acting.py", MOVES),
    Step("Report", ("Events, metrics, telemetry;", "and when to look again"), "shell/events.py"),
)


def drawing() -> str:
    """Three rows; the second and third are one pass, and what it writes comes back as the next event."""
    parts = [box(20, 160, 890, 330, "#f3f6f9", dashed=True), text(34, 184, "one pass over one group", 14, bold=True)]
    parts.append(text(560, 184, "shell/reconciler.py", 11, mono=True))
    for y, left, row in ((30, 20, COMING), (200, 130, THINKING), (360, 130, DOING)):
        for i, step in enumerate(row):
            x = left + i * (_WIDE + 23)
            parts += [box(x, y, _WIDE, _HIGH, step.fill), text(x + 12, y + 21, step.title, 14, bold=True)]
            parts += [text(x + 12, y + 39 + 15 * j, line, 11) for j, line in enumerate(step.lines)]
            parts.append(text(x + 12, y + 89, step.place, 10, mono=True))
            if i:
                parts.append(arrow((x - 23, y + 49), (x - 2, y + 49)))
    parts += [
        arrow((806, 128), (806, 146), (232, 146), (232, 198)),
        arrow((688, 298), (688, 330), (232, 330), (232, 358)),
        text(460, 325, "only if there is something to do", 11, centred=True),
        arrow((460, 298), (460, 312), (110, 312), (110, 409), (128, 409), dashed=True),
        text(30, 306, "nothing to do", 11),
        box(20, 515, 430, 40, PLAIN),
        text(235, 540, "the API server", 13, centred=True),
        box(480, 515, 430, 40, PLAIN),
        text(695, 540, "Kafka", 13, centred=True),
        arrow((200, 458), (200, 513)),
        arrow((420, 458), (420, 513)),
        arrow((520, 458), (520, 513)),
        arrow((18, 535), (8, 535), (8, 79), (18, 79)),
    ]
    return picture("One event's way, from the cluster's watch to the status and back", 930, 575, parts)
