"""The parts of a release fit together, before there is a tag."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from release import chart as charts
from release import krew, notes
from release import version as versions
from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection
from tests.docs.test_links import anchors
from tests.rules.files import RUNBOOKS_URL
from tests.test_layout import ROOT

CHART = yaml.safe_load((ROOT / "charts" / "slackwater" / "Chart.yaml").read_text(encoding="utf-8"))
REGISTRY = "ghcr.io/owner/name"


def annotation(name: str) -> list[dict[str, str]]:
    """One of Artifact Hub's, which is YAML in a text."""
    found: list[dict[str, str]] = yaml.safe_load(CHART["annotations"][f"artifacthub.io/{name}"])
    return found


def test_each_part_names_the_same_version() -> None:
    assert len(set(versions.versions().values())) == 1


@pytest.mark.parametrize("tag", ["0.1.0", "v0.1", "v0.1.0+build", "main", "v0.1.0\n"])
def test_what_is_no_tag_of_a_release_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="no tag of a release"):
        versions.released(tag)


def test_a_tag_of_another_version_names_every_part_that_is_behind() -> None:
    with pytest.raises(ValueError) as refused:
        versions.released("v99.0.0")
    assert all(part in str(refused.value) for part in (*versions.versions(), "CHANGELOG.md"))


def test_notes_are_one_versions_section() -> None:
    text = "# Changelog\n\n## [Unreleased]\n- new\n\n## [1.1.0] - 2026-12-01\n### Added\n- a\n\n## [1.0.0]\n- b\n"
    assert notes.notes("1.1.0", text) == "### Added\n- a\n"
    assert notes.notes("1.0.0", text) == "- b\n"
    with pytest.raises(ValueError, match=r"no section \[2\.0\.0\]"):
        notes.notes("2.0.0", text)


def test_artifact_hub_knows_every_resource_type() -> None:
    made = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in (ROOT / "crds").glob("*.yaml")]
    wanted = {(crd["metadata"]["name"], crd["spec"]["names"]["kind"]) for crd in made}
    assert {(each["name"], each["kind"]) for each in annotation("crds")} == wanted
    served = {version["name"] for crd in made for version in crd["spec"]["versions"]}
    assert {each["version"] for each in annotation("crds")} == served


def test_artifact_hubs_examples_are_valid() -> None:
    parsers: dict[str, Callable[[dict[str, Any]], object]] = {
        "ConsumerGroup": parse_consumer_group,
        "KafkaConnection": parse_kafka_connection,
    }
    examples = annotation("crdsExamples")
    assert {each["kind"] for each in examples} == set(parsers)
    for each in examples:
        parsers[each["kind"]](each)


def test_the_published_chart_has_its_images_addresses(tmp_path: Path) -> None:
    charts.published(REGISTRY, tmp_path / "chart")
    values = yaml.safe_load((tmp_path / "chart" / "values.yaml").read_text(encoding="utf-8"))
    published = yaml.safe_load((tmp_path / "chart" / "Chart.yaml").read_text(encoding="utf-8"))
    assert values["image"]["repository"] == f"{REGISTRY}/operator"
    assert values["pipeline"]["image"]["repository"] == f"{REGISTRY}/pipeline"
    images = yaml.safe_load(published["annotations"]["artifacthub.io/images"])
    assert [each["image"] for each in images] == [f"{REGISTRY}/{name}:{CHART['appVersion']}" for name in charts.IMAGES]
    assert {key: published[key] for key in CHART if key != "annotations"} == {
        key: CHART[key] for key in CHART if key != "annotations"
    }


def test_the_published_charts_links_lead_to_pages_of_the_site(tmp_path: Path) -> None:
    charts.published(REGISTRY, tmp_path / "chart")
    for name in ("README.md", "values.yaml"):
        text = (tmp_path / "chart" / name).read_text(encoding="utf-8")
        assert "../docs" not in text
        found = re.findall(rf"{charts.SITE}/([\w/-]+)\.html(?:#([\w-]+))?", text)
        assert found
        for page, anchor in found:
            source = ROOT / "docs" / f"{page}.md"
            assert source.exists()
            assert not anchor or anchor in anchors(source)
    assert RUNBOOKS_URL.startswith(charts.SITE)


def test_krew_gets_each_archive_with_its_hash(tmp_path: Path) -> None:
    for platform in ("linux-amd64", "darwin-arm64"):
        (tmp_path / f"kubectl-slackwater-{platform}.tar.gz").write_bytes(platform.encode())
    (tmp_path / "sbom.json").write_text("{}")
    made = krew.manifest("1.2.3", "https://example.com/owner/name", tmp_path)
    assert made["metadata"]["name"] == "slackwater"
    assert made["spec"]["version"] == "v1.2.3"
    assert len(made["spec"]["shortDescription"]) <= 50
    darwin, linux = made["spec"]["platforms"]
    assert darwin["selector"]["matchLabels"] == {"os": "darwin", "arch": "arm64"}
    assert (
        linux["uri"] == "https://example.com/owner/name/releases/download/v1.2.3/kubectl-slackwater-linux-amd64.tar.gz"
    )
    assert linux["sha256"] == hashlib.sha256(b"linux-amd64").hexdigest()
    assert re.fullmatch("kubectl-[a-z-]+", linux["bin"])


def test_krew_gets_nothing_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no kubectl-slackwater"):
        krew.manifest("1.2.3", "https://example.com/owner/name", tmp_path)
