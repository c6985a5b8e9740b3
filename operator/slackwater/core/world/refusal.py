"""The memory's part about pods whose consumer was refused its instance id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from slackwater.api.timestamps import Moment
from slackwater.core.world.pods import Pod, Run


@dataclass(frozen=True, slots=True)
class Refusal:
    """A pod was restarted because its consumer had been refused (F13)."""

    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    restarted_at: Moment
    times: int = 1
    """In a row, none long after the one before."""
    unseen: bool = False
    """One of them was a last chance, where nobody had seen the refusal."""
    uid: str = ""
    """The pod to go, and its run; while it is there and not ending, that was not done. Empty: not known, so it was."""
    started_at: Moment | None = None
    restarts: int = 0
    ids: Mapping[str, str] = field(default_factory=dict)
    """Instance id that its process was seen to be refused → the dead member that had it."""

    def owes(self, pod: Pod) -> bool:
        """This pod is yet to be restarted."""
        return self.uid == pod.uid and not pod.terminating

    def still_refused(self, pod: Pod) -> bool:
        """It is yet to be restarted, and its process is the one that was seen to be refused."""
        return bool(self.ids) and self.owes(pod) and Run(self.uid, self.started_at, self.restarts) == pod.run
