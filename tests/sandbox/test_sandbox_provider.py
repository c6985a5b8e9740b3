"""Whose cluster and brokers are used."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import provider
from sandbox.errors import SandboxError
from sandbox.layout import Layout
from sandbox.provider import Choice, ClusterProvider, choose


@pytest.fixture
def no_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "kind_is_there", lambda: False)


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    path = tmp_path / "their-kubeconfig"
    path.write_text("apiVersion: v1")
    return path


@pytest.mark.usefixtures("no_kind")
def test_without_anything_given_the_sandbox_makes_its_own(layout: Layout) -> None:
    assert choose(layout, {}, with_cluster=True) == Choice(ClusterProvider.OWN, None, None)


def test_kind_is_used_where_it_is_there(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "kind_is_there", lambda: True)

    assert choose(layout, {}, with_cluster=True).cluster is ClusterProvider.KIND


@pytest.mark.parametrize("variable", provider.KUBECONFIG_VARIABLES)
def test_a_given_kubeconfig_is_used(layout: Layout, theirs: Path, variable: str) -> None:
    assert choose(layout, {variable: str(theirs)}, with_cluster=True) == Choice(ClusterProvider.GIVEN, theirs, None)


def test_the_first_file_that_is_there_serves_of_a_list(layout: Layout, theirs: Path) -> None:
    given = {"KUBECONFIG": f"/no/such/file:{theirs}"}

    assert choose(layout, given, with_cluster=True).kubeconfig == theirs


@pytest.mark.usefixtures("no_kind")
def test_the_sandboxs_own_kubeconfig_does_not_count_as_given(layout: Layout) -> None:
    given = {"KUBECONFIG": str(layout.kubeconfig)}

    assert choose(layout, given, with_cluster=True).cluster is ClusterProvider.OWN


def test_a_given_kubeconfig_that_is_not_there_is_refused(layout: Layout) -> None:
    with pytest.raises(SandboxError, match="KUBECONFIG names /no/such/file, and there is no such file"):
        choose(layout, {"KUBECONFIG": "/no/such/file"}, with_cluster=True)


def test_given_brokers_are_used(layout: Layout) -> None:
    given = {"SLACKWATER_BOOTSTRAP_SERVERS": "broker:9092"}

    assert choose(layout, given, with_cluster=False) == Choice(ClusterProvider.NONE, None, "broker:9092")
