"""From a FleetCampaign, as the API server has it, to what is decided about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from slackwater.api.durations import WIRE_CONTEXT
from slackwater.api.errors import InvalidSpec
from slackwater.api.fleet_campaign_status import FleetCampaignStatus
from slackwater.api.parsing import parse_fleet_campaign
from slackwater.core.fleet.campaign import Campaign


def read_campaign(obj: Mapping[str, Any]) -> Campaign:
    """Raises InvalidSpec."""
    metadata, name = obj["metadata"], str(obj["metadata"]["name"])
    spec = parse_fleet_campaign(obj).spec
    try:
        status = FleetCampaignStatus.model_validate(
            obj.get("status") or {}, by_alias=True, by_name=False, context=WIRE_CONTEXT
        )
    except ValidationError as error:
        raise InvalidSpec(f"FleetCampaign {name}", (f"its status cannot be read: {error}",)) from error
    goes = bool(metadata.get("deletionTimestamp"))
    annotations = metadata.get("annotations") or {}
    return Campaign(metadata["namespace"], name, metadata["uid"], spec, status, annotations, goes)
