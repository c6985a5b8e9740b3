"""The edge: whatever goes wrong becomes one sentence on standard error, and an exit code.

1 something failed; 2 the command line was mistyped; 3 what was waited for took too long; 130 interrupted. With
SLACKWATER_DEBUG set (or `--debug`) the traceback comes as well.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable
from typing import Final

from pydantic import ValidationError
from typer import Abort
from typer.exceptions import TyperException

from slackwater.api.errors import InvalidSpec, SlackwaterError
from slackwater.api.sentences import remedy
from slackwater.cli.errors import NotReached
from slackwater.core.decision.words import harmless
from slackwater.terminal import one_line, say

DEBUG_VARIABLE: Final = "SLACKWATER_DEBUG"
INTERRUPTED: Final = 130
FAILED: Final = 1
NOT_REACHED: Final = 3


def run(command_line: Callable[[], int | None]) -> int:
    """Run it, and return the exit code."""
    try:
        return command_line() or 0
    except TyperException as error:
        return _complain(usage_sentence(error), error, error.exit_code)
    except InvalidSpec as error:
        return _complain(invalid_sentence(error), error, FAILED)
    except NotReached as error:
        return _complain(str(error), error, NOT_REACHED)
    except SlackwaterError as error:
        return _complain(str(error), error, FAILED)
    except BrokenPipeError:
        # Whoever reads has enough (`| head`). Python would complain of the pipe once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (KeyboardInterrupt, Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: a bug of ours is to look like one, not like a wall of text
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        hint = f"run it again with {DEBUG_VARIABLE}=1 and report what it prints"
        return _complain(f"this is a mistake in slackwater, not in what you typed ({what}): {hint}", error, FAILED)


def debugging() -> bool:
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")


def set_up_logging() -> None:
    """Libraries say nothing, unless one is looking for a mistake: what they have to say comes back as an error."""
    if not debugging():
        logging.getLogger().addHandler(logging.NullHandler())
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Harmless(logging.BASIC_FORMAT))
    logging.basicConfig(level=logging.DEBUG, handlers=[handler])


class _Harmless(logging.Formatter):
    """What libraries log is other people's text as well."""

    def format(self, record: logging.LogRecord) -> str:
        return harmless(super().format(record))


def usage_sentence(error: TyperException) -> str:
    """What was mistyped, and where to read how it is typed."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "slackwater"
    what = one_line(_said(error)).rstrip(".")
    what, _, guess = what.partition(". Did you mean ")
    return f"{what}: did you mean {guess}" if guess else f"{what}: see {where} --help"


def _said(error: TyperException) -> str:
    """As typer says it, but for pydantic's words, with which it checks numbers."""
    said, cause = error.format_message(), error.__cause__
    if not isinstance(cause, ValidationError):
        return said
    details = cause.errors()[0]
    if details["type"] == "value_error":
        return said.replace("Value error, ", "")
    return said.replace(error.message, f"it cannot be {details['input']!r}: {remedy(details)}")


def invalid_sentence(error: InvalidSpec) -> str:
    return f"{error.subject} is not valid: " + "; ".join(problem.rstrip(".") for problem in error.problems)


def _complain(sentence: str, error: BaseException, code: int) -> int:
    if debugging():
        say("".join(traceback.format_exception(error)).rstrip("\n"), err=True)
    line = one_line(sentence)
    sys.stderr.write(f"Error: {line}{'' if line.endswith(('.', '?', '!')) else '.'}\n")
    return code
