"""The words and the looks of causes, in the order of their lanes. Pure.

Each cause has a lane and a name of its own, so the colour only repeats what the place already says. A cause that this
version does not know gets the last look, under its own name.
"""

from __future__ import annotations

from typing import Final

from slackwater.pipeline.report.model import Kind

LOOKS: Final = {
    Kind.RESTART: {
        "Rollout": "blue",
        "Crash": "red",
        "OutOfMemory": "purple",
        "Evicted": "orange",
        "NodeLost": "ink",
        "Deleted": "green",
        "ScaledAway": "sky",
        "Unknown": "grey",
    },
    Kind.REBALANCE: {
        "Restart": "blue",
        "Crash": "red",
        "Foreign": "purple",
        "Scale": "sky",
        "Upgrade": "green",
        "Unknown": "grey",
    },
    Kind.AUDITED: {
        "MemberJoined": "sky",
        "MemberLeft": "orange",
        "StaticReturn": "blue",
        "Cooperative": "grey",
        "Assignor": "green",
        "Metadata": "purple",
        "Unknown": "grey",
    },
}

WORDS: Final = {
    "OutOfMemory": "out of memory",
    "NodeLost": "node lost",
    "ScaledAway": "scaled away",
    "Foreign": "member that is not ours",
    "MemberJoined": "member joined",
    "MemberLeft": "member left",
    "StaticReturn": "static member returned",
    "Cooperative": "second step of a cooperative one",
}

HEADINGS: Final = {
    Kind.RESTART: "Restarts",
    Kind.REBALANCE: "Rebalances the operator saw",
    Kind.AUDITED: "Rebalances in Kafka's own log",
}


def look_of(kind: Kind, cause: str) -> str:
    return LOOKS[kind].get(cause, "grey")


def words_of(cause: str) -> str:
    return WORDS.get(cause) or cause.lower() or "unknown"


def rank_of(kind: Kind, cause: str) -> tuple[int, str]:
    known = list(LOOKS[kind])
    return (known.index(cause) if cause in known else len(known), cause)
