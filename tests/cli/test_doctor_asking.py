"""How doctor asks: what may not be read is unknown, and never missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterRefused, Forbidden, KindMissing
from slackwater.adapters.cluster.paths import CUSTOM_RESOURCE_DEFINITION
from slackwater.cli.doctor.asking_cluster import (
    find_operators,
    operators_rights,
    operators_secrets,
    own_rights,
    read_definition,
    selected_groups,
)
from slackwater.cli.doctor.findings import Unread
from slackwater.cli.doctor.rights import EVERYWHERE, OPERATOR, PLUGIN, Secret
from slackwater.ports import Kind
from tests.cli.builders import group
from tests.cli.test_doctor_installation import deployment
from tests.shell.fakes import fleet_object


class Api:
    """Answers as an API server would, and keeps the reviews that it was asked for."""

    def __init__(
        self, *, may_review: bool = True, installed: bool = True, deployments_of: tuple[str, ...] = ()
    ) -> None:
        self.may_review = may_review
        self.installed = installed
        self.deployments_of = deployments_of
        self.reviews: list[Mapping[str, Any]] = []

    async def read(self, kind: Kind, namespace: str, name: str) -> dict[str, Any] | None:
        if kind is CUSTOM_RESOURCE_DEFINITION:
            raise ClusterRefused("no")
        return {} if self.installed else None

    async def list_all(self, kind: Kind, namespace: str | None, selector: str) -> tuple[tuple[Any, ...], int]:
        if (namespace or "") not in self.deployments_of:
            raise ClusterRefused("no")
        return (deployment(),) if namespace != "empty" else (), 1

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> dict[str, Any]:
        if not self.may_review:
            raise ClusterRefused("no")
        self.reviews.append(body["spec"])
        return {"status": {"allowed": body["spec"]["resourceAttributes"]["resource"] != "secrets"}}


def api(**settings: Any) -> tuple[Api, KubernetesApi]:
    made = Api(**settings)
    return made, cast("KubernetesApi", made)


@pytest.mark.parametrize(("installed", "expected"), [(True, Unread), (False, type(None))])
async def test_whoever_may_not_read_crds_still_learns_that_there_are_none(installed: bool, expected: type) -> None:
    _, asked = api(installed=installed)
    assert isinstance(await read_definition(asked, "consumergroups"), expected)


@pytest.mark.parametrize(
    ("allowed", "namespace", "known"),
    [
        (("",), "shop", True),
        (("shop",), "shop", True),
        (("empty",), "empty", False),
        (("shop",), None, False),
        ((), "shop", False),
    ],
)
async def test_the_operator_is_looked_for_where_one_may_look(
    allowed: tuple[str, ...], namespace: str | None, known: bool
) -> None:
    """That there is none in one namespace says nothing of the others."""
    _, asked = api(deployments_of=allowed)
    assert isinstance(await find_operators(asked, namespace), Unread) is not known


async def test_rights_are_asked_for_one_by_one() -> None:
    fake, asked = api()
    allowed = await own_rights(asked, "shop")
    assert isinstance(allowed, Mapping)
    assert {right.resource for right, may in allowed.items() if not may} == {"secrets"}
    assert set(allowed) == {right for purpose in PLUGIN for right in purpose.rights}
    assert all(review["resourceAttributes"]["namespace"] == "shop" for review in fake.reviews)


async def test_the_operators_rights_are_asked_for_in_its_name() -> None:
    fake, asked = api(deployments_of=("",))
    operators = await find_operators(asked, "shop")
    assert not isinstance(operators, Unread)
    allowed = await operators_rights(asked, operators[0], None)
    assert isinstance(allowed, Mapping)
    assert set(allowed) == {*OPERATOR, *EVERYWHERE}
    assert {review["user"] for review in fake.reviews} == {"system:serviceaccount:ops:mate"}
    assert all("system:serviceaccounts:ops" in review["groups"] for review in fake.reviews)


async def test_secrets_are_asked_for_by_name() -> None:
    fake, asked = api(deployments_of=("",))
    operators = await find_operators(asked, "shop")
    assert not isinstance(operators, Unread)
    login = Secret("shop", "login")
    assert await operators_secrets(asked, operators[0], [login]) == {login: False}
    (review,) = fake.reviews
    assert review["resourceAttributes"] == {
        "verb": "get",
        "group": "",
        "resource": "secrets",
        "namespace": "shop",
        "name": "login",
    }


async def test_whoever_may_not_ask_learns_that_nothing_is_known() -> None:
    _, asked = api(may_review=False)
    assert await own_rights(asked, "shop") == Unread("you may not create SelfSubjectAccessReviews")


class WithFleets:
    """Knows one fleet, which selects every group of its namespace; or fails instead."""

    def __init__(self, *refused: type[ClusterRefused]) -> None:
        self.refused = list(refused)

    async def list_all(self, kind: Kind, namespace: str | None, selector: str = "") -> tuple[list[Any], int]:
        if self.refused:
            raise self.refused.pop(0)("no")
        return [fleet_object(namespace=group().namespace)], 1


@pytest.mark.parametrize(
    ("refused", "count"),
    [
        ((), 1),
        ((Forbidden,), 1),
        ((Forbidden, Forbidden), None),
        ((KindMissing,), 0),
        ((ClusterRefused,), None),
    ],
)
async def test_which_groups_fleets_select_is_known_where_one_may_list_fleets(
    refused: tuple[type[ClusterRefused], ...], count: int | None
) -> None:
    """Where the cluster knows no fleets, they select none; those of one namespace are better than nothing."""
    asked = cast("KubernetesApi", WithFleets(*refused))
    selected = await selected_groups(asked, group().namespace, [group()])
    assert (None if selected is None else len(selected)) == count
