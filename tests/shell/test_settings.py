"""Settings from the environment."""

from __future__ import annotations

import re

import pytest

from slackwater.shell.settings import InvalidSettings, read_settings
from slackwater.shell.store import Key


def test_unset_and_empty_variables_mean_the_default() -> None:
    settings = read_settings({"SLACKWATER_NAMESPACE": "", "SLACKWATER_REST_INTERVAL_S": ""})
    assert (settings.namespace, settings.rest_interval_s, settings.port) == ((), None, 8080)


def test_values_are_taken() -> None:
    settings = read_settings(
        {"SLACKWATER_NAMESPACE": "shop", "SLACKWATER_WORKERS": "8", "SLACKWATER_LOG_LEVEL": "debug"}
    )
    assert (settings.namespace, settings.workers, settings.log_level) == (("shop",), 8, "debug")


def test_namespaces_are_a_list() -> None:
    assert read_settings({"SLACKWATER_NAMESPACE": "shop, bank,shop"}).namespace == ("shop", "bank")


@pytest.mark.parametrize(("given", "wrong"), [("shop,", ""), ("team-*", "team-*"), ("shop,Bank", "Bank")])
def test_a_namespace_that_cannot_be_is_refused(given: str, wrong: str) -> None:
    with pytest.raises(InvalidSettings, match=re.escape(f"SLACKWATER_NAMESPACE cannot be '{wrong}'")):
        read_settings({"SLACKWATER_NAMESPACE": given})


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("WORKERS", "0", "write 1 or more"),
        ("PORT", "70000", "write 65535 or less"),
        ("PORT", "abc", "write a whole number"),
        ("LOG_LEVEL", "loud", "write 'debug', 'info', 'warning' or 'error'"),
        ("REST_INTERVAL_S", "-1", "write more than 0"),
        ("REST_INTERVAL_S", "soon", "write a number"),
        ("NAMESPACE", "Shop", "write lower-case letters, digits and -, with commas between namespaces"),
        (
            "TOKEN_HOSTS",
            "https://login.example",
            "write host names, such as login.example.com or *.example.com, with commas between them",
        ),
        (
            "METRICS_PER_GROUP",
            "tier=gold,",
            "write All, Summary, or labels: <label>=<value> or <label>, with commas between them",
        ),
        ("TELEMETRY", "x", "write file:<path> or kafka:<namespace>/<KafkaConnection>/<topic>"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(name: str, value: str, remedy: str) -> None:
    with pytest.raises(InvalidSettings) as raised:
        read_settings({f"SLACKWATER_{name}": value})
    assert str(raised.value) == f"SLACKWATER_{name} cannot be '{value}': {remedy}"


def test_hosts_of_tokens_are_a_list() -> None:
    settings = read_settings({"SLACKWATER_TOKEN_HOSTS": "login.example.com, *.okta.com"})
    assert settings.token_hosts == ("login.example.com", "*.okta.com")


def test_the_lease_is_named_with_its_namespace() -> None:
    settings = read_settings({"SLACKWATER_LEASE": "slackwater-system/slackwater", "SLACKWATER_LEASE_S": "30"})
    assert (settings.lease, settings.lease_s) == (Key("slackwater-system", "slackwater"), 30)
    assert read_settings({}).lease is None
    with pytest.raises(InvalidSettings, match="SLACKWATER_LEASE cannot be 'slackwater': write <namespace>/<name>"):
        read_settings({"SLACKWATER_LEASE": "slackwater"})


@pytest.mark.parametrize("value", ["2", "3.5"])
def test_a_lease_lasts_whole_seconds_and_three_at_least(value: str) -> None:
    with pytest.raises(InvalidSettings, match="SLACKWATER_LEASE_S cannot be"):
        read_settings({"SLACKWATER_LEASE_S": value})


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("NAMESPACES", "NAMESPACE"),
        ("WATCH_NAMESPACES", "NAMESPACE"),
        ("LEASE_DURATION_S", "LEASE_S"),
        ("RECOMENDATIONS", "RECOMMENDATIONS"),
    ],
)
def test_a_misspelt_variable_is_refused_and_says_what_was_meant(misspelt: str, meant: str) -> None:
    """Else an operator that was to work in one namespace would work in all of them."""
    sentence = f"SLACKWATER_{misspelt} is no setting: write SLACKWATER_{meant}, or leave it out"
    with pytest.raises(InvalidSettings, match=f"^{sentence}$"):
        read_settings({f"SLACKWATER_{misspelt}": "shop"})


def test_what_kubernetes_sets_for_a_service_called_slackwater_is_not_ours() -> None:
    links = ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_METRICS", "PORT_8080_TCP", "PORT_8080_TCP_ADDR"]
    assert read_settings({f"SLACKWATER_{name}": "10.0.0.7" for name in links}) == read_settings({})
