"""The errors that slackwater raises on purpose.

    SlackwaterError
    └── InvalidSpec      an object that the API server would have refused, or a file that was never shown to one

Each layer hangs its own branches below `SlackwaterError`, so that one `except` at the edge (the CLI, a kopf handler)
turns whatever went wrong into a sentence for people.
"""

from __future__ import annotations


class SlackwaterError(Exception):
    """Something went wrong that slackwater foresaw; its text is meant for people."""


class InvalidSpec(SlackwaterError):
    """A resource that breaks its own rules.

    `problems` has one sentence for each: the path, what is wrong there, and what to do about it.
    """

    def __init__(self, subject: str, problems: tuple[str, ...]) -> None:
        self.subject = subject
        self.problems = problems
        super().__init__(f"{subject} is not valid. " + " ".join(problems))
