"""The workflows of .github: what they call is there, others' code is pinned, and no job may do more than it needs.

`make workflows-check` asks actionlint and zizmor as well.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_layout import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yaml"))
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
SIGNING = ("images", "chart", "publish")


def jobs(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return found


def scripts(path: Path) -> Iterator[str]:
    for job in jobs(path).values():
        yield from (step["run"] for step in job["steps"] if "run" in step)


@each_workflow
def test_nothing_is_allowed_but_what_a_job_says(path: Path) -> None:
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {}
    for name, job in jobs(path).items():
        assert "permissions" in job, name
        assert 0 < job["timeout-minutes"] <= 120, name


@each_workflow
def test_other_peoples_actions_are_pinned_and_say_their_version(path: Path) -> None:
    used = re.findall(r"uses: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []


@each_workflow
def test_no_expression_is_pasted_into_a_script(path: Path) -> None:
    assert [script for script in scripts(path) if "${{" in script] == []


@each_workflow
def test_what_scripts_call_is_there(path: Path) -> None:
    text = "\n".join(scripts(path))
    targets = re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    made = [name for line in re.findall(r"\bmake ((?:[a-z-]+ ?)+)", text) for name in line.split()]
    assert [name for name in made if name not in targets] == []
    assert [name for name in re.findall(r"-m (release\.\w+)", text) if importlib.util.find_spec(name) is None] == []
    files = re.findall(r"(?:requirements/\S+\.txt|mkdocs\.\S+\.yml|\.ci/run)", text)
    assert [name for name in files if not (ROOT / name).is_file()] == []


def test_a_release_is_for_both_architectures_and_signed() -> None:
    release = jobs(GITHUB / "workflows" / "release.yaml")
    build = next(step for step in release["images"]["steps"] if "build-push" in step.get("uses", ""))
    assert build["with"]["platforms"] == "linux/amd64,linux/arm64"
    assert build["with"]["sbom"] is True
    for name in SIGNING:
        assert release[name]["permissions"]["id-token"] == "write"
        assert any("cosign sign" in step.get("run", "") for step in release[name]["steps"]), name


def test_nothing_is_published_before_the_version_is_known() -> None:
    release = jobs(GITHUB / "workflows" / "release.yaml")
    assert [name for name, job in release.items() if name != "version" and "version" not in job["needs"]] == []


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.name)
def test_forms_ask_for_what_github_takes(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(ids) == len(set(ids))
    assert {part["type"] for part in form["body"]} <= {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert all(part["attributes"].get("label") or part["type"] == "markdown" for part in form["body"])
