"""A mistyped value is refused by name, before anything is installed."""

from __future__ import annotations

import pytest
import yaml

from tests.chart.helm import CHART, Refused, helm, render

pytestmark = pytest.mark.e2e  # Helm is built by the sandbox


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("replicas", "2", "replicas"),
        ("image__tga", "dev", "tga"),
        ("image__pullPolicy", "Sometimes", "/image/pullPolicy"),
        ("observation__movingInterval", "2", "movingInterval"),
        ("observation__restIntervalSeconds", "0", "/observation/restIntervalSeconds"),
        ("observation__restIntervalSeconds", "0.0", "/observation/restIntervalSeconds"),
        ("log__level", "verbose", "/log/level"),
        ("watchNamespace", "Team_A", "/watchNamespace"),
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


def test_the_readme_names_every_value() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    split = ("image", "observation", "log")
    names = {f"{name}.{inner}" for name in split for inner in values[name]} | (values.keys() - set(split))
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    assert {name for name in names if f"`{name}`" not in readme} == set()
