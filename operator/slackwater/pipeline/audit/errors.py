"""What the decoder says of bytes that it cannot use. The fold turns it into a row of `audit/quarantine`."""

from __future__ import annotations

from enum import StrEnum

from slackwater.pipeline.errors import PipelineError


class Reason(StrEnum):
    """Why a record, or a part of one, is in quarantine."""

    NO_KEY = "NoKey"
    TRUNCATED = "Truncated"
    MALFORMED = "Malformed"
    FUTURE_VERSION = "FutureVersion"


class Undecodable(PipelineError):
    """Bytes that are not what their place says. Never leaves the audit: it becomes a row."""

    def __init__(self, reason: Reason, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}")
