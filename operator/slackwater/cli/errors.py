"""What a person at the command line can run into, besides what the other layers already have sentences for.

    SlackwaterError
    ├── NotInstalled      the cluster does not know ConsumerGroups
    ├── NoSuchGroup       there is no ConsumerGroup of that name
    └── FileUnusable      a file that is not there, cannot be read, or holds something else

Each is one sentence: what happened, what it means, what to do. The command ends with 1; with 2 for a mistyped command
line, which is typer's to refuse.
"""

from __future__ import annotations

from slackwater.api.errors import SlackwaterError


class NotInstalled(SlackwaterError):
    """The API server has no resource types of slackwater.dev."""


class NoSuchGroup(SlackwaterError):
    """There is no ConsumerGroup of that name in that namespace."""


class FileUnusable(SlackwaterError):
    """A file given on the command line cannot be used."""
