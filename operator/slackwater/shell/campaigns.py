"""The campaigns of this replica, while it leads: read from the store, folded, and their orders given to fleets.

A fold goes by statuses as they are written; what is to be written of them is the business of `campaign_keeping`.
Without a campaign nothing is folded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, Final

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, FLEET_CAMPAIGN
from slackwater.api.annotations import CAMPAIGN
from slackwater.api.consumer_fleet import Passes
from slackwater.api.errors import InvalidSpec
from slackwater.api.fleet_campaign_status import CampaignPhase
from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.protocol import ProtocolTarget
from slackwater.api.timestamps import moment
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.fleet.campaign import Campaign, FleetOf, fold
from slackwater.core.fleet.campaign_eta import Outlook, outlook_of
from slackwater.core.fleet.campaign_groups import KnownGroup, applies_of, participant_of, spec_with
from slackwater.core.fleet.campaign_object import read_campaign
from slackwater.core.fleet.claim import Cell, Limit
from slackwater.core.fleet.claims import passes
from slackwater.core.fleet.defaults import Own, to_take_up
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.held_defaults import held_by
from slackwater.core.fleet.layers import nearest
from slackwater.core.fleet.order import Order
from slackwater.core.fleet.participants import Obstacle, Participant, shown_by
from slackwater.core.fleet.records import Values, record_of, without_those_of_others
from slackwater.core.fleet.seen import Seen
from slackwater.core.protocol.foreseen import way_to
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.world import World
from slackwater.shell.campaign_folds import AT_ONCE, CampaignFolds, Folded, Steps
from slackwater.shell.fleets import Fleets
from slackwater.shell.letting_go import Holding, Naming, let_go, naming
from slackwater.shell.orders import Orders, key_in, version_of
from slackwater.shell.store import Key, Store
from slackwater.shell.witnesses import Witness

Json = Mapping[str, Any]
FoundWay = tuple[ProtocolTarget, Obstacle | Hold | None]
"""To which protocol, and what is in the way there; None: nothing is."""
NOT_LOOKED_AT: Final = Hold(
    Reason.OBSERVATION_STALE, "nobody has looked yet whether there is a way to the other protocol", 15.0
)

NAMING_AT_ONCE: Final = 1_000


class Campaigns(CampaignFolds, Witness):
    def __init__(self, store: Store, fleets: Fleets, now: Callable[[], float]) -> None:
        super().__init__(store)
        self._fleets = fleets
        self._now = now
        self._own: dict[Key, tuple[str, Own]] = {}
        self._ways: dict[Key, Mapping[str, FoundWay]] = {}
        """By group and campaign's uid: what else a campaign brings may open a way, or close it."""
        self._upgrading: Mapping[Key, tuple[Campaign, ...]] = {}
        """By group: the campaigns that are to take it to another protocol."""
        self._hidden: frozenset[str] = frozenset()
        """Namespaces whose campaigns may not be read."""
        fleets.noticed = self.notice
        fleets.without_gone = self.without_gone

    def notice(self) -> None:
        """Something has changed that campaigns go by."""
        if self.folded or self._store.keys(FLEET_CAMPAIGN) or self._fleets.name_campaigns:
            self.changed.set()

    def hide(self, namespaces: Collection[str]) -> None:
        """FleetCampaigns of these namespaces, and no others, may not be read."""
        self._hidden = frozenset(namespaces)

    def _fleets_come(self, namespace: str) -> bool:
        return self._fleets.is_coming_in(namespace)

    def _failures(self) -> int:
        return self._fleets.failures

    def _publishing(self) -> Iterator[None]:
        folded, counted = self.folded, dict(self._counted)
        self._upgrading = self._upgrading_in(folded)
        orders = yield from self._orders(folded)
        self._fleets.ordered(orders, counted)

    def wakes_at(self) -> float:
        """When time alone changes something; infinite: never."""
        settling = self._fleets.orders.settling(self._fleets.ledger).values()
        return min([*settling, *(each.course.looks_at or inf for each in self.folded)], default=inf)

    def decided(self, key: Key, world: World, decision: Decision) -> None:
        upgrading = self._upgrading.get(key)
        if not upgrading:
            return
        found = {each.uid: way for each in upgrading if (way := self._way_found(key, each, world)) is not None}
        if found != self._ways.get(key):
            self._ways[key] = found
            self.notice()

    def _way_found(self, key: Key, campaign: Campaign, world: World) -> FoundWay | None:
        """None: it does not take the group to another protocol, or what it brings is refused."""
        applies = self._applies(campaign)
        known = self._known(key, campaign, applies)
        spec = None if known is None else spec_with(known, applies, campaign)
        if spec is None or spec.protocol.target is None:
            return None
        asked = replace(world, group=world.group.model_copy(update={"spec": spec}))
        return spec.protocol.target, way_to(asked, spec.protocol.target)

    def forget(self, key: Key) -> None:
        self._own.pop(key, None)
        self._ways.pop(key, None)

    def outlook(self, folded: Folded) -> Callable[[], Outlook]:
        """To be asked beside the event loop: it takes a while, since the fleet is run forward to the campaign's end."""
        kept = self._fleets.ledger.fleets()
        names = {name for each in kept for name in each.tally.names}
        found = ((self._fleets.ledger.facts(name), self._memory_of(key_in(name))) for name in sorted(names))
        seen = [Seen(facts, memory) for facts, memory in found if facts is not None and memory is not None]
        fleets, ordered = [each.fleet for each in kept], frozenset(self._fleets.orders.by_group)
        return partial(outlook_of, folded.course, fleets, seen, ordered, self._now())

    def _memory_of(self, key: Key) -> RolloutMemory | None:
        obj = self._store.get(CONSUMER_GROUP, key)
        try:
            return None if obj is None else self._fleets.memories.of(key, obj)
        except InvalidSpec:
            return None

    def without_gone(self, commands: Mapping[str, str]) -> Mapping[str, str]:
        """Of a group, when its status is written anyway: without what it did for campaigns that are gone. Where none
        was ever seen here, or those of a namespace may not be read, they may be there all the same."""
        is_known = self._store.newest(FLEET_CAMPAIGN) and not self._hidden
        return without_those_of_others(commands, self.living()) if is_known else commands

    def living(self) -> frozenset[str]:
        """The uids of all that are there."""
        found = (self._store.get(FLEET_CAMPAIGN, key) for key in self._store.keys(FLEET_CAMPAIGN))
        return frozenset(str(obj["metadata"]["uid"]) for obj in found if obj is not None)

    def _fold_one(self, obj: Json) -> Steps:
        campaign, now = read_campaign(obj), self._now()
        if campaign.is_over and not (yield from self._has_late_ones(campaign)):
            return Folded(obj, campaign, fold(campaign, None, (), now), ())
        fleet = self._fleet_of(campaign)
        applies = campaign.status.applies if campaign.started_at is not None else (fleet or FleetOf()).applies
        participants: list[Participant] = []
        for number, name in enumerate(self._fleets.names_in(campaign.fleet), start=1):
            known = self._known(key_in(name), campaign, applies)
            if known is not None and campaign.spec.selector.matches(known.labels):
                participants.append(participant_of(campaign, known, applies, now))
            if number % AT_ONCE == 0:
                yield
        course = fold(campaign, fleet, participants, now)
        stays_over = campaign.is_over and course.status.phase is CampaignPhase.SUCCEEDED
        return Folded(obj, campaign, course, () if stays_over else tuple(participants))

    def _has_late_ones(self, campaign: Campaign) -> Generator[None, None, bool]:
        """Groups that name it, and were not called by it before its end."""
        if campaign.spec.action.changes is None:
            return False
        naming = yield from self._naming(self._fleets.names_in(campaign.fleet))
        return any(record_of(each.commands, campaign.uid) is None for each in naming if each.campaign == campaign.key)

    def _fleet_of(self, campaign: Campaign) -> FleetOf | None:
        kept, says = self._fleets.ledger.kept(campaign.fleet), self._fleets.known.says(campaign.fleet)
        if kept is None:
            return None
        return FleetOf(kept.fleet.spec.waves, applies_of(campaign.spec.action.apply_defaults, says))

    def _known(self, key: Key, campaign: Campaign, applies: Values) -> KnownGroup | None:
        """None: it cannot be read, or is being deleted: nothing is ordered of it, and nobody waits for it."""
        obj, facts, own = self._store.get(CONSUMER_GROUP, key), self._fleets.ledger.facts(str(key)), self._own_of(key)
        if obj is None or facts is None or own is None:
            return None
        metadata, memory = obj["metadata"], self._memory_of(key)
        if memory is None or metadata.get("deletionTimestamp"):
            return None
        is_observed = (obj.get("status") or {}).get("observedGeneration", 0) >= metadata.get("generation", 0)
        made = [moment(pod["metadata"]["creationTimestamp"]) for pod in self._store.pods_of(key)]
        given = nearest(key.namespace, self._fleets.givers_of(str(key)))
        known = KnownGroup(
            key=str(key),
            own=own,
            uid=metadata["uid"],
            labels=metadata.get("labels") or {},
            annotations=metadata.get("annotations") or {},
            shown=shown_by(memory, is_observed=is_observed, oldest_pod_at=min(made, default=None)),
            given=given,
            pins=memory.inherited,
            is_calm=facts.disturbed is False or facts.has_a_turn,
            passes_waves=self._passes_waves(campaign, facts),
        )
        wanted = to_take_up(own, given, applies, campaign.fleet).get(PinnedField.PROTOCOL_TARGET)
        if wanted is None:
            return known
        way = self._way(key, campaign, ProtocolTarget(str(wanted)))
        return replace(known, way=way, is_looked_at=way is not NOT_LOOKED_AT)

    def _passes_waves(self, campaign: Campaign, facts: GroupFacts) -> bool:
        kept = self._fleets.ledger.kept(campaign.fleet)
        return kept is not None and Passes.WAVES in passes(kept.fleet, facts)

    def _way(self, key: Key, campaign: Campaign, target: ProtocolTarget) -> Obstacle | Hold | None:
        found = self._ways.get(key, {}).get(campaign.uid)
        return found[1] if found is not None and found[0] is target else NOT_LOOKED_AT

    def _upgrading_in(self, folded: Sequence[Folded]) -> Mapping[Key, tuple[Campaign, ...]]:
        found: defaultdict[Key, tuple[Campaign, ...]] = defaultdict(tuple)
        for each in folded:
            if each.participants and PinnedField.PROTOCOL_TARGET in self._applies(each.campaign):
                for participant in each.participants:
                    found[key_in(participant.key)] += (each.campaign,)
        return found

    def _applies(self, campaign: Campaign) -> Values:
        fleet = None if campaign.is_over else self._fleet_of(campaign)
        return campaign.status.applies or ({} if fleet is None else fleet.applies)

    def _own_of(self, key: Key) -> Own | None:
        obj = self._store.get(CONSUMER_GROUP, key)
        if obj is None:
            return None
        version, known = f"{obj['metadata']['uid']}/{obj['metadata'].get('generation')}", self._own.get(key)
        if known is None or known[0] != version:
            try:
                known = self._own[key] = (version, Own.of(parse_consumer_group(obj).spec))
            except InvalidSpec:
                return None
        return known[1]

    def _orders(self, folded: Sequence[Folded]) -> Generator[None, None, Orders]:
        held = [found for each in folded if (found := held_by(each.campaign)) is not None]
        by_group, cells, limits = dict[str, Order](), dict[str, frozenset[Cell]](), dict[Cell, Limit]()
        for each in folded:
            limits |= dict(each.course.limits)
            begins, order = frozenset(each.course.may_begin), each.course.order
            for participant in each.participants:
                key = participant.key
                if order is not None and key in begins and key not in by_group:
                    by_group[key] = order
                    cells[key] = cells.get(key, frozenset()) | {order.takes}
                elif participant.is_under_way and participant.begun_in is not None:
                    cells[key] = cells.get(key, frozenset()) | {each.campaign.cell(participant.begun_in)}
            yield
        naming = yield from self._naming(map(str, self._store.keys(CONSUMER_GROUP)))
        there = {each.campaign.key: Holding(each.campaign.uid, self._held_by(each)) for each in folded}
        return Orders(by_group, cells, limits, let_go(naming, there), tuple(held))

    def _naming(self, groups: Iterable[str]) -> Generator[None, None, list[Naming]]:
        found = []
        for number, key in enumerate(map(key_in, groups), start=1):
            obj = self._store.get(CONSUMER_GROUP, key)
            name = "" if obj is None else (obj["metadata"].get("annotations") or {}).get(CAMPAIGN, "")
            if obj is not None and name:
                memory = self._memory_of(key)
                found.append(naming(str(key), name, version_of(obj), {} if memory is None else memory.commands))
            if number % NAMING_AT_ONCE == 0:
                yield
        return found

    def _held_by(self, folded: Folded) -> frozenset[str] | None:
        campaign = folded.campaign
        if campaign.spec.action.changes is None:
            return frozenset()
        return None if not campaign.is_over and self._fleet_of(campaign) is None else folded.course.waits
