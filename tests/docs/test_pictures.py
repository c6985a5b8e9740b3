"""The pictures show what the code does."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from slackwater.core.protocol.strategies import STRATEGIES
from slackwater.core.rollout.gates import GATES
from tests.docs import pictures, way
from tests.docs.gate_reasons import reasons_before_the_gates, reasons_of
from tests.test_layout import ROOT

PAGES = [page.read_text(encoding="utf-8") for page in pictures.FOLDER.parent.glob("*.md")]


@pytest.mark.parametrize(("name", "drawn"), pictures.made().items(), ids=list(pictures.made()))
def test_a_picture_is_the_one_that_the_code_gives(name: str, drawn: str) -> None:
    assert (pictures.FOLDER / name).read_text(encoding="utf-8") == drawn, "run `make docs-pages`"
    assert ET.fromstring(drawn).tag.endswith("svg")
    assert any(f"](pictures/{name})" in page for page in PAGES)


def test_a_gate_gives_the_reasons_of_what_it_calls_as_well() -> None:
    assert reasons_of("partitions_are_owned") == [
        "PartitionsNotOwned",
        "PodCrashed",
        "MemberOwnsNothing",
        "OffsetsNotMoving",
    ]
    assert reasons_of("members_are_ours")[-2:] == ["MemberMissing", "MemberNotRejoined"]


def test_no_reason_of_a_gate_is_left_out() -> None:
    assert all(reasons_of(gate.__name__) for gate in GATES)
    assert reasons_before_the_gates()[0] == "KafkaUnreachable"


def test_every_way_has_its_line() -> None:
    drawn = pictures.made()["upgrades.svg"]
    for strategy in STRATEGIES:
        assert all(str(library) in drawn for library in strategy.libraries)
        assert all(f"{o} → {strategy.path[-1]}<" in drawn for o in strategy.origins if o)


@pytest.mark.parametrize("step", [*way.COMING, *way.THINKING, *way.DOING], ids=lambda step: step.title)
def test_every_step_of_the_way_is_where_the_picture_says(step: way.Step) -> None:
    assert (ROOT / "operator" / "slackwater" / step.place).exists()
