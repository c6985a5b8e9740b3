"""What Argo CD is given is run, on statuses that the operator composes, in the Lua that Argo CD has."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
import yaml

from slackwater.api.annotations import PAUSE, TOKEN_COMMANDS
from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.api.parsing import parse_consumer_group
from slackwater.core.commands import obey
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase
from tests.core.factories import changed, world
from tests.docs.argocd import ACTIONS, FOLDER, KINDS, PATCH, made, script
from tests.docs.group_states import states
from tests.docs.lua import run
from tests.test_layout import ROOT

STATES: Final = states()
HEALTH: Final = {
    "just applied": "Progressing",
    "applied again": "Progressing",
    "first pods": "Progressing",
    "rolling": "Progressing",
    "last pod is back": "Progressing",
    "about to begin": "Progressing",
    "pods of another version": "Progressing",
    "at a canary": "Suspended",
    "waits for its turn": "Progressing",
    "complete": "Healthy",
    "stopped by replicas 0": "Healthy",
    "failed": "Degraded",
    "rolling back": "Degraded",
    "rolled back": "Degraded",
    "paused": "Suspended",
    "failed and paused": "Degraded",
    "Kafka away": "Progressing",
    "waits for Kafka": "Progressing",
    "a stranger in the group": "Degraded",
    "upgrading": "Progressing",
    "upgrade refused": "Degraded",
    "upgrade not known yet": "Progressing",
    "unreadable": "Degraded",
    "being deleted": "Progressing",
}
ENABLED: Final = {
    "just applied": {"pause", "restart"},
    "rolling": {"pause", "abort", "restart"},
    "at a canary": {"pause", "promote", "abort", "restart"},
    "complete": {"pause", "restart"},
    "failed": {"pause", "abort", "retry"},
    "rolling back": {"pause", "retry"},
    "rolled back": {"pause", "retry"},
    "paused": {"resume", "abort", "restart"},
    "failed and paused": {"resume", "abort", "retry"},
}


def action(name: str, obj: dict[str, Any]) -> dict[str, Any]:
    done: dict[str, Any] = run(script("ConsumerGroup", f"actions/{name}/action.lua"), obj)
    return done


def test_every_state_has_a_health() -> None:
    assert HEALTH.keys() == STATES.keys()


@pytest.mark.parametrize("name", STATES)
def test_argo_cd_says_how_a_group_is(name: str) -> None:
    said = run(script("ConsumerGroup", "health.lua"), STATES[name])
    assert said["status"] == HEALTH[name], said
    assert re.search(r"\w{3}", said["message"]), said


@pytest.mark.parametrize("name", ["failed", "rolling back", "rolled back", "failed and paused"])
def test_a_version_that_was_given_up_is_degraded_and_says_what_went_wrong(name: str) -> None:
    said = run(script("ConsumerGroup", "health.lua"), STATES[name])
    assert "nobody has joined for 300 s" in said["message"]


@pytest.mark.parametrize(
    ("conditions", "health"),
    [
        ([], "Healthy"),
        ([{"type": "Ready", "status": "True", "reason": "Connected", "message": "Kafka answers"}], "Healthy"),
        ([{"type": "Ready", "status": "False", "reason": "NotAuthorized", "message": "no"}], "Degraded"),
    ],
)
def test_a_connection_is_degraded_when_it_does_not_work(conditions: list[dict[str, str]], health: str) -> None:
    obj: dict[str, Any] = {"metadata": {"name": "main"}, "status": {"conditions": conditions}}
    for each in (obj, {**obj, "status": None}) if not conditions else (obj,):
        assert run(script("KafkaConnection", "health.lua"), each)["status"] == health


@pytest.mark.parametrize("name", STATES)
def test_every_action_is_offered_and_has_its_script(name: str) -> None:
    offered = run(script("ConsumerGroup", "actions/discovery.lua"), STATES[name])
    assert offered.keys() == set(ACTIONS)
    assert {each.parent.name for each in FOLDER.glob("ConsumerGroup/actions/*/action.lua")} == set(ACTIONS)


@pytest.mark.parametrize("name", ENABLED)
def test_actions_that_would_do_nothing_are_greyed_out(name: str) -> None:
    offered = run(script("ConsumerGroup", "actions/discovery.lua"), STATES[name])
    assert {word for word, each in offered.items() if not each["disabled"]} == ENABLED[name]


@pytest.mark.parametrize("annotations", [None, {"other": "stays"}])
@pytest.mark.parametrize("name", sorted(set(ACTIONS) - {"pause", "resume"}))
def test_an_action_is_a_command_that_the_operator_obeys(name: str, annotations: dict[str, str] | None) -> None:
    obj = STATES["failed" if name in ("abort", "retry") else "at a canary"]
    done = action(name, {**obj, "metadata": {**obj["metadata"], "annotations": annotations}})
    (command,) = (each for each in TOKEN_COMMANDS if each.endswith(f"/{name}"))
    given = done["metadata"]["annotations"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", given[command])
    assert given == {**(annotations or {}), command: given[command]}
    assert done["spec"] == run("return obj", obj)["spec"]
    asked = parse_consumer_group({**obj, "metadata": {**obj["metadata"], "annotations": given}})
    assert obey(changed(world(), group=asked)).memory.commands[command] == given[command]


def test_the_page_says_what_the_scripts_say() -> None:
    page = (ROOT / "docs" / "gitops.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (\w+) \| \w+ \| (?:Current|InProgress|Terminating) \|$", page, re.MULTILINE)
    assert dict(rows) == HEALTH


def test_flux_is_asked_about_phases_and_conditions_that_there_are() -> None:
    text = (ROOT / "examples" / "gitops" / "flux" / "kustomization.yaml").read_text(encoding="utf-8")
    checks = {each["kind"]: each for each in yaml.safe_load(text)["spec"]["healthCheckExprs"]}
    words = {word for check in checks.values() for word in re.findall(r"'(\w+)'", " ".join(map(str, check.values())))}
    assert words <= {*RolloutPhase, *ConditionType, *Reason, *ConditionStatus}
    assert "c.type == 'Degraded' && c.status == 'True'" in checks["ConsumerGroup"]["failed"]


def test_pause_and_resume_put_the_annotation_there_and_take_it_away() -> None:
    held = action("pause", STATES["rolling"])
    assert held["metadata"]["annotations"] == {PAUSE: "paused in Argo CD"}
    assert action("resume", held)["metadata"]["annotations"] == {}


def test_the_config_map_holds_these_files() -> None:
    assert PATCH.read_text(encoding="utf-8") == made(), "run `python -m tests.docs.argocd`"
    data = yaml.safe_load(PATCH.read_text(encoding="utf-8"))["data"]
    for kind in KINDS:
        assert data[f"resource.customizations.health.slackwater.dev_{kind}"] == script(kind, "health.lua")
    actions = yaml.safe_load(data["resource.customizations.actions.slackwater.dev_ConsumerGroup"])
    assert actions["discovery.lua"] == script("ConsumerGroup", "actions/discovery.lua")
    assert {each["name"]: each["action.lua"] for each in actions["definitions"]} == {
        name: script("ConsumerGroup", f"actions/{name}/action.lua") for name in ACTIONS
    }
