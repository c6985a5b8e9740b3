"""Structured logs: JSON in a cluster, readable in a terminal. Kopf's and the libraries' records take the same way."""

from __future__ import annotations

import io
import logging
import sys
from typing import TextIO

import structlog

from slackwater.core.decision.words import harmless
from slackwater.shell.settings import Settings


def configure(settings: Settings) -> None:
    """Once, at the start of the process."""
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    last: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        else [_shown, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=_plain_traceback)]
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for chatty in ("aiohttp.access", "kopf.objects"):  # kafka-python's are set where it is used
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _shown(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """A terminal obeys nothing of what others wrote; what is no text is rendered by `repr`, which escapes as well."""
    return {key: harmless(value) if isinstance(value, str) else value for key, value in event.items()}


def _plain_traceback(out: TextIO, error: structlog.typing.ExcInfo) -> None:
    """Decorated ones show local variables, credentials among them, and take minutes for kopf's."""
    plain = io.StringIO()
    structlog.dev.plain_traceback(plain, error)
    out.write(harmless(plain.getvalue()))
