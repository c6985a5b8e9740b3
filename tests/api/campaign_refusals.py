"""What is refused of campaigns, and of what fleets say to them (waves) and to groups (defaults), and in which words."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from tests.api.manifests import ABSENT, Manifest
from tests.api.refusal import DURATION, POSITIVE, Refusal


def _object(kind: str, name: str, spec: Manifest) -> Manifest:
    fields = {field: deepcopy(value) for field, value in spec.items() if value is not ABSENT}
    return {"apiVersion": "slackwater.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": fields}


def fleet(**spec: Any) -> Manifest:
    """A fleet of all groups of its namespace."""
    return _object("ConsumerFleet", "platform", {"selector": {}} | spec)


def campaign(**spec: Any) -> Manifest:
    """A campaign that restarts all groups of a fleet."""
    return _object("FleetCampaign", "kip-848", {"fleetRef": {"name": "platform"}, "action": {"restart": {}}} | spec)


def _waves(name: str, waves: list[Manifest], path: str, sentence: str, server: str = "") -> tuple[Refusal, Refusal]:
    """The same of both kinds that have waves."""
    return (
        Refusal(f"{name}, of a campaign", campaign(waves=waves), path, sentence, server),
        Refusal(f"{name}, of a fleet", fleet(waves=waves), path, sentence, server),
    )


TAKES_ALL: Final = {"name": "all"}
REFUSALS: Final = (
    Refusal(
        "no action",
        campaign(action={}),
        "spec.action",
        "say what the campaign does: one of restart, applyDefaults, changes",
    ),
    Refusal(
        "two actions",
        campaign(action={"restart": {}, "changes": {}}),
        "spec.action",
        "say what the campaign does: one of restart, applyDefaults, changes",
    ),
    Refusal(
        "an action that is none",
        campaign(action={"rollback": {}}),
        "spec.action.rollback",
        "is no known field: remove it, or use one of applyDefaults, changes, restart",
        server='unknown field "spec.action.rollback"',
    ),
    Refusal(
        "a default that restarts nobody, and so is in force anyway",
        campaign(action={"applyDefaults": {"fields": ["rollout.onFailure"]}}),
        "spec.action.applyDefaults.fields[0]",
        "write one of 'protocol.target', 'protocol.allowDowntime', 'timeouts.session'",
        server="supported values",
    ),
    Refusal(
        "a default twice",
        campaign(action={"applyDefaults": {"fields": ["protocol.target", "protocol.target"]}}),
        "spec.action.applyDefaults.fields",
        "keep each only once, not so protocol.target",
        server="Duplicate value",
    ),
    Refusal(
        "a fleet's name that is none",
        campaign(fleetRef={"name": "slackwater/platform"}),
        "spec.fleetRef.name",
        "write the name of an object: lower-case letters, digits, - and .",
    ),
    Refusal(
        "fewer failures than none",
        campaign(maxFailures=-1),
        "spec.maxFailures",
        "write 0 or more",
        server="should be greater than or equal to 0",
    ),
    Refusal("a deadline without a unit", campaign(deadline="72"), "spec.deadline", DURATION),
    Refusal("no time at all", campaign(deadline="0h"), "spec.deadline", POSITIVE),
    Refusal(
        "a selector without values",
        campaign(selector={"matchExpressions": [{"key": "tier", "operator": "In"}]}),
        "spec.selector.matchExpressions[0].values",
        "In and NotIn take values, Exists and DoesNotExist take none",
    ),
    Refusal(
        "a label's key that is none",
        campaign(selector={"matchExpressions": [{"key": "-", "operator": "Exists"}]}),
        "spec.selector.matchExpressions[0].key",
        "write the key of a label",
    ),
    Refusal(
        "a label's value that is none",
        campaign(selector={"matchExpressions": [{"key": "tier", "operator": "In", "values": ["-"]}]}),
        "spec.selector.matchExpressions[0].values[0]",
        "write the value of a label, 63 characters",
    ),
    *_waves(
        "a wave that takes the rest before the last",
        [TAKES_ALL, {"name": "later", "size": 1}],
        "spec.waves",
        "only the last wave may take the rest: give ",
    ),
    *_waves(
        "two waves of one name",
        [{"name": "some", "size": 1}, {"name": "some", "size": 2}],
        "spec.waves",
        "give each wave a name of its own: waves[].name",
    ),
    *_waves(
        "a wave's name that is none",
        [{"name": "Canary"}],
        "spec.waves[0].name",
        "write lower-case letters, digits and -, beginning and ending with a letter or digit",
    ),
    *_waves(
        "a wave of none",
        [{"name": "none", "size": 0}],
        "spec.waves[0].size",
        "write how many groups are in the wave: 1 or more, or 1% to 100%",
    ),
    *_waves(
        "a share of more than all",
        [{"name": "more", "size": "101%"}],
        "spec.waves[0].size",
        "write how many groups are in the wave: 1 or more, or 1% to 100%",
    ),
    *_waves(
        "a wave in which none may move",
        [{"name": "still", "max": 0}],
        "spec.waves[0].max",
        "write how many groups of the wave may move at a time: 1 or more, or 1% to 100%",
    ),
    *_waves(
        "a soak of more than a month",
        [{"name": "long", "soak": "721h"}],
        "spec.waves[0].soak",
        "a soak is at most 720h, which is 30 days: a campaign that takes longer is two",
    ),
    *_waves("a soak that is none", [{"name": "wrong", "soak": "1d"}], "spec.waves[0].soak", DURATION),
    *_waves(
        "promoted by nobody",
        [{"name": "wrong", "promote": "Never"}],
        "spec.waves[0].promote",
        "write one of 'Auto' or 'Manual'",
        server='supported values: "Auto", "Manual"',
    ),
    *_waves(
        "more waves than anybody can hold",
        [{"name": f"w{n}", "size": 1} for n in range(17)],
        "spec.waves",
        "list 16 at most",
        server="must have at most 16 items",
    ),
    Refusal(
        "a default session longer than the default max poll interval",
        fleet(defaults={"timeouts": {"session": "6m"}}),
        "spec.defaults.timeouts.session",
        "a session longer than the max poll interval keeps clients from starting",
    ),
    Refusal(
        "a default heartbeat of more than a third of the session",
        fleet(defaults={"timeouts": {"heartbeat": "16s"}}),
        "spec.defaults.timeouts.heartbeat",
        "a session must have room for three heartbeats: lower timeouts.heartbeat or raise timeouts.session",
    ),
    Refusal(
        "a default session with a default target Consumer",
        fleet(defaults={"protocol": {"target": "Consumer"}, "timeouts": {"session": "45s"}}),
        "spec.defaults.timeouts",
        "with protocol.target Consumer the broker keeps session and heartbeat for the whole group",
    ),
    Refusal(
        "a default handover that cannot be",
        fleet(defaults={"protocol": {"target": "Consumer"}, "rollout": {"strategy": "WarmHandover"}}),
        "spec.defaults.rollout.strategy",
        "a warm handover needs static members of the classic protocol",
    ),
    Refusal(
        "what only one application's client can need",
        fleet(defaults={"protocol": {"upgradeFrom": "2.3"}}),
        "spec.defaults.protocol.upgradeFrom",
        "is no known field",
        server='unknown field "spec.defaults.protocol.upgradeFrom"',
    ),
    Refusal(
        "something that fleets do not give",
        fleet(defaults={"replicas": 3}),
        "spec.defaults.replicas",
        "is no known field",
        server='unknown field "spec.defaults.replicas"',
    ),
)
