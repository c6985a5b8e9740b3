"""The page of all fields says what the models say."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from slackwater.api.crd import RESOURCES, Resource
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.structural import Schema, structural_schema
from tests.api.manifests import consumer_group
from tests.docs import fields


def test_the_page_is_the_one_that_the_models_give() -> None:
    assert fields.PAGE.read_text(encoding="utf-8") == fields.made(), "run `make docs-pages`"


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: each.kind)
def test_no_field_is_left_out(resource: Resource) -> None:
    spec = structural_schema(resource.model)["properties"]["spec"]
    page = fields.made()
    for path, names in objects("spec", spec):
        section = page.partition(f"### {resource.kind}: {path}\n")[2].partition("\n###")[0]
        assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == names


def test_a_list_that_must_have_an_entry_is_required() -> None:
    """Refused by a rule when it is left out, for the sentence's sake: `required` in the schema would say less."""
    required = re.findall(r"^\| `(\w+)` \| [^|]+ \| \*\*required\*\* \|", fields.made(), re.MULTILINE)
    assert {"topics", "bootstrapServers"} <= set(required)
    with pytest.raises(InvalidSpec, match="topics"):
        parse_consumer_group(consumer_group(topics=None))


def test_each_of_them_has_a_meaning() -> None:
    rows = re.findall(r"^\| `\w+` \|.*$", fields.made(), re.MULTILINE)
    assert rows
    assert [row for row in rows if row.endswith("|  |")] == []


def objects(path: str, schema: Schema) -> Iterator[tuple[str, list[str]]]:
    """Each object of ours with the names of its fields; those of pod templates and claims are Kubernetes' own."""
    if "properties" in schema and path not in ("spec.template", "spec.volumeClaimTemplates[]"):
        yield path, list(schema["properties"])
        for name, field in schema["properties"].items():
            yield from objects(f"{path}.{name}" + ("[]" if "items" in field else ""), field.get("items", field))
