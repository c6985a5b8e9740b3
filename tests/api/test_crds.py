"""The checked-in CRDs are what the models say, and what the API server wants them to be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slackwater.api.crd import RESOURCES, Resource, as_yaml, custom_resource_definition

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


def fields(node: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in node.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from fields(field.get("items", field), f"{path}.{name}")
