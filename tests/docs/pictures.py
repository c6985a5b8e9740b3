"""Draw the documentation's pictures from what the code says: `python -m tests.docs.pictures`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from slackwater.api.client import Library
from slackwater.core.protocol.strategies import STRATEGIES, Strategy
from slackwater.core.rollout.gates import GATES
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType
from slackwater.core.world.profile import Profile, StrategyName
from tests.docs import imports, turns, way
from tests.docs.drawing import CALM, MOVES, PLAIN, WAITS, arrow, box, picture, text
from tests.docs.gate_reasons import reasons_before_the_gates, reasons_of
from tests.test_layout import ROOT

FOLDER: Final = ROOT / "docs" / "pictures"
_CLASSIC: Final = (GroupState.EMPTY, GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE, GroupState.STABLE)
_KIP_848: Final = (GroupState.EMPTY, GroupState.ASSIGNING, GroupState.RECONCILING, GroupState.STABLE)


def made() -> dict[str, str]:
    """Name of the file → its text."""
    return {
        "budgets.svg": turns.budgets(),
        "floors.svg": imports.drawing(),
        "gates.svg": _gates(),
        "states.svg": _states(),
        "turn.svg": turns.life(),
        "upgrades.svg": _upgrades(),
        "way.svg": way.drawing(),
    }


def _gates() -> str:
    """One row for each gate, from top to bottom, with the reasons for which it refuses."""
    rows = [("Kafka answers", "the group can be seen, all of it", reasons_before_the_gates())]
    for gate in GATES:
        number, _, sentence = " ".join((gate.__doc__ or "").split("\n\n")[0].split()).partition(": ")
        name = f"{number.removeprefix('Gate ')}: {gate.__name__.replace('_', ' ')}"
        rows.append((name, re.sub(r" \(F\d+\)|`|\.$", "", sentence), reasons_of(gate.__name__)))
    parts = [text(30, 34, "An outdated pod may be restarted when …", 16, bold=True), text(430, 34, "or waits, for", 16)]
    y = 52
    for name, sentence, reasons in rows:
        lines = textwrap.wrap(sentence, 52)
        said = textwrap.wrap(", ".join(reasons), 56)
        height = 32 + 17 * max(len(lines), len(said) - 1)
        parts += [box(30, y, 370, height), text(44, y + 22, name, 15, bold=True)]
        parts += [text(44, y + 41 + 17 * i, line, 13) for i, line in enumerate(lines)]
        parts += [box(430, y, 440, height, WAITS, dashed=True), arrow((400, y + height // 2), (428, y + height // 2))]
        parts += [text(444, y + 22 + 17 * i, line, 12, mono=True) for i, line in enumerate(said)]
        parts.append(arrow((215, y + height), (215, y + height + 18)))
        y += height + 20
    parts += [box(30, y, 370, 34, CALM), text(44, y + 22, "one pod is restarted; then all is asked again", 14)]
    return picture("The gates, in their order, and the reasons for which each waits", 900, y + 54, parts)


def _states() -> str:
    """The states of a group in both protocols, and what gate 4 says in each."""
    parts = []
    for y, title, kind, states in (
        (50, "Classic group", GroupType.CLASSIC, _CLASSIC),
        (170, "KIP-848 group", GroupType.CONSUMER, _KIP_848),
    ):
        parts.append(text(30, y - 14, title, 15, bold=True))
        for i, state in enumerate(states):
            calm = GroupObservation("", 0.0, state, kind).calm
            x = 30 + 215 * i
            parts += [box(x, y, 185, 44, CALM if calm else MOVES), text(x + 92, y + 27, state, 14, centred=True)]
            if i:
                parts.append(arrow((x - 30, y + 22), (x - 2, y + 22)))
        parts += [
            arrow((767, y + 44), (767, y + 66), (337, y + 66), (337, y + 46)),
            text(552, y + 62, "a member joins, leaves or is evicted", 12, centred=True),
        ]
    parts += [
        box(30, 290, 270, 62, MOVES),
        text(44, 312, "GroupRebalancing", 13, mono=True),
        text(44, 330, "waits; KIP-848 also while a member is", 12),
        text(44, 345, "not yet where the coordinator wants it", 12),
        arrow((300, 321), (328, 321)),
        box(330, 290, 260, 62, WAITS),
        text(344, 312, "GroupStabilizing", 13, mono=True),
        text(344, 330, "waits until state, members and their", 12),
        text(344, 345, "partitions stay the same for stableFor", 12),
        arrow((590, 321), (618, 321)),
        box(620, 290, 250, 62, CALM),
        text(634, 312, "gate 4 holds", 13, bold=True),
        text(634, 330, "So it does where every pod is down:", 12),
        text(634, 345, "then nobody can be disturbed", 12),
    ]
    return picture("The states of a consumer group, and when gate 4 lets a pod be restarted", 900, 375, parts)


def _upgrades() -> str:
    """The three protocols, the bridge between two of them, and who can go which way."""
    y = 100
    parts = [
        box(20, 20, 640, 190, "#f3f6f9", dashed=True),
        text(34, 42, "classic groups", 13),
        box(40, y, 130, 44, PLAIN),
        text(105, y + 27, Profile.EAGER, 15, bold=True, centred=True),
        box(255, y, 170, 44, PLAIN, dashed=True),
        text(340, y + 27, Profile.EAGER_AND_COOPERATIVE, 14, centred=True),
        box(510, y, 130, 44, PLAIN),
        text(575, y + 27, Profile.COOPERATIVE, 15, bold=True, centred=True),
        box(740, y, 130, 44, PLAIN),
        text(805, y + 27, Profile.CONSUMER, 15, bold=True, centred=True),
        text(805, y + 62, "KIP-848", 12, centred=True),
        *(arrow((x, y + 14), (x + 81, y + 14)) for x in (171, 426)),
        *(arrow((x + 83, y + 32), (x + 2, y + 32)) for x in (171, 426)),
        text(340, y - 8, "TwoBounce: over the bridge, two restarts of each pod", 12, centred=True),
        text(340, y + 60, "OneBounce: from the bridge, one restart", 12, centred=True),
        arrow((105, y + 46), (105, y + 84), (575, y + 84), (575, y + 46), dashed=True),
        arrow((575, y + 84), (105, y + 84), (105, y + 46), dashed=True),
        text(340, y + 80, "DrainCutover: all pods stop", 12, centred=True),
        arrow((660, y + 14), (738, y + 14)),
        arrow((738, y + 32), (662, y + 32)),
        text(700, y + 4, "Online-", 11, centred=True),
        text(700, y + 48, "Migration", 11, centred=True),
    ]
    line = 245
    for origin, target in _pairs():
        parts.append(text(30, line, f"{origin} → {target}", 13, bold=True))
        for name, who in _who(origin, target):
            downtime = " (allowDowntime)" if name is StrategyName.DRAIN_CUTOVER else ""
            parts += [text(310, line, f"{name}{downtime}", 13), text(530, line, who, 12)]
            line += 19
        line += 7
    return picture("The ways between Eager, Cooperative and Consumer", 900, line + 6, parts)


def _pairs() -> Iterator[tuple[Profile, Profile]]:
    targets = (Profile.EAGER, Profile.COOPERATIVE, Profile.CONSUMER)
    origins = (Profile.EAGER, Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE, Profile.CONSUMER)
    for origin in origins:
        yield from ((origin, target) for target in targets if origin is not target and any(_who(origin, target)))


def _who(origin: Profile, target: Profile) -> list[tuple[StrategyName, str]]:
    """Each strategy that there is for it, and the libraries that have it, with their versions."""
    fitting = [each for each in STRATEGIES if origin in each.origins and each.path[-1] is target]
    names = dict.fromkeys(each.name for each in fitting)
    return [(name, ", ".join(_libraries(fitting, name))) for name in names]


def _libraries(fitting: list[Strategy], name: StrategyName) -> Iterator[str]:
    for library in Library:
        for each in fitting:
            if each.name is name and library in each.libraries:
                since = f" ≥ {'.'.join(map(str, each.since))}" if each.since else ""
                before = f" < {'.'.join(map(str, each.before))}" if each.before else ""
                yield f"{library}{since}{before}"


if __name__ == "__main__":
    for file_name, drawn in made().items():
        (FOLDER / file_name).write_text(drawn, encoding="utf-8")
