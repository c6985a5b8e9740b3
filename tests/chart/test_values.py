"""A mistyped value is refused by name, before anything is installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.chart.helm import CHART, Refused, helm, render

pytestmark = pytest.mark.e2e  # Helm is built by the sandbox


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("replica", "2", "replica"),
        ("replicas", "0", "/replicas"),
        ("leaseSeconds", "2", "/leaseSeconds"),
        ("image__tga", "dev", "tga"),
        ("image__pullPolicy", "Sometimes", "/image/pullPolicy"),
        ("image__digest", "latest", "/image/digest"),
        ("nameOverride", "The_Tides", "/nameOverride"),
        ("commonLabels__helm\\.sh/chart", "mine", "helm.sh/chart"),
        ("extraEnv[0]__name", "SLACKWATER_LEASE", "/extraEnv/0/name"),
        ("extraEnv[0]__nam", "HTTPS_PROXY", "nam"),
        ("hostAliases[0]__ip", "10.0.0.1", "hostnames"),
        ("dnsConfig__search", "internal", "search"),
        ("serviceMonitor__scrapeTimeout", "10", "/serviceMonitor/scrapeTimeout"),
        ("prometheusRule__disabled", "{SlackwaterGroupLag}", "/prometheusRule/disabled/0"),
        ("prometheusRule__runbookUrl", "docs/runbooks.md", "/prometheusRule/runbookUrl"),
        ("observation__movingInterval", "2", "movingInterval"),
        ("observation__restIntervalSeconds", "0", "/observation/restIntervalSeconds"),
        ("observation__restIntervalSeconds", "0.0", "/observation/restIntervalSeconds"),
        ("log__level", "verbose", "/log/level"),
        ("watchNamespace", "team-a", "watchNamespace"),
        ("watchNamespaces", "team-a", "/watchNamespaces"),
        ("watchNamespaces", "{team-a,Team_B}", "/watchNamespaces/1"),
        ("secretNames", "{*}", "/secretNames/0"),
        ("anySecret", "perhaps", "/anySecret"),
        ("crds__instal", "false", "instal"),
        ("serviceAccount__annotation", "a", "annotation"),
        ("podDisruptionBudget__maxUnavailable", "0", "/podDisruptionBudget/maxUnavailable"),
        ("podDisruptionBudget__minAvailable", "1", "minAvailable"),
        ("serviceMonitor__interval", "30", "/serviceMonitor/interval"),
        ("prometheusRule__enable", "true", "enable"),
        ("fleet__make", "true", "make"),
        ("fleet__name", "The_Platform", "/fleet/name"),
        ("dashboard__enable", "true", "enable"),
        ("dashboard__labels", "grafana_dashboard", "/dashboard/labels"),
        ("dashboard__namespace", "Monitoring", "/dashboard/namespace"),
        ("networkPolicy__kafkaPorts", "{9092,90920}", "/networkPolicy/kafkaPorts/1"),
        ("networkPolicy__metricsFrom[0]__ipBlok__cidr", "10.0.0.0/8", "ipBlok"),
        ("pipeline__kind", "Job", "/pipeline/kind"),
        ("pipeline__schedule", "daily", "/pipeline/schedule"),
        ("pipeline__bootstrapServers", "broker", "/pipeline/bootstrapServers"),
        ("pipeline__image__tga", "dev", "tga"),
        ("resources__limit__memory", "1Gi", "limit"),
        ("resources__limits__ram", "1Gi", "ram"),
        ("tolerations[0]__efect", "NoSchedule", "efect"),
        ("topologySpreadConstraints[0]__maxSkew", "0", "/topologySpreadConstraints/0/maxSkew"),
        ("telemetry", "file:/var/log/events", "/telemetry"),
        ("telemetry", "kafka:main/telemetry", "/telemetry"),
        ("recommendations", "topic", "/recommendations"),
        ("dataClaim", "History", "/dataClaim"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: str, named: str) -> None:
    with pytest.raises(Refused) as refused:
        render(**{name: value})
    assert f"'{named}'" in str(refused.value)


def test_every_default_is_in_the_schema() -> None:
    assert helm("lint", "--strict", str(CHART))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"pipeline__enabled": "true"}, "say in pipeline.bootstrapServers which brokers have the topics"),
        ({"fleet__create": "true"}, "install with false, which brings their type, and then upgrade with true"),
        ({"serviceAccount__create": "false"}, "say in serviceAccount.name which one to use"),
    ],
)
def test_a_value_that_another_one_needs_is_asked_for(values: dict[str, str], said: str) -> None:
    with pytest.raises(Refused, match=said):
        render(**values)


def test_no_level_of_the_schema_takes_what_it_does_not_know() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    levels = [schema, *(below for name in ("properties", "definitions") for below in under(schema[name]))]
    assert [level for level in levels if "properties" in level and level.get("additionalProperties") is not False] == []


def under(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema in it."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from under(value)
