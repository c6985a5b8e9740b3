"""What the jobs' common options become."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from slackwater.pipeline.arguments import connector_options, spark_settings
from slackwater.pipeline.errors import SourceUnreadable

LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b=c";'


def test_settings_of_the_client_go_through_sparks_connector() -> None:
    assert connector_options(["security.protocol=SSL"], None, ["minPartitions=8"]) == {
        "kafka.security.protocol": "SSL",
        "minPartitions": "8",
    }


def test_a_file_keeps_secrets_off_the_command_line_and_the_command_line_wins(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"# for the pipeline\n\nsasl.jaas.config = {LOGIN}\nsasl.mechanism=PLAIN\n")
    assert connector_options(["sasl.mechanism=SCRAM-SHA-512"], str(file), None) == {
        "kafka.sasl.jaas.config": LOGIN,
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
    }


def test_nothing_given_is_nothing() -> None:
    assert (connector_options(None, None, None), spark_settings(None)) == ({}, {})


@pytest.mark.parametrize("wrong", ["security.protocol", "=SSL"])
def test_half_a_setting_is_refused(wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(wrong)
    with pytest.raises(typer.BadParameter, match="--kafka takes NAME=VALUE"):
        connector_options([wrong], None, None)
    with pytest.raises(typer.BadParameter, match="--kafka-config takes NAME=VALUE"):
        connector_options(None, str(file), None)
    with pytest.raises(typer.BadParameter, match="--option takes NAME=VALUE"):
        connector_options(None, None, [wrong])
    with pytest.raises(typer.BadParameter, match="--conf takes NAME=VALUE"):
        spark_settings([wrong])


def test_a_name_as_spark_has_it_is_refused_rather_than_passed_over() -> None:
    with pytest.raises(typer.BadParameter, match=r"security\.protocol, not kafka\.security.protocol"):
        connector_options(["kafka.security.protocol=SSL"], None, None)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="correct --kafka-config"):
        connector_options(None, str(tmp_path / "nowhere"), None)
