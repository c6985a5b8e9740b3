"""Deploys, marked on every graph: what happened to lag or members at that moment is seen at a glance."""

from __future__ import annotations

from typing import Final

from dashboard.panels import CHOSEN, GROUP, Annotation, Colour, gauge

_PHASE: Final = "slackwater_rollout_phase"


def _in_phase(*phases: str) -> str:
    """Groups whose rollout is in one of these."""
    return gauge(_PHASE, f'{CHOSEN.removesuffix("}")}, phase=~"{"|".join(phases)}"}}', "phase")


_GIVEN_UP: Final = _in_phase("Failed", "RolledBack")

ANNOTATIONS: Final = (
    Annotation(
        "Rollouts",
        _in_phase("Progressing", "RollingBack"),
        f"{GROUP}: {{{{phase}}}}",
        "A rollout of the chosen groups, or its way back.",
        Colour.IDLE,
    ),
    Annotation(
        "Rollouts that failed",
        # Only the moment: the phase lasts until somebody acts, and would colour all graphs until then.
        f"{_GIVEN_UP} unless {_GIVEN_UP.replace('})', '} offset 2m)')}",
        f"{GROUP}: {{{{phase}}}}",
        "A version failed or was aborted: kubectl slackwater why says why.",
        Colour.BAD,
    ),
)
