"""The strategies, as data: for which library, from where to where, over which profiles; and what each profile proves.

A strategy is a path of profiles. Each of its steps is a rollout, gated like any other, of pods with the next profile.
Neighbours on a path may be together in one group, so a step may stop, go back or be overtaken at any pod. The first row
of the table that fits is taken; what is not in it is refused (`preflight`). Imports nothing that decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from slackwater.api.client import Library
from slackwater.core.world.profile import Profile, StrategyName

Version = tuple[int, ...]


def parse_version(text: str | None) -> Version:
    """Its leading numbers, at least two: "4" is 4.0. Empty when it is not given. A "v" before it means nothing."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", text or "")
    if found is None:
        return ()
    parts = tuple(int(part) for part in found.group(1).split("."))
    return parts if len(parts) > 1 else (*parts, 0)


@dataclass(frozen=True, slots=True)
class Strategy:
    name: StrategyName
    path: tuple[Profile, ...]
    """The profiles to go through, in order; the last is the target."""
    libraries: frozenset[Library]
    origins: frozenset[Profile]
    since: Version = ()
    """The first version of the client library that can; empty: all that are known."""
    before: Version = ()
    """The first version that no longer can; empty: none."""

    def fits(self, library: Library, origin: Profile, target: Profile) -> bool:
        return library in self.libraries and origin in self.origins and self.path[-1] is target


def _strategy(
    name: StrategyName,
    libraries: tuple[Library, ...],
    origins: tuple[Profile, ...],
    *path: Profile,
    since: Version = (),
    before: Version = (),
) -> Strategy:
    return Strategy(name, path, frozenset(libraries), frozenset(origins), since, before)


_EAGER, _BOTH, _COOPERATIVE, _CONSUMER = (
    Profile.EAGER,
    Profile.EAGER_AND_COOPERATIVE,
    Profile.COOPERATIVE,
    Profile.CONSUMER,
)
_JAVA, _STREAMS, _RDKAFKA, _GO, _OTHER = (
    Library.JAVA,
    Library.KAFKA_STREAMS,
    Library.LIBRDKAFKA,
    Library.FRANZ_GO,
    Library.OTHER,
)
_ONE, _TWO = StrategyName.ONE_BOUNCE, StrategyName.TWO_BOUNCE
_DRAIN, _ONLINE = StrategyName.DRAIN_CUTOVER, StrategyName.ONLINE_MIGRATION
_CLASSIC: Final = (Profile.OWN_CHOICE, _EAGER, _BOTH, _COOPERATIVE)
COOPERATIVE_SINCE: Final[Version] = (2, 4)
"""Java and Kafka Streams; KIP-429."""
STREAMS_EAGER_BEFORE: Final[Version] = (4, 0)

STRATEGIES: Final[tuple[Strategy, ...]] = (
    _strategy(_TWO, (_JAVA,), (_EAGER,), _BOTH, _COOPERATIVE, since=COOPERATIVE_SINCE),
    _strategy(_ONE, (_JAVA,), (_BOTH,), _COOPERATIVE, since=COOPERATIVE_SINCE),  # F5
    _strategy(_TWO, (_JAVA, _GO), (_COOPERATIVE,), _BOTH, _EAGER),
    _strategy(_ONE, (_JAVA, _GO), (_BOTH,), _EAGER),
    _strategy(_TWO, (_GO,), (_EAGER,), _BOTH, _COOPERATIVE),
    _strategy(_ONE, (_GO,), (_BOTH,), _COOPERATIVE),
    # F9: the first bounce sets `upgrade.from`, the second one removes it.
    _strategy(_TWO, (_STREAMS,), (_EAGER,), _BOTH, _COOPERATIVE, since=COOPERATIVE_SINCE, before=STREAMS_EAGER_BEFORE),
    _strategy(_ONE, (_STREAMS,), (_BOTH,), _COOPERATIVE),
    _strategy(_TWO, (_STREAMS,), (_COOPERATIVE,), _BOTH, _EAGER, before=STREAMS_EAGER_BEFORE),
    _strategy(_ONE, (_STREAMS,), (_BOTH,), _EAGER),
    # F1, F2, F3: librdkafka can offer only one kind, so nobody may be there when the kind changes.
    _strategy(_DRAIN, (_RDKAFKA,), (_EAGER,), _COOPERATIVE, since=(1, 6)),
    _strategy(_DRAIN, (_RDKAFKA,), (_COOPERATIVE,), _EAGER),
    # Other: whatever the user's own profiles spell out; the bridge first, where there is one.
    _strategy(_TWO, (_OTHER,), (_EAGER,), _BOTH, _COOPERATIVE),
    _strategy(_TWO, (_OTHER,), (_COOPERATIVE,), _BOTH, _EAGER),
    _strategy(_ONE, (_OTHER,), (_BOTH,), _COOPERATIVE),
    _strategy(_ONE, (_OTHER,), (_BOTH,), _EAGER),
    _strategy(_DRAIN, (_OTHER,), (_EAGER,), _COOPERATIVE),
    _strategy(_DRAIN, (_OTHER,), (_COOPERATIVE,), _EAGER),
    # F6: KIP-848 and back, online.
    _strategy(_ONLINE, (_JAVA,), _CLASSIC, _CONSUMER, since=(4, 0)),
    _strategy(_ONLINE, (_RDKAFKA,), _CLASSIC, _CONSUMER, since=(2, 12)),
    _strategy(_ONLINE, (_OTHER,), _CLASSIC, _CONSUMER),
    # Where assignments hold data of the assignor's own, as those of librdkafka's cooperative-sticky do from a group's
    # second rebalance on, brokers refuse the migration: nobody may be there either.
    _strategy(_DRAIN, (_RDKAFKA,), _CLASSIC, _CONSUMER, since=(2, 12)),
    _strategy(_DRAIN, (_OTHER,), _CLASSIC, _CONSUMER),
    _strategy(_ONLINE, (_JAVA, _RDKAFKA, _OTHER), (_CONSUMER,), _EAGER),
    _strategy(_ONLINE, (_JAVA, _RDKAFKA, _OTHER), (_CONSUMER,), _COOPERATIVE),
)
