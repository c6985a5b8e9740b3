"""Campaigns, waves and defaults become models, or sentences."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from slackwater.api.errors import InvalidSpec
from slackwater.api.fleet_campaign import FleetCampaignSpec
from slackwater.api.fleet_campaign_status import FleetCampaignStatus
from slackwater.api.fleet_waves import Promote
from slackwater.api.parsing import parse_fleet_campaign
from slackwater.api.resources import ConsumerFleet, FleetCampaign
from slackwater.api.sentences import sentences
from slackwater.api.structural import Schema, structural_schema
from tests.api.campaign_refusals import REFUSALS, campaign, fleet
from tests.api.refusal import Refusal
from tests.api.test_crds import fields, validations

KINDS: dict[str, type[FleetCampaign | ConsumerFleet]] = {"FleetCampaign": FleetCampaign, "ConsumerFleet": ConsumerFleet}
SCHEMAS: dict[str, Schema] = {name: structural_schema(kind)["properties"]["spec"] for name, kind in KINDS.items()}
OF_FLEETS = {name: SCHEMAS["ConsumerFleet"]["properties"][name] for name in ("waves", "defaults")}


def parsed(manifest: dict[str, Any]) -> FleetCampaign | ConsumerFleet:
    return KINDS[manifest["kind"]].model_validate(manifest, by_alias=True, by_name=False, context={"wire": True})


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.name)
def test_a_broken_rule_gives_one_sentence_at_its_place(refusal: Refusal) -> None:
    with pytest.raises(ValidationError) as refused:
        parsed(refusal.manifest)
    [problem] = sentences(KINDS[refusal.manifest["kind"]], refused.value)
    assert problem.startswith(refusal.path)
    assert refusal.sentence in problem


@pytest.mark.parametrize("schema", [SCHEMAS["FleetCampaign"], *OF_FLEETS.values()], ids=["campaign", *OF_FLEETS])
def test_every_rule_is_in_the_table_of_refusals(schema: Schema) -> None:
    rules = [rule for rule in validations(schema) if "oldSelf" not in rule["rule"]]
    tested = [refusal.sentence for refusal in REFUSALS]
    known = {  # of the timeouts that a ConsumerGroup has as well
        "a session must have room for three heartbeats: lower timeouts.consumer.heartbeat or raise"
        " timeouts.consumer.session",
        "Kafka cannot count beyond 24 days: lower timeouts.maxPollInterval to 576h or less",
        "give maxLag one bound: either absolute, the most records that the group may lag, or growth, the most by which"
        " its lag may grow during a rollout",
        "list the canary steps by growing replicas, or all of them by growing percent",
        "say how many pods the canary step has: either replicas, a number, or percent, a share of all pods",
        "write how many pods may be away at once: 1 or more, or 1% to 100%",
    }
    untested = {rule["message"] for rule in rules if not any(found in rule["message"] for found in tested)}
    assert untested <= known


@pytest.mark.parametrize("kind", KINDS)
def test_people_can_ask_what_every_field_is(kind: str) -> None:
    schema = SCHEMAS[kind] if kind == "FleetCampaign" else {"properties": OF_FLEETS}
    assert [path for path, field in fields(schema, "spec") if "description" not in field] == []


def test_what_is_not_said_has_its_default() -> None:
    spec = parse_fleet_campaign(campaign(waves=[{"name": "canary", "size": "10%"}])).spec
    assert spec.selector.matches({"any": "label"})
    assert (spec.max_failures, spec.deadline_ms, spec.dry_run, spec.paused) == (0, 72 * 3_600_000, False, False)
    [canary] = spec.waves
    assert (canary.selector, canary.max, canary.soak_ms, canary.promote) == (None, None, 0, Promote.AUTO)
    assert FleetCampaignSpec.model_validate(campaign()["spec"], context={"wire": True}).waves == ()


def test_the_last_wave_may_take_the_rest_and_others_may_not() -> None:
    some = {"name": "some", "selector": {"matchLabels": {"tier": "0"}}, "max": 1, "soak": "1h"}
    waves = [some, {"name": "tenth", "size": "10%", "soak": "30m", "promote": "Manual"}, {"name": "rest"}]
    assert [wave.takes_the_rest for wave in parse_fleet_campaign(campaign(waves=waves)).spec.waves] == [
        False,
        False,
        True,
    ]
    with pytest.raises(InvalidSpec, match="give wave rest a selector or a size"):
        parse_fleet_campaign(campaign(waves=waves[::-1]))


def test_a_campaign_does_what_it_was_begun_for() -> None:
    """What may change is paused, deadline and maxFailures; of waves, their order counts as well."""
    [stays] = [
        rule["rule"] for rule in SCHEMAS["FleetCampaign"]["x-kubernetes-validations"] if "oldSelf" in rule["rule"]
    ]
    named = {name for name in SCHEMAS["FleetCampaign"]["properties"] if f"self.{name} == oldSelf.{name}" in stays}
    assert set(SCHEMAS["FleetCampaign"]["properties"]) - named == {"paused", "deadline", "maxFailures"}
    assert "x-kubernetes-list-type" not in SCHEMAS["FleetCampaign"]["properties"]["waves"]


def test_what_a_fleet_gives_has_no_defaults_of_its_own() -> None:
    """Else an object would say for all groups what nobody wrote."""

    def defaults(node: Any) -> list[Any]:
        if not isinstance(node, dict):
            return []
        own = [node["default"]] if "default" in node else []
        return own + [found for part in node.values() for found in defaults(part)]

    assert defaults(OF_FLEETS["defaults"]) == []
    given = parsed(fleet(defaults={"timeouts": {"maxPollInterval": "10m"}})).spec
    assert given.model_dump(mode="json", by_alias=True, exclude_unset=True)["defaults"] == {
        "timeouts": {"maxPollInterval": "10m"}
    }


def test_a_status_of_a_newer_operator_is_kept() -> None:
    written = {"phase": "Running", "wave": "tenth", "plan": [{"name": "tenth", "size": "10%"}], "later": {"a": 1}}
    status = FleetCampaignStatus.model_validate(written)
    kept = status.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert kept == written
