"""A person's word that a campaign may go on: an annotation, whose token counts once."""

from __future__ import annotations

from collections.abc import Mapping

from slackwater.api.annotations import PROMOTE

Tokens = Mapping[str, str]


def is_promoted(annotations: Tokens, commands: Tokens) -> bool:
    """`commands`: the campaign's last tokens that were obeyed."""
    token = annotations.get(PROMOTE)
    return token is not None and commands.get(PROMOTE) != token


def with_promotion(annotations: Tokens, commands: Tokens) -> Tokens:
    """One that comes while nothing waits for it changes nothing, and does not count later."""
    token = annotations.get(PROMOTE)
    return commands if token is None else {**commands, PROMOTE: token}
