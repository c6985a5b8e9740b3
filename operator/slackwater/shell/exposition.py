"""Series of groups as Prometheus' text, line by line: with an object for each sample it takes several times as long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client.utils import floatToGoString

from slackwater.shell.group_series import COUNTERS, GAUGES, REBALANCE_BUCKETS_S, Family, GroupRecord
from slackwater.shell.store import Key

DURATIONS: Final = "slackwater_group_rebalance_duration_seconds"
DURATIONS_TEXT: Final = "From the first look that saw a rebalance to the first that saw the group calm again."
_number: Final[Callable[[float], str]] = floatToGoString
_BOUNDS: Final = (*map(str, REBALANCE_BUCKETS_S), "+Inf")

Groups = Sequence[tuple[Key, GroupRecord]]


def text_of(groups: Groups) -> Iterator[bytes]:
    """Family by family. For any thread: `groups` is the caller's own, and records may change meanwhile."""
    labels = [f'group="{key.name}",namespace="{key.namespace}"' for key, _ in groups]  # names need no escapes
    for kind, families in (("gauge", GAUGES), ("counter", COUNTERS)):
        for family in families:
            lines = _lines(family, zip(labels, groups, strict=True))
            yield (_head(family.name, family.text, kind) + "".join(lines)).encode()
    yield (_head(DURATIONS, DURATIONS_TEXT, "histogram") + "".join(map(_histogram, groups))).encode()


def _head(name: str, text: str, kind: str) -> str:
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n"


def _lines(family: Family, groups: Iterable[tuple[str, tuple[Key, GroupRecord]]]) -> Iterator[str]:
    """Labels are sorted by name, and that of a family comes after the group's own."""
    name, label, read = family.name, family.label, family.read
    for labels, (_, group) in groups:
        for values, number in read(group):
            if number is not None:
                further = f',{label}="{values[0]}"' if label else ""
                yield f"{name}{{{labels}{further}}} {_number(number)}\n"


def _histogram(of: tuple[Key, GroupRecord]) -> str:
    key, group = of
    begin, end = f'{{group="{key.name}",', f'namespace="{key.namespace}"}}'
    sums = list(map(_number, accumulate(group.durations_s)))
    buckets = (
        f'{DURATIONS}_bucket{begin}le="{bound}",{end} {each}\n' for bound, each in zip(_BOUNDS, sums, strict=True)
    )
    total = f"{DURATIONS}_count{begin}{end} {sums[-1]}\n"
    return f"{''.join(buckets)}{total}{DURATIONS}_sum{begin}{end} {_number(group.duration_sum_s)}\n"
