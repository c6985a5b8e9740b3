"""`slackwater campaign status`: what the operator reports of a FleetCampaign. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.core.decision.words import listing, shown
from slackwater.core.fleet.waves import wave_in_words

Json = Mapping[str, Any]

_STYLES: Final = {"Succeeded": "green", "Halted": "bold red", "Pending": "red"}
_ACTIONS: Final = {"restart": "restarts", "applyDefaults": "applies defaults", "changes": "orders changes"}


def campaigns_table(campaigns: Sequence[Json], *, with_namespace: bool) -> Table:
    """A row for each."""
    table = _table(*(("Namespace", "Name") if with_namespace else ("Name",)), "Fleet", "Does", "Phase", "Wave")
    for header in ("Groups", "Done", "Failed", "Skipped"):
        table.add_column(header, no_wrap=True, justify="right")
    for each in campaigns:
        metadata, status = each["metadata"], each.get("status") or {}
        place = (metadata["namespace"], metadata["name"]) if with_namespace else (metadata["name"],)
        counts = (str(sum(int(wave.get(name) or 0) for wave in status.get("waves") or ())) for name in _COUNTS)
        figures = counts if status.get("waves") else ("",) * len(_COUNTS)
        table.add_row(
            *place, shown(each["spec"]["fleetRef"]["name"]), _action(each), _phase(each), _wave(status), *figures
        )
    return table


def campaign_picture(campaign: Json) -> RenderableType:
    metadata, status = campaign["metadata"], campaign.get("status") or {}
    title = Text.assemble(
        ("Campaign ", "dim"),
        (f"{metadata['namespace']}/{metadata['name']}", "bold"),
        f"   {_action(campaign)} in fleet {shown(campaign['spec']['fleetRef']['name'])}   ",
        _phase(campaign),
    )
    parts: list[RenderableType] = [title, *_warnings(campaign)]
    if waves := status.get("waves"):
        parts.append(_waves(waves, str(status.get("wave") or "")))
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column()
    for label, words in _rows(status):
        rows.add_row(label, shown(words, 1024))
    return Group(*parts, *((rows,) if rows.row_count else ()))


def campaign_document(campaign: Json) -> dict[str, Any]:
    """Fields are added to it, never renamed. `status`: the operator's."""
    metadata = campaign["metadata"]
    return {
        "version": 1,
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "generation": metadata.get("generation"),
        "spec": dict(campaign["spec"]),
        "status": dict(campaign.get("status") or {}),
    }


_COUNTS: Final = ("groups", "done", "failed", "skipped")


def _waves(waves: Sequence[Json], under_way: str) -> Table:
    table = _table("Wave")
    for header in ("Groups", "Done", "Failed", "Skipped"):
        table.add_column(header, no_wrap=True, justify="right")
    table.add_column("", no_wrap=True)
    for wave in waves:
        soaks = f"soaks until {shown(wave['soakUntil'])}" if wave.get("soakUntil") else ""
        mark = soaks or ("under way" if wave["name"] == under_way else "")
        counts = (shown(str(wave.get(name) or 0)) for name in _COUNTS)
        table.add_row(wave_in_words(shown(wave["name"])), *counts, Text(mark, "yellow"))
    return table


def _rows(status: Json) -> Iterator[tuple[str, str]]:
    if skipped := status.get("skipped"):
        by_reason = ", ".join(f"{reason} {number}" for reason, number in skipped.items())
        named = listing(_named(each) for each in status.get("skippedGroups") or ())
        yield "Skipped", f"{by_reason}{f': {named}' if named else ''}"
    if failed := status.get("failedGroups"):
        yield "Failed", listing(_named(each) for each in failed)
    if (eta := status.get("eta") or {}).get("p50"):
        late = f" (p90 {eta['p90']})" if eta.get("p90") else ""
        by = f", held back by {status['bottleneck']}" if status.get("bottleneck") else ""
        yield "Ends", f"at about {eta['p50']}{late}{by}"
    for condition in status.get("conditions") or ():
        if condition.get("message") and _tells(condition):
            yield str(condition["type"]), str(condition["message"])


def _tells(condition: Json) -> bool:
    """It says what goes on, or what is not as it should be."""
    wrong = "False" if condition["type"] == "Accepted" else "True"
    return condition["type"] == "Progressing" or condition.get("status") == wrong


def _named(group: Json) -> str:
    return f"{group.get('group')} ({group['reason']})" if group.get("reason") else str(group.get("group"))


def _warnings(campaign: Json) -> Iterator[Text]:
    status, generation = campaign.get("status") or {}, campaign["metadata"].get("generation")
    if not status:
        yield Text("The operator has reported nothing of it: does it run, and watch this namespace?", "yellow")
    elif status.get("observedGeneration") != generation:
        yield Text(f"The operator has not taken up generation {generation} yet.", "yellow")
    if status.get("phase") == "AwaitingPromotion":
        name, namespace = campaign["metadata"]["name"], campaign["metadata"]["namespace"]
        yield Text(f"It waits for somebody: slackwater campaign promote {name} -n {namespace}", "yellow")


def _action(campaign: Json) -> str:
    named = [words for key, words in _ACTIONS.items() if key in (campaign["spec"].get("action") or {})]
    dry = " (dry run)" if campaign["spec"].get("dryRun") else ""
    return f"{named[0] if named else 'does nothing'}{dry}"


def _phase(campaign: Json) -> Text:
    phase = shown(str((campaign.get("status") or {}).get("phase") or "not taken up yet"))
    return Text(phase, _STYLES.get(phase, "yellow"))


def _wave(status: Json) -> str:
    return wave_in_words(shown(str(status.get("wave") or "")))


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table
