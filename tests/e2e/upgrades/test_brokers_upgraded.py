"""A broker is upgraded from Kafka 3.9 to the sandbox's version under an operator that runs, step by step as Kafka says.

Until its feature `group.version` is raised, a group that is to go to KIP-848 waits, works and can be rolled out.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from sandbox.kafka.libraries import class_path, ensure_libraries
from sandbox.layout import HOST, Layout
from sandbox.toolchain import java
from tests.adapters.kafka.own_broker import OwnBroker, made_broker, serving
from tests.conftest import ROOT
from tests.e2e.kubernetes.halfway import begin, gave_up, most_down, restarts, wait_rolled_out
from tests.e2e.kubernetes.own_brokers import restart
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.stage import Stage, staged
from tests.e2e.stage.waiting import wait_for
from tests.e2e.upgrades.upgrades import RDKAFKA, upgrade, with_target

pytestmark = [pytest.mark.e2e, pytest.mark.quiet, pytest.mark.long, pytest.mark.minutes(6), pytest.mark.timeout(900)]

OLD: Final = "3.9.1"
NAME: Final = "orders"
_TOOL_S: Final = 60.0
_LOGGING: Final = """<Configuration>
  <Appenders><Console name="stdout"/></Appenders>
  <Loggers>
    <Root level="warn"><AppenderRef ref="stdout"/></Root>
    <Logger name="kafka.server.KafkaRaftServer" level="info"/>
  </Loggers>
</Configuration>
"""
"""Kafka 3 has nothing that reads the sandbox's, which is YAML."""


@dataclass(slots=True)
class Upgradable:
    """One broker, which can be started with newer jars over the data that it has."""

    broker: OwnBroker
    old: Path
    new: Path

    def upgrade(self) -> None:
        """Stop it in good order and start the newer one. What the cluster has finalized stays as it was."""
        paths = {class_path(self.old): class_path(self.new)}
        self.broker.command = [paths.get(argument, argument) for argument in self.broker.command]
        restart(self.broker)

    def raise_feature(self, feature: str) -> None:
        """With `kafka-features.sh upgrade --feature`, as our own message says."""
        machine = [str(java(Layout.from_environment())), "-cp", class_path(self.new)]
        tool = ["org.apache.kafka.tools.FeatureCommand", "--bootstrap-server", self.broker.bootstrap_servers]
        command = [*machine, *tool, "upgrade", "--feature", feature]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TOOL_S)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def upgradable(sandbox_up: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgradable]:
    layout = Layout.from_environment()
    old = ensure_libraries(layout, OLD)
    folder = tmp_path_factory.mktemp("upgraded")
    (folder / "log4j2.xml").write_text(_LOGGING)
    logging = f"-Dlog4j2.configurationFile={folder}/log4j2.xml"
    broker = made_broker(folder, {}, host=str(HOST), java_options=(logging,), libraries=old)
    with serving(broker):
        yield Upgradable(broker, old, ensure_libraries(layout))


@pytest.fixture(scope="module")
def stage(crds: None, kubeconfig: Path, upgradable: Upgradable) -> Iterator[Stage]:
    directory = ROOT / "build" / "e2e" / "brokers_upgraded"
    with staged("brokers_upgraded", kubeconfig, upgradable.broker.bootstrap_servers, directory) as made:
        yield made


def test_a_group_waits_for_kip_848_and_goes_there_when_the_brokers_can(upgradable: Upgradable, stage: Stage) -> None:
    group = stage.group(NAME, client=RDKAFKA, protocol={"target": "Eager"})
    stage.create(group)
    wanted = with_target(group, "Consumer")
    stage.cluster.apply(wanted)
    said = stage.cluster.wait_condition(NAME, "ProtocolUpgrade", "False", "BrokerCannot")
    assert "bring all to Kafka 4.0 or newer" in said["message"]
    wanted = _roll_out(stage, wanted, "2")

    upgradable.upgrade()
    wait_for("the other message", lambda: "group.version is 0" in _said(stage), 120.0, lambda: _said(stage))
    assert stage.cluster.condition(NAME, "ProtocolUpgrade")["reason"] == "BrokerCannot"
    wanted = _roll_out(stage, wanted, "3")
    assert stage.kafka.look(stage.group_id(NAME)).kind == "CLASSIC"

    upgradable.raise_feature("group.version=1")
    upgraded = upgrade(stage, wanted)[NAME]
    assert {step[:2] for step in upgraded.steps if step[0]} == {("Eager", "Consumer")}
    assert stage.kafka.look(stage.group_id(NAME)).kind == "CONSUMER"
    assert gave_up(stage, NAME, 0.0) == []


def _roll_out(stage: Stage, group: Json, version: str) -> Json:
    began = begin(stage, group, version)
    wait_rolled_out(stage, NAME, version)
    assert most_down(stage, NAME, began) == 1
    assert restarts(stage, NAME, began) == {f"{NAME}-{ordinal}": 1 for ordinal in range(REPLICAS)}
    return with_env(group, VERSION=version)


def _said(stage: Stage) -> str:
    return str(stage.cluster.condition(NAME, "ProtocolUpgrade")["message"])
