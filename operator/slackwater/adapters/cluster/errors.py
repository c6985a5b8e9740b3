"""What can go wrong between the operator and the Kubernetes API.

SlackwaterError
└── ClusterFailed
    ├── ClusterUnreachable   no answer, or none that can be used now: try again
    ├── Conflict             the object has changed since it was looked at: look again
    └── ClusterRefused       an answer, and it is no: forbidden, invalid
        ├── NotLetIn         the API server does not know who asks
        ├── Forbidden        it knows, and who asks may not do this
        ├── AnswerTooLarge   an answer has more bytes than are read
        ├── KindMissing      the API server does not know this kind of object: its CRD is not installed
        └── WebhookFailed    an admission webhook that it has to ask does not answer
"""

from __future__ import annotations

from slackwater.api.errors import SlackwaterError


class ClusterFailed(SlackwaterError):
    """The Kubernetes API did not do what it was asked."""


class ClusterUnreachable(ClusterFailed):
    """The API server did not answer, or is not ready to."""


class Conflict(ClusterFailed):
    """Somebody else was quicker; what was decided was decided about a world that is gone."""


class ClusterRefused(ClusterFailed):
    """The API server answered with a refusal; asking again changes nothing until somebody acts."""


class NotLetIn(ClusterRefused):
    """The credentials are wrong, or have expired."""


class Forbidden(ClusterRefused):
    """The credentials are good, but not for this."""


class AnswerTooLarge(ClusterRefused):
    """It has more bytes than are read of one: somebody wrote an object of that size."""


class KindMissing(ClusterRefused):
    """There is no such kind of object in this cluster."""

    def __init__(self, words: str) -> None:
        super().__init__(f"{words}: install slackwater's CRDs, or its chart")
        self.words = words
        """Without what to do."""


class WebhookFailed(ClusterRefused):
    """An admission webhook does not answer, and the API server writes nothing without it."""
