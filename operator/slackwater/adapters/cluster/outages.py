"""An API server that has too much to do, or cannot be reached: for how long, and why, in words."""

from __future__ import annotations

import os
from typing import Any

import aiohttp


def asked_to_wait_s(answer: Any) -> float | None:
    """How long an API server that has too much to do wants to be left alone; it has not done what it was asked for."""
    after = answer.headers.get("Retry-After", "") if answer.status == 429 else ""
    return float(after) if after.isdecimal() else None


def in_words(error: BaseException) -> str:
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return f"{error} is no URL"
    if isinstance(error, aiohttp.ClientConnectorError) and (number := error.os_error.errno or 0) > 0:
        return f"{error.host}:{error.port} cannot be reached ({os.strerror(number).lower()})"
    return str(error) or type(error).__name__
