"""The checked-in CRDs are what the models say, and what the API server wants them to be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slackwater.api.crd import RESOURCES, Resource, as_yaml, custom_resource_definition
from tests.api.refusals import REFUSALS

CRDS = Path(__file__).parents[2] / "crds"


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.plural)
def test_the_checked_in_crd_is_the_generated_one(resource: Resource) -> None:
    assert (CRDS / resource.file_name).read_text(encoding="utf-8") == as_yaml(resource), "run `make crds`"


def test_nothing_else_is_checked_in() -> None:
    assert sorted(path.name for path in CRDS.iterdir()) == sorted(resource.file_name for resource in RESOURCES)


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.plural)
def test_people_can_ask_what_every_field_of_a_spec_is(resource: Resource) -> None:
    schema = custom_resource_definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec = schema["properties"]["spec"]
    unexplained = [path for path, field in fields(spec, "spec") if "description" not in field]
    assert [path for path in unexplained if ".template." not in path] == []


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.plural)
def test_a_spec_has_no_default_as_a_whole(resource: Resource) -> None:
    """It has to be given. The API server would hold a default against rules that say so of a field in it."""
    schema = custom_resource_definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert "default" not in schema["properties"]["spec"]


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.plural)
def test_a_status_has_neither_rules_nor_defaults(resource: Resource) -> None:
    """A campaign's plan is of the waves of its spec, without what is as if not given: a rule that reads such a field
    refused each status."""
    schema = custom_resource_definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    status = schema["properties"]["status"]
    assert not list(validations(status))
    assert [path for path, field in fields(status, "status") if "default" in field] == []


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.plural)
def test_every_rule_is_in_the_table_of_refusals(resource: Resource) -> None:
    """So the test on the API server runs each rule's CEL, and its Python gives the same sentence."""
    schema = custom_resource_definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    rules = [rule for rule in validations(schema) if "oldSelf" not in rule["rule"]]
    tested = [refusal.sentence for refusal in REFUSALS]
    # Owned settings are refused with the group's prefix before their name, so only what follows is the same.
    untested = [rule["message"] for rule in rules if not any(alike(rule["message"], found) for found in tested)]
    assert untested == []


def alike(message: str, tested: str) -> bool:
    return message.removeprefix("remove ") in tested or tested in message


def validations(node: Any) -> Iterator[dict[str, str]]:
    if isinstance(node, dict):
        yield from node.get("x-kubernetes-validations", ())
        for part in node.values():
            yield from validations(part)


def fields(node: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in node.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from fields(field.get("items", field), f"{path}.{name}")
