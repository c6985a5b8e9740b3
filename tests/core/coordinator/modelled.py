"""The model as something that scenarios can be played to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from slackwater.core.world.observation import GroupState, GroupType
from tests.core.coordinator import model, modern
from tests.core.coordinator.model import Answer, Group, Member, Step
from tests.core.coordinator.play import Described, Process, Seen


@dataclass
class ModelledCoordinator:
    group: Group = field(default_factory=Group)
    _ids: count[int] = field(default_factory=count)
    _owners: dict[str, Process] = field(default_factory=dict)
    _seen: list[Seen] = field(default_factory=list)

    async def connect(self, process: Process) -> None:
        """Whoever is there is heard."""

    async def join(self, process: Process) -> None:
        member_id = process.member_id or self._new_id(process)
        member = Member(member_id, process.instance_id, process.protocols)
        joining = modern.classic_rejoin if process.member_id else modern.classic_join
        self._take(process, joining(self.group, member))

    async def sync(self, process: Process) -> None:
        if self.group.type is GroupType.CONSUMER:
            self._seen.append(Seen(process, "sync", model.Error.NONE))
            return
        self._take(process, model.sync(self.group, process.member_id, process.instance_id, process.generation))

    async def heartbeat(self, process: Process) -> None:
        self._take(process, model.heartbeat(self.group, process.member_id, process.instance_id, process.generation))

    async def leave(self, process: Process, instance_id: str | None, member_id: str) -> None:
        self._take(process, modern.leave(self.group, member_id, instance_id))

    async def consumer_heartbeat(self, process: Process, epoch: int) -> None:
        if epoch == 0:
            process.member_id = self._new_id(process)
            self._take(process, modern.consumer_join(self.group, Member(process.member_id, process.instance_id)))
        else:
            ids = (process.member_id, process.instance_id)
            self._take(process, modern.consumer_leave(self.group, *ids, for_a_while=epoch == -2))

    async def answers(self) -> list[Seen]:
        """All that goes out before anybody does something more; a first rebalance is over by then."""
        if self.group.initial:
            self.group, answers = model.complete(self.group)
            self._deliver(answers)
        seen, self._seen = self._seen, []
        return seen

    async def describe(self) -> Described:
        group = self.group
        members = [(m.member_id, m.instance_id) for m in group.members]
        stable = group.state is GroupState.STABLE
        return Described(group.type, group.state.value, (group.protocol or "") if stable else "", members)

    async def session_ends(self, process: Process, others: Sequence[Process]) -> None:
        self.group, answers = modern.drop(self.group, process.member_id)
        self._deliver(answers)

    async def rebalance_timeout(self) -> None:
        timer = model.complete if self.group.state is GroupState.PREPARING_REBALANCE else model.give_up_on_sync
        self.group, answers = timer(self.group)
        self._deliver(answers)

    def _new_id(self, process: Process) -> str:
        member_id = f"{process.who}#{next(self._ids)}"
        self._owners[member_id] = process
        return member_id

    def _take(self, process: Process, step: Step) -> None:
        """The first answer may be to a request that carried no member id, as an administrator's."""
        self.group, answers = step
        own = next((a for a in answers if a.request == "leave"), None)
        self._deliver(tuple(a for a in answers if a is not own))
        if own is not None:
            self._seen.append(Seen(process, "leave", own.error))

    def _deliver(self, answers: tuple[Answer, ...]) -> None:
        for answer in answers:
            leads = self.group.leader == answer.to
            generation = -1 if answer.generation is None else answer.generation
            to = self._owners[answer.to]
            self._seen.append(Seen(to, answer.request, answer.error, generation, answer.protocol, answer.to, leads))
