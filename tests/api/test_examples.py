"""What people copy is valid, and names connections that are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from slackwater.api.annotations import CAMPAIGN
from slackwater.api.kafka_connection import allows, prefixes_of
from slackwater.api.parsing import (
    parse_consumer_fleet,
    parse_consumer_group,
    parse_fleet_campaign,
    parse_kafka_connection,
)
from slackwater.core.fleet.campaign_groups import applies_of
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.layers import said_by
from slackwater.core.fleet.times import Scope, gates_of
from slackwater.core.protocol.strategies import STRATEGIES, parse_version
from slackwater.core.world.profile import Profile, StrategyName, profile_of

EXAMPLES = Path(__file__).parents[2] / "examples"


def objects(kind: str) -> list[dict[str, Any]]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.yaml"))]
    return [found for text in texts for found in yaml.safe_load_all(text) if found["kind"] == kind]


CONNECTIONS = [*objects("KafkaConnection"), *objects("ClusterKafkaConnection")]


@pytest.mark.parametrize("connection", CONNECTIONS, ids=lambda found: found["metadata"]["name"])
def test_a_connection_is_valid(connection: dict[str, Any]) -> None:
    parse_kafka_connection(connection)


@pytest.mark.parametrize("group", objects("ConsumerGroup"), ids=lambda found: found["metadata"]["name"])
def test_a_group_is_valid_and_its_connection_is_an_example_as_well(group: dict[str, Any]) -> None:
    parsed = parse_consumer_group(group)
    reference = parsed.spec.connection_ref
    found = [
        each for each in CONNECTIONS if (each["kind"], each["metadata"]["name"]) == (reference.kind, reference.name)
    ]
    assert found
    tenants = [place for each in found for tenant in each["spec"].get("tenants", ()) for place in tenant["namespaces"]]
    places = tenants or [parsed.namespace]
    assert any(allows(prefixes_of(each, place), parsed.group_id) for each in found for place in places)


@pytest.mark.parametrize("fleet", objects("ConsumerFleet"), ids=lambda found: found["metadata"]["name"])
def test_a_fleet_is_valid_and_accepted(fleet: dict[str, Any]) -> None:
    fleet["metadata"]["namespace"] = "payments"
    spec = parse_consumer_fleet(fleet).spec
    of_the_operator = bool(spec.namespaces)
    assert gates_of(Fleet("payments", "payments", spec, of_the_operator), Scope(), 1_795_600_000.0).refused is None


@pytest.mark.parametrize("campaign", objects("FleetCampaign"), ids=lambda found: found["metadata"]["name"])
def test_a_campaign_is_valid_and_its_fleet_is_an_example_that_gives_what_it_applies(campaign: dict[str, Any]) -> None:
    spec = parse_fleet_campaign(campaign).spec
    [fleet] = [each for each in objects("ConsumerFleet") if each["metadata"]["name"] == spec.fleet_ref.name]
    applied = spec.action.apply_defaults
    given = applies_of(applied, said_by(parse_consumer_fleet(fleet).spec.defaults))
    assert applied is None or set(applied.fields) <= given.keys()


def test_a_group_names_a_campaign_that_is_an_example() -> None:
    named = [group["metadata"].get("annotations", {}).get(CAMPAIGN) for group in objects("ConsumerGroup")]
    there = [campaign["metadata"]["name"] for campaign in objects("FleetCampaign")]
    assert [name for name in named if name is not None and name.rpartition("/")[2] not in there] == []
    assert any(named)


@pytest.mark.parametrize("strategy", StrategyName)
def test_each_way_to_another_protocol_has_its_example(strategy: StrategyName) -> None:
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES.glob("upgrade-*.yaml")]
    assert any(text.startswith(f"# {strategy}") for text in texts)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("upgrade-*.yaml")), ids=lambda path: path.stem)
def test_an_example_of_an_upgrade_leads_where_it_says(path: Path) -> None:
    """By the strategy that its first word names, from what its comments say that the group had before."""
    text = path.read_text(encoding="utf-8")
    group = parse_consumer_group(yaml.safe_load(text))
    had = re.search(r"# was: (Eager|nothing)", text)
    assert had is not None
    origin = Profile.EAGER if had[1] == "Eager" else Profile.EAGER_AND_COOPERATIVE  # F5
    target = group.spec.protocol.target
    assert target is not None
    library = group.spec.client.library
    found = next(each for each in STRATEGIES if each.fits(library, origin, profile_of(target)))
    assert text.startswith(f"# {found.name}")
    assert (found.name is StrategyName.DRAIN_CUTOVER) == group.spec.protocol.allow_downtime
    version = parse_version(group.spec.client.version)
    assert version >= found.since
    assert not found.before or version < found.before
