"""File descriptors: a process begins with a thousand, as a rule, and each broker of each connection takes one."""

from __future__ import annotations

import resource

import structlog

_log = structlog.get_logger(__name__)


def take_all() -> None:
    """Raise the process's limit to what the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError) as error:  # some systems name a limit that they do not grant
        _log.warning("descriptors_not_raised", limit=soft, problem=str(error))
