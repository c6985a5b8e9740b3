"""Who is in a group and since when: told the membership after each change, it gives the stays that ended. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from slackwater.pipeline.audit.facts import GroupType, Member
from slackwater.pipeline.audit.rows import Stay


@dataclass(slots=True)
class Stays:
    """The open stays of one group, by member id."""

    _open: dict[str, Stay]

    @classmethod
    def none(cls) -> Stays:
        return cls({})

    def __bool__(self) -> bool:
        return bool(self._open)

    def now(
        self, members: Mapping[str, Member], group_type: GroupType, at_ms: int, *, seen_coming: bool
    ) -> Iterator[Stay]:
        """Those who left, by the membership as it is from `at_ms` on. `seen_coming`: newcomers came just then."""
        gone = [who for who in self._open if who not in members]
        handed_over = {stay.member.instance_id for who in gone if (stay := self._open[who]).member.instance_id}
        for who in gone:
            yield replace(self._open.pop(who), left_at_ms=at_ms)
        joined_at_ms = at_ms if seen_coming else None
        for who, member in members.items():
            known = self._open.get(who)
            returned = known.returned if known is not None else member.instance_id in handed_over
            came_ms = known.joined_at_ms if known is not None else joined_at_ms
            self._open[who] = Stay(group_type, member, came_ms, None, returned)

    def still_there(self) -> Iterable[Stay]:
        """The stays that have not ended."""
        return tuple(self._open.values())
