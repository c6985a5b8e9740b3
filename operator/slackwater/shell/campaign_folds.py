"""Folds of campaigns, namespace by namespace: each of its campaigns asks each of its fleet's groups, and whoever may
write a campaign may write a thousand.

A fold goes a few groups at a time, namespaces take turns, and all else has its turn between two steps. One that takes
longer than a round goes on in the next, while the others are folded again. Of each namespace the oldest campaigns
count, but for those that are over.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Final

import structlog
from pydantic import ValidationError

from slackwater.adapters.cluster.paths import FLEET_CAMPAIGN
from slackwater.api.durations import WIRE_CONTEXT
from slackwater.api.errors import InvalidSpec
from slackwater.api.fleet_campaign import Action, Changes, FleetCampaignSpec, FleetRef
from slackwater.api.fleet_campaign_status import CampaignPhase, FleetCampaignStatus
from slackwater.core.fleet.campaign import Campaign, Course
from slackwater.core.fleet.participants import Participant
from slackwater.shell.store import Key, Store, made_at

Json = Mapping[str, Any]
Steps = Generator[None, None, "Folded"]

MOST: Final = 20
AT_ONCE: Final = 100
"""Groups of a step: some milliseconds."""
STEPS_A_ROUND: Final = 200
"""Of one namespace: half a second."""
_NOT_READ: Final = FleetCampaignSpec.model_construct(
    fleet_ref=FleetRef.model_construct(name=""), action=Action(changes=Changes())
)
"""Of one that is not accepted: nobody's fleet."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Folded:
    obj: Json
    campaign: Campaign
    course: Course
    participants: tuple[Participant, ...]


class CampaignFolds(ABC):
    def __init__(self, store: Store) -> None:
        self.most = MOST
        self.folded: tuple[Folded, ...] = ()
        """As of the last fold of each namespace."""
        self.changed = asyncio.Event()
        """Something is to be folded."""
        self._store = store
        self._found: dict[str, list[Folded]] = {}
        self._running: dict[str, Iterator[None]] = {}
        self._counted: dict[str, int] = {}
        """By namespace: how many groups had failed as its last fold began."""
        self._unread: frozenset[str] = frozenset()

    @abstractmethod
    def _fold_one(self, obj: Json) -> Steps:
        """Raises InvalidSpec."""

    @abstractmethod
    def _fleets_come(self, namespace: str) -> bool:
        """Not all groups of a fleet there are known yet: they are more than they seem."""

    @abstractmethod
    def _publishing(self) -> Iterator[None]:
        """What follows from all that is folded."""

    @abstractmethod
    def _failures(self) -> int:
        """How many groups have failed so far."""

    def fold(self) -> tuple[Folded, ...]:
        """All of them at once, and what they order from now on."""
        self._running.clear()
        for namespace in self._begun():
            for _ in self._running.pop(namespace):
                pass
        for _ in self._published():
            pass
        return self.folded

    async def fold_in_turns(self) -> tuple[Folded, ...]:
        """A round. Returns those of the namespaces that are folded by now; `is_under_way` where some are not."""
        done = []
        self._begun()
        for _ in range(STEPS_A_ROUND):
            for namespace, steps in [*self._running.items()]:
                if next(steps, self) is self:
                    done.append(namespace)
                    del self._running[namespace]
                await asyncio.sleep(0)
            if not self._running:
                break
        for _ in self._published():
            await asyncio.sleep(0)
        return tuple(each for each in self.folded if each.campaign.namespace in done)

    @property
    def is_under_way(self) -> bool:
        """A namespace needs more than a round."""
        return bool(self._running)

    def _begun(self) -> list[str]:
        by_namespace: dict[str, list[Key]] = {namespace: [] for namespace in self._found}
        for key in self._store.keys(FLEET_CAMPAIGN):
            by_namespace.setdefault(key.namespace, []).append(key)
        for namespace in by_namespace.keys() - self._running.keys():
            self._running[namespace] = self._folding(namespace, by_namespace[namespace])
        return [*self._running]

    def _folding(self, namespace: str, keys: list[Key]) -> Iterator[None]:
        failures, found, counting = self._failures(), list[Folded](), 0
        known = [(key, obj) for key in keys if (obj := self._store.get(FLEET_CAMPAIGN, key)) is not None]
        for _, key in sorted((made_at(obj), key) for key, obj in known):
            yield
            if self._fleets_come(namespace):
                return  # what is known stands until the next fold, which comes once they are taken in
            obj = self._store.get(FLEET_CAMPAIGN, key)
            if obj is None:
                continue
            is_over = (obj.get("status") or {}).get("phase") == CampaignPhase.SUCCEEDED.value
            counting += not is_over
            one = self._surplus(obj) if counting > self.most and not is_over else (yield from self._read_one(key, obj))
            found += [] if one is None else [one]
        self._counted[namespace] = failures
        self._found[namespace] = found
        if not keys:
            del self._found[namespace], self._counted[namespace]

    def _read_one(self, key: Key, obj: Json) -> Generator[None, None, Folded | None]:
        name = str(key)
        try:
            found = yield from self._fold_one(obj)
        except InvalidSpec as error:  # nothing of it is done, and its changes wait
            if name not in self._unread:
                _log.error("campaign_not_read", campaign=name, error=str(error))
            self._unread |= {name}
            return not_accepted(obj, "InvalidSpec", str(error))
        except Exception:  # noqa: BLE001 - a bug that one campaign brings to light must not stop all groups
            if name not in self._unread:
                _log.exception("campaign_crashed", campaign=name)
            self._unread |= {name}
            return None
        self._unread -= {name}
        return found

    def _surplus(self, obj: Json) -> Folded | None:
        message = (
            f"this namespace has more than {self.most} FleetCampaigns that are not over, and only the oldest"
            f" {self.most} count: it begins when one of them is over or deleted; the operator can raise"
            " observation.mostCampaigns"
        )
        return not_accepted(obj, "TooManyCampaigns", message)

    def _published(self) -> Iterator[None]:
        there = {str(key) for key in self._store.keys(FLEET_CAMPAIGN)}
        self._unread &= there
        found = [each for those in self._found.values() for each in those if each.campaign.key in there]
        self.folded = tuple(sorted(found, key=lambda each: (each.campaign.started_at or inf, each.campaign.key)))
        yield from self._publishing()


def not_accepted(obj: Json, reason: str, message: str) -> Folded | None:
    """Nothing of it is done, and whoever names it waits. None where its status cannot be read, either."""
    metadata, raw = obj["metadata"], obj.get("status") or {}
    try:
        status = FleetCampaignStatus.model_validate(raw, by_alias=True, by_name=False, context=WIRE_CONTEXT)
    except ValidationError:
        return None
    goes = bool(metadata.get("deletionTimestamp"))
    campaign = Campaign(metadata["namespace"], metadata["name"], metadata["uid"], _NOT_READ, status, {}, goes)
    after = status if campaign.is_over else status.model_copy(update={"phase": CampaignPhase.PENDING})
    course = Course(after, refused=message, refused_as=reason)
    return Folded(obj, campaign, course, ())
