"""A campaign that is played: groups move, fail, come and go, the leader is lost, and each begin is held against the
rules, by what the play itself has seen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from slackwater.api.annotations import PROMOTE
from slackwater.api.fleet_campaign import FleetCampaignSpec
from slackwater.api.fleet_campaign_status import CampaignPhase, FleetCampaignStatus, Skip
from slackwater.core.fleet.campaign import Campaign, Course, FleetOf, fold
from slackwater.core.fleet.order import Order
from slackwater.core.fleet.participants import Obstacle, Participant, Shown, done_at, progress_of
from slackwater.core.fleet.records import record_of, with_begun, with_done
from slackwater.core.fleet.waves import REST
from slackwater.core.world.memory import RolloutPhase

UID: Final = "c-1"
LABELS: Final[tuple[dict[str, str], ...]] = ({"tier": "0"}, {"tier": "1"}, {})
WAVES: Final[tuple[list[dict[str, Any]], ...]] = (
    [],
    [{"name": "canary", "selector": {"matchLabels": {"tier": "0"}}, "max": 1, "soak": "10m"}, {"name": "rest"}],
    [
        {"name": "canary", "selector": {"matchLabels": {"tier": "0"}}, "soak": "5m", "promote": "Manual"},
        {"name": "some", "size": 2, "soak": "1m"},
        {"name": "more", "size": "50%"},
    ],
    [{"name": "one", "size": 1, "soak": "1h"}, {"name": "two", "selector": {"matchLabels": {"tier": "1"}}}],
)


class BrokenRule(AssertionError):
    """Something began that may not have."""


@dataclass
class Group:
    key: str
    labels: dict[str, str]
    calm: bool = True
    obstacle: Obstacle | None = None
    shown: Shown = field(default_factory=lambda: Shown(RolloutPhase.COMPLETE, oldest_pod_at=0.0))

    @property
    def moves(self) -> bool:
        return self.shown.phase is RolloutPhase.PROGRESSING


def campaign(spec: dict[str, Any]) -> Campaign:
    whole = {"fleetRef": {"name": "platform"}, "action": {"restart": {}}, **spec}
    return Campaign("slackwater", "run", UID, FleetCampaignSpec.model_validate(whole, context={"wire": True}))


class Play:
    def __init__(self, draw: Random) -> None:
        self.draw, self.now = draw, 1_000_000.0
        waves = draw.choice(WAVES)
        self.campaign = campaign({"waves": waves, "maxFailures": draw.choice([0, 0, 1])})
        self.fleet = FleetOf()
        self.made = 0
        self.groups: dict[str, Group] = {}
        for _ in range(draw.randint(1, 6)):
            self.a_group_comes()
        self.begun: dict[str, str] = {}
        """Whoever has begun, and the wave in which: by what was seen."""
        self.over_at: dict[str, float] = {}

    def participants(self) -> list[Participant]:
        return [self.participant(group) for group in self.groups.values()]

    def participant(self, group: Group) -> Participant:
        started_at = self.campaign.started_at
        at = self.now if started_at is None else started_at
        progress = progress_of(self.campaign.spec.action, group.shown, UID, at, {})
        record = record_of(group.shown.commands, UID)
        failed_itself = group.shown.phase.gave_up and record is None
        return Participant(
            group.key,
            uid=group.key,
            labels=group.labels,
            progress=progress,
            begun_in=None if record is None else record.wave,
            done_at=done_at(group.shown, progress, UID, at),
            is_calm=group.calm,
            obstacle=Obstacle(Skip.HAS_FAILED) if failed_itself else group.obstacle,
        )

    def course(self) -> Course:
        return fold(self.campaign, self.fleet, self.participants(), self.now)

    # What may happen, in any order.

    def time_passes(self) -> None:
        self.now += self.draw.choice([1.0, 20.0, 61.0, 301.0, 700.0, 4000.0])

    def the_status_is_written(self) -> None:
        """As the API server gives it back."""
        course = self.course()
        self.hold_advance_against_the_rules(course.status)
        written = course.status.model_dump(mode="json", by_alias=True, exclude_unset=True)
        self.campaign = replace(self.campaign, status=FleetCampaignStatus.model_validate(written))

    def somebody_begins(self) -> None:
        """A leader that is lost here has written nothing else of what it decided."""
        course = self.course()
        limits = dict(course.limits)
        order = course.order
        if order is None or not course.may_begin or self.moving_in(order) >= limits[order.takes].of(0):
            return
        group = self.groups[self.draw.choice(course.may_begin)]
        self.hold_against_the_rules(group.key, order)
        self.begun[group.key] = order.wave
        commands = with_begun(group.shown.commands, UID, order.wave)
        group.shown = replace(group.shown, phase=RolloutPhase.PROGRESSING, commands=commands)

    def moving_in(self, order: Order) -> int:
        return sum(each.moves for key, each in self.groups.items() if self.begun.get(key) == order.wave)

    def a_rollout_ends(self) -> None:
        moving = [each for each in self.groups.values() if each.moves]
        if moving:
            self.ends(self.draw.choice(moving), well=self.draw.random() < 0.85)

    def ends(self, group: Group, *, well: bool) -> None:
        phase = RolloutPhase.COMPLETE if well else RolloutPhase.FAILED
        shown = replace(group.shown, phase=phase, turn_done_at=self.now)
        if well:
            shown = replace(shown, oldest_pod_at=self.now, commands=with_done(shown.commands, self.now))
        group.shown = shown
        record = record_of(shown.commands, UID)
        is_of_the_campaign = group.key in self.begun and record is not None and record.done_at in (None, self.now)
        its_wave_is_over = group.key in self.over_at and self.begun.get(group.key) != self.campaign.status.wave
        if is_of_the_campaign and not its_wave_is_over:  # what is tried again later soaks no wave a second time
            self.over_at[group.key] = self.now

    def a_team_deploys(self) -> None:
        resting = [each for each in self.groups.values() if not each.moves]
        if resting:
            group = self.draw.choice(resting)
            group.shown = replace(group.shown, phase=RolloutPhase.PROGRESSING)

    def a_group_is_disturbed(self) -> None:
        group = self.any_group()
        if group is not None:
            group.calm = not group.calm

    def an_obstacle_comes_or_goes(self) -> None:
        group = self.any_group()
        if group is not None:
            group.obstacle = None if group.obstacle else Obstacle(Skip.PAUSED)

    def labels_change(self) -> None:
        group = self.any_group()
        if group is not None:
            group.labels = dict(self.draw.choice(LABELS))

    def a_group_comes(self) -> None:
        self.made += 1
        key = f"team/g{self.made}"
        self.groups[key] = Group(key, dict(self.draw.choice(LABELS)))

    def a_group_goes(self) -> None:
        group = self.any_group()
        if group is not None:
            del self.groups[group.key]
            self.begun.pop(group.key, None)

    def somebody_pauses_or_resumes(self) -> None:
        self.edit(paused=not self.campaign.spec.paused)

    def somebody_promotes(self) -> None:
        self.campaign = replace(self.campaign, annotations={PROMOTE: f"{self.now}-{self.draw.random()}"})

    def another_fleet_spec(self) -> None:
        """Of a campaign that has begun it changes nothing."""
        spec = campaign({"waves": self.draw.choice(WAVES)}).spec
        self.fleet = FleetOf(waves=spec.waves)

    def edit(self, **changes: Any) -> None:
        self.campaign = replace(self.campaign, spec=self.campaign.spec.model_copy(update=changes))

    def any_group(self) -> Group | None:
        return self.draw.choice(list(self.groups.values())) if self.groups else None

    def step(self) -> None:
        often = (self.time_passes, self.the_status_is_written, self.somebody_begins, self.a_rollout_ends)
        seldom = (
            self.a_team_deploys,
            self.a_group_is_disturbed,
            self.an_obstacle_comes_or_goes,
            self.labels_change,
            self.a_group_comes,
            self.a_group_goes,
            self.somebody_pauses_or_resumes,
            self.somebody_promotes,
            self.another_fleet_spec,
        )
        self.draw.choice((*often * 4, *seldom))()

    # The rules, by what the play has seen.

    @property
    def plan(self) -> list[str]:
        given = [wave.name for wave in self.campaign.status.plan]
        rest = not self.campaign.status.plan or not self.campaign.status.plan[-1].takes_the_rest
        return [*given, REST] if rest else given

    def hold_against_the_rules(self, key: str, order: Order) -> None:
        failed = [each for each in self.participants() if each.progress == "Failed"]
        self.so(len(failed) <= self.campaign.spec.max_failures, "began although too many have failed")
        self.so(not self.campaign.spec.paused, "began while it is paused")
        self.so(self.campaign.status.wave == order.wave, "began in a wave that is not written")
        self.so(key not in self.begun, "began twice")
        own = self.plan.index(order.wave)
        for elder, wave in self.begun.items():
            if self.plan.index(wave) < own:
                self.so(elder in self.over_at, f"began before {elder} of an elder wave is over")
                soaked_at = self.over_at[elder] + self.soak_s(wave)
                self.so(self.now >= soaked_at, f"began before {elder} of an elder wave has soaked")

    def soak_s(self, wave: str) -> float:
        return next((each.soak_ms / 1000 for each in self.campaign.status.plan if each.name == wave), 0.0)

    def hold_advance_against_the_rules(self, status: FleetCampaignStatus) -> None:
        """A wave that is left: whoever was in it by its labels is over, or left alone, and calm."""
        before = self.campaign.status
        if before.started_at is None or (status.wave == before.wave and status.phase is not CampaignPhase.SUCCEEDED):
            return
        first = self.plan.index(before.wave)
        last = len(self.plan) if status.phase is CampaignPhase.SUCCEEDED else self.plan.index(status.wave)
        for number in range(first, last):
            for each in self.participants():
                if self.is_surely_in(each, number):
                    self.so(not each.is_to_come and each.progress != "Moves", f"left {each.key} of its wave behind")
                    calm = each.is_calm or each.progress != "Done"
                    self.so(calm, f"left a wave in which {each.key} is disturbed")
            self.hold_size_against_the_rules(number)
        self.so(not self.campaign.spec.paused, "went on while it is paused")

    def is_surely_in(self, each: Participant, number: int) -> bool:
        """Who began in it; and by labels, where no wave of a size comes before."""
        if each.begun_in is not None:
            return each.begun_in == self.plan[number]
        waves = self.campaign.status.plan[: number + 1]
        if len(waves) <= number or any(wave.size is not None for wave in waves):
            return False
        matching = [wave.selector is None or wave.selector.matches(each.labels) for wave in waves]
        return matching[-1] and not any(matching[:-1])

    def hold_size_against_the_rules(self, number: int) -> None:
        """One of a size has tried so many, unless there were fewer."""
        plan = self.campaign.status.plan
        if number >= len(plan) or not isinstance(size := plan[number].size, int) or plan[number].selector is not None:
            return
        tried = sum(wave == plan[number].name for wave in self.begun.values())
        chosen = [wave.selector for wave in plan[:number] if wave.selector is not None]  # whose wave is over comes last
        waiting = [each for each in self.participants() if each.is_to_come and each.begun_in is None]
        left = any(not any(selector.matches(each.labels) for selector in chosen) for each in waiting)
        gone = self.made - len(self.groups)
        self.so(tried + gone >= size or not left, f"left wave {plan[number].name} before it was tried by {size}")

    def so(self, holds: bool, rule: str) -> None:
        if not holds:
            raise BrokenRule(rule)

    # Everything that is under way ends, nothing else happens.

    def comes_to_an_end(self) -> None:
        self.edit(paused=False, max_failures=1000)
        for group in self.groups.values():
            group.calm = True
        for _ in range(20 * (len(self.groups) + 5)):
            if self.campaign.is_over:
                break
            for group in self.groups.values():
                if group.moves:
                    self.ends(group, well=True)
            if self.course().status.phase is CampaignPhase.AWAITING_PROMOTION:
                self.somebody_promotes()
            self.the_status_is_written()
            self.somebody_begins()
            self.now += 600.0
        self.so(self.campaign.is_over, f"does not come to its end: {self.course().wait}")
        left = [each.key for each in self.participants() if each.is_to_come or each.progress == "Moves"]
        self.so(not left, f"is over, and has left {left} behind")
        started_at = self.campaign.started_at or 0.0
        for key, group in self.groups.items():
            is_new = (group.shown.oldest_pod_at or 0.0) >= started_at
            is_excused = group.obstacle is not None or group.shown.phase.gave_up
            self.so(is_new or is_excused, f"is over, and {key} has pods from before")


def play(draw: Random, steps: int = 60) -> Play:
    """Raises BrokenRule."""
    found = Play(draw)
    for _ in range(steps):
        if found.campaign.is_over:
            break
        found.step()
    found.comes_to_an_end()
    return found
