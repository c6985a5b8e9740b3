"""Names that the operator, the command line and people share: the API group, annotations, labels, the finalizer."""

from __future__ import annotations

from typing import Final

GROUP: Final = "slackwater.dev"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"

FINALIZER: Final = f"{GROUP}/members"
"""Held while members of the group may still stand in the broker's books (F10)."""
FIELD_MANAGER: Final = "slackwater"
"""Who owns the fields that the operator writes by server-side apply."""

# Commands. The value of pause is a free reason ("" does as well), and it holds while the annotation is there. The value
# of every other one is a token: a new value is a new command, and status.commands records the last one obeyed.
PAUSE: Final = f"{GROUP}/pause"
PROMOTE: Final = f"{GROUP}/promote"
ABORT: Final = f"{GROUP}/abort"
RETRY: Final = f"{GROUP}/retry"
RESTART: Final = f"{GROUP}/restart"
APPROVE: Final = f"{GROUP}/approve"
FORCE: Final = f"{GROUP}/force"

RESUME: Final = f"{GROUP}/resume"
"""On a ConsumerFleet that is halted: groups begin again. A token, too."""
URGENT: Final = f"{GROUP}/urgent"
"""While it is on a group, that passes what its fleets' `urgent` names. The value is a free reason."""
CAMPAIGN: Final = f"{GROUP}/campaign"
"""On a group: its changes wait for the order of this FleetCampaign; a name, or namespace/name where it is elsewhere."""

TOKEN_COMMANDS: Final = (PROMOTE, ABORT, RETRY, RESTART, APPROVE, FORCE)

REJOINED: Final = f"{GROUP}/rejoined"
"""A readiness gate of pods, and the condition that fulfils it: the pod's consumer is in the group."""

# Labels and annotations on what the operator makes.
GROUP_LABEL: Final = f"{GROUP}/group"
"""On every object and pod of a ConsumerGroup; the value is the ConsumerGroup's name."""
TEMPLATE_HASH: Final = f"{GROUP}/template-hash"
"""On the pod template: the digest of everything that makes a revision."""
PROTOCOL: Final = f"{GROUP}/protocol"
"""On the pod template: the settings profile that a pod was made with; "" where the consumers choose for themselves."""
WOKEN_AT: Final = f"{GROUP}/woken-at"
"""On a StatefulSet: when the operator last woke its controller, since a pod was missing for long. It means no more."""
RESTARTED_AT: Final = f"{GROUP}/restarted-at"
"""On the pod template: the token of the last restart command, so that a restart is a revision like any other."""
