"""The job: read, learn the fleet's shapes, recommend, write."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from slackwater.api.recommendation import LEAST_DAYS, Recommendation
from slackwater.pipeline.errors import PipelineError
from slackwater.pipeline.local.folding import Fleet, absences_of, row_of
from slackwater.pipeline.local.lines import lines_in
from slackwater.pipeline.recommend.advising import advice_of, shape_row
from slackwater.pipeline.recommend.fleets import fleets_of
from slackwater.pipeline.recommend.found import Summary, summed_up


class Unwritable(PipelineError):
    """The recommendations cannot be written where they were to go."""


@dataclass(frozen=True, slots=True)
class Options:
    """`as_of`: leave out what is newer; None: nothing. `out_file`: None: nowhere."""

    files: Path
    out_file: Path | None = None
    as_of: datetime | None = None
    least_days: float = LEAST_DAYS


def run(options: Options) -> tuple[Summary, int]:
    """What was found, and how many lines could not be read. Raises SourceUnreadable or Unwritable."""
    fleet = Fleet()
    fleet.read(lines_in(options.files), None if options.as_of is None else options.as_of.timestamp())
    as_of = options.as_of or fleet.newest()
    found = recommended(fleet, as_of or datetime.fromtimestamp(0, UTC), options.least_days)
    summary = summed_up(found, as_of)
    if options.out_file is not None:
        messages = newest_of_each_name(fleet, found)
        write(messages, options.out_file)
        summary = replace(summary, sent_to_file=len(messages))
    return summary, fleet.unreadable


def recommended(fleet: Fleet, as_of: datetime, least_days: float = LEAST_DAYS) -> list[Recommendation]:
    """One for each group that anything was told of."""
    rows = {key: row_of(key, group) for key, group in sorted(fleet.groups.items())}
    histories = {key: absences_of(row, fleet.groups[key]) for key, row in rows.items()}
    shapes = (shape_row(row, histories[key], as_of) for key, row in rows.items())
    fleets = fleets_of(each for each in shapes if each is not None)
    found = [advice_of(row, histories[key], as_of, fleets, least_days) for key, row in rows.items()]
    return sorted(found, key=lambda each: (each.namespace, each.name, each.group_id))


def newest_of_each_name(fleet: Fleet, found: list[Recommendation]) -> list[Recommendation]:
    """Of groups that have had one name one after the other, the newest speaks."""
    speaking: dict[tuple[str, str], tuple[float, Recommendation]] = {}
    for each in found:
        last_at = fleet.groups[each.cluster, each.namespace, each.name, each.group_id].last_at
        name = (each.namespace, each.name)
        if name not in speaking or last_at > speaking[name][0]:
            speaking[name] = (last_at, each)
    return [speaking[name][1] for name in sorted(speaking)]


def write(found: list[Recommendation], out: Path) -> None:
    """One line a message, in one step, so that nobody reads half of it. Raises Unwritable."""
    try:
        with NamedTemporaryFile("w", encoding="utf-8", dir=out.parent, prefix=f".{out.name}.", delete=False) as draft:
            try:
                draft.writelines(f"{each.message()}\n" for each in found)
                draft.flush()
                os.fsync(draft.fileno())
                Path(draft.name).chmod(0o644)
                Path(draft.name).replace(out)
            except BaseException:
                Path(draft.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise Unwritable(f"cannot write the recommendations to {out} ({reason}): choose another --out-file") from error
