"""Everything that can go wrong in the sandbox, as sentences for the person who typed the command.

SandboxError                 something failed; what, what it means, what to do
├── MissingPrerequisite      this machine lacks something that the sandbox cannot bring along
├── CommandFailed            a program that the sandbox called ended with an error
├── NotUp                    the command needs a part of the sandbox that is not running
├── StartFailed              a process did not become ready: it died, or its deadline passed
└── LeftBehind               `down` could not remove all that `up` had made
"""

from __future__ import annotations

from collections.abc import Sequence


class SandboxError(Exception):
    """A failure that a person can read: `what` happened, and optionally `todo` and the `log`'s end."""

    def __init__(self, what: str, *, todo: str = "", log: Sequence[str] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.todo = todo
        self.log = tuple(log)

    def __str__(self) -> str:
        parts = [self.what]
        if self.log:
            parts.append("The end of its log:\n" + "\n".join(f"    {line}" for line in self.log))
        if self.todo:
            parts.append(self.todo)
        return "\n".join(parts)


class MissingPrerequisite(SandboxError):
    """This machine lacks something that the sandbox cannot bring along."""


class CommandFailed(SandboxError):
    """A program that the sandbox called ended with an error."""


class NotUp(SandboxError):
    """The command needs a part of the sandbox that is not running."""


class StartFailed(SandboxError):
    """A process did not become ready."""


class LeftBehind(SandboxError):
    """Something that `up` had made is still there after `down`."""
