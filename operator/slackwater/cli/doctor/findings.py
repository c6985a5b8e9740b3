"""What a check comes to: one line each, and whether all is well. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    mark: Mark
    subject: str
    """What was looked at, in a few words."""
    message: str
    """What was found and what it means; with NOT_CHECKED why it could not be looked at."""
    remedy: str = ""
    """What to do about it, as an imperative; empty where there is nothing to do."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A fact that could not be had; `why` completes "not checked, because ..."."""

    why: str


def not_checked(subject: str, why: Unread, remedy: str = "") -> Finding:
    return Finding(Mark.NOT_CHECKED, subject, f"not checked, because {why.why}", remedy)


def is_well(findings: Iterable[Finding]) -> bool:
    """Nothing is missing. A warning and what could not be checked do not count."""
    return all(finding.mark is not Mark.MISSING for finding in findings)
