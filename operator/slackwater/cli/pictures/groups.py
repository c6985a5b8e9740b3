"""`slackwater list`: a row for each group, from what the operator says of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from slackwater.cli.words.protocol import is_refusal

Json = dict[str, Any]

_STYLES: Final = {"Ready": "green", "Failed": "bold red", "RollingBack": "red", "RolledBack": "red"}
_TELLING: Final = (
    ("Paused", ("True",)),
    ("RolloutGated", ("True",)),
    ("Degraded", ("True",)),
    ("Ready", ("False", "Unknown")),
    ("Lagging", ("True",)),
)
"""Conditions that say why a group is not where it should be, and when they do: in the order of `slackwater why`, which
says first what a rollout waits for."""


def groups_document(groups: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Fields are added to it, never renamed; what the operator has not said is null."""
    return [_row(group) for group in groups]


def groups_table(groups: Sequence[Mapping[str, Any]], with_namespace: bool) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for header in ("Namespace", "Name") if with_namespace else ("Name",):
        table.add_column(header, no_wrap=True)
    for header in ("Phase", "Ready", "New", "Group", "Protocol"):
        table.add_column(header, no_wrap=True)
    table.add_column("Lag", no_wrap=True, justify="right")
    table.add_column("Why", no_wrap=True)
    for row in groups_document(groups):
        place = (row["namespace"], row["name"]) if with_namespace else (row["name"],)
        table.add_row(
            *place,
            Text(row["phase"] or "not taken up yet", _STYLES.get(row["phase"] or "", "yellow")),
            f"{row['readyReplicas'] or 0}/{row['replicas']}",
            f"{row['updatedReplicas'] or 0}/{row['replicas']}",
            row["state"] or "",
            row["protocol"] or "",
            "" if row["lag"] is None else f"{row['lag']:,}",
            ", ".join(_reasons(row)),
        )
    return table


def _row(group: Mapping[str, Any]) -> Json:
    metadata, status = group["metadata"], group.get("status") or {}
    seen, why = status.get("group") or {}, _why(status)
    return {
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "phase": status.get("phase"),
        "replicas": group["spec"].get("replicas", 1),
        "readyReplicas": status.get("readyReplicas"),
        "updatedReplicas": status.get("updatedReplicas"),
        "state": seen.get("state"),
        "members": seen.get("members"),
        "lag": seen.get("lag"),
        "protocol": (status.get("protocol") or {}).get("current"),
        "reason": why.get("reason"),
        "message": why.get("message"),
        "degraded": _degraded_by(status),
    }


def _reasons(row: Mapping[str, Any]) -> Sequence[str]:
    """Why it waits, and what else is wrong with it."""
    return tuple(dict.fromkeys(each for each in (row["reason"], row["degraded"]) if each))


def _degraded_by(status: Mapping[str, Any]) -> str | None:
    """The reason for which it is."""
    degraded = _by_type(status).get("Degraded", {})
    return degraded.get("reason") if degraded.get("status") == "True" else None


def _why(status: Mapping[str, Any]) -> Mapping[str, Any]:
    told = _by_type(status)
    waits = next((told[kind] for kind, when in _TELLING if told.get(kind, {}).get("status") in when), {})
    upgrade = told.get("ProtocolUpgrade", {})
    return waits or (upgrade if is_refusal(upgrade) else {})


def _by_type(status: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return {condition["type"]: condition for condition in status.get("conditions") or ()}
