"""Which pods dynamic members run in: by address, and where brokers do not see that, by client id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.world.history import LONG_BEFORE_S
from slackwater.core.world.observation import Member
from slackwater.core.world.placing import LONGEST_NAME, named_in
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World
from tests.core.factories import NOW, dynamic_member, folded, fresh_pod, group, observation, pod, stranger, world

NODE: Final = "192.0.2.1"
NODE_B: Final = "192.0.2.2"
GATEWAY: Final = "198.51.100.7"
"""No node's: that of a NAT gateway."""
SNAT: Final[dict[str, Any]] = {"host": f"/{NODE}"}


def given(members: Sequence[Member], pods: Sequence[Pod] | None = None, **changes: Any) -> World:
    pods = (pod(0), pod(1), pod(2)) if pods is None else pods
    return world(group=group(membership="Dynamic"), kafka=observation(members), pods=tuple(pods), **changes)


def places(seen: World) -> dict[int, list[str]]:
    """Ordinal → member ids; only of the pods that have any."""
    found = {each.ordinal: [member.member_id for member in seen.members_of(each)] for each in seen.pods}
    return {ordinal: members for ordinal, members in found.items() if members}


@pytest.mark.parametrize(
    ("client_id", "found"),
    [
        ("payments-1", 1),
        ("payments-1-StreamThread-1-consumer", 1),
        ("payments", None),
        ("payments-10", None),
        ("", None),
    ],
)
def test_behind_address_translation_it_is_known_by_its_client_id(client_id: str, found: int | None) -> None:
    one = dynamic_member(7, client_id=client_id, **SNAT)
    seen = given((one,))
    assert places(seen) == ({} if found is None else {found: ["consumer-7"]})
    assert seen.is_in_a_pod(one) is (found is not None)


BY_JAVA: Final = [dynamic_member(o, host=f"/fd00:0:0:0:0:0:0:{10 + o:x}") for o in range(3)]


def test_an_ipv6_address_is_the_pod_s_however_it_is_written() -> None:
    """Java writes each of its zeros, Kubernetes none."""
    pods = [pod(o, address=f"fd00::{10 + o:x}") for o in range(3)]
    seen = given(BY_JAVA, pods)
    assert places(seen) == {o: [f"consumer-{o}"] for o in range(3)}
    assert all(map(seen.is_in_a_pod, BY_JAVA))


@pytest.mark.parametrize("named", [True, False])
def test_where_brokers_see_the_other_address_of_each_pod_it_is_known_by_its_client_id(named: bool) -> None:
    """A pod of two families: Kubernetes shows it by the one, and it reaches the brokers by the other."""
    members = [replace(each, client_id=f"payments-{o}" if named else "consumer") for o, each in enumerate(BY_JAVA)]
    assert places(given(members)) == ({o: [f"consumer-{o}"] for o in range(3)} if named else {})


@pytest.mark.parametrize("host", ["/", "", "/not:an:address", "/fe80:0:0:0:0:0:0:1%eth0", "/ffff:" * 40])
def test_a_host_that_no_pod_has_is_nobody_s(host: str) -> None:
    assert places(given([dynamic_member(0, host=host)])) == {}


def test_where_brokers_see_one_pod_s_address_nobody_elsewhere_is_known_by_what_it_calls_itself() -> None:
    """A stranger on another machine may call itself what it likes."""
    other = dynamic_member(7, client_id="payments-1", host=f"/{GATEWAY}")
    seen = given((dynamic_member(0), other))
    assert places(seen) == {0: ["consumer-0"]}
    assert not seen.is_in_a_pod(other)


def test_a_pod_whose_address_is_seen_takes_no_member_from_those_that_are_translated_on_their_node() -> None:
    """The brokers' own node, or a change of the masquerade's rules."""
    pods = (pod(0, node_address=NODE), pod(1, node_address=NODE), pod(2, node_address=NODE_B))
    translated = tuple(dynamic_member(o, client_id=f"payments-{o}", **SNAT) for o in (0, 1))
    assert places(given((*translated, dynamic_member(2)), pods)) == {o: [f"consumer-{o}"] for o in range(3)}


def test_a_static_pod_has_no_member_by_client_id() -> None:
    nameless = dynamic_member(7, client_id="payments-1", **SNAT)
    seen = world(kafka=observation((nameless,)))
    assert [seen.nameless_members_of(each) for each in seen.pods] == [(), (), ()]
    assert not seen.is_in_a_pod(nameless)


def test_what_stands_at_a_pod_s_address_is_the_pod_s_whatever_it_calls_itself() -> None:
    """Spring numbers the threads of a client `payments`: in each pod there is one called as the first pod is."""
    assert places(given((dynamic_member(1, client_id="payments-0"),))) == {1: ["consumer-1"]}


@pytest.mark.parametrize(
    ("client_id", "found"), [("payments-1", [1]), ("rdkafka", [0, 1]), ("payments-2", [0, 1]), ("payments-3", [3])]
)
def test_of_pods_that_may_share_an_address_the_client_id_decides(client_id: str, found: list[int]) -> None:
    """Two on the network of their node, a third elsewhere, a fourth that is translated to that node's address."""
    pods = (pod(0, address=NODE), pod(1, address=NODE), pod(2), pod(3, node_address=NODE))
    assert list(places(given((dynamic_member(7, client_id=client_id, **SNAT),), pods))) == found


def test_a_rollout_that_turns_to_the_node_s_network_takes_no_member_from_its_neighbours() -> None:
    """The new pod 2 never joins: pod 0's member, which came again, is no proof that it did."""
    pods = (pod(0, node_address=NODE), pod(1, node_address=NODE_B), fresh_pod(2, 100, address=NODE, node_address=NODE))
    translated = (
        dynamic_member(0, client_id="payments-0", **SNAT),
        dynamic_member(1, client_id="payments-1", host=f"/{NODE_B}"),
    )
    assert places(given(translated, pods)) == {0: ["consumer-0"], 1: ["consumer-1"]}


def test_a_name_that_many_have_says_nothing() -> None:
    """Spring's `client-id: payments`, each pod's first thread: payments-0 is the first pod's name by chance."""
    same = tuple(dynamic_member(o, client_id="payments-0", **SNAT) for o in range(3))
    assert places(given(same)) == {}
    pods = (pod(0, address=NODE), pod(1, address=NODE), pod(2, address=NODE_B))
    spread = (*same[:2], replace(same[2], host=f"/{NODE_B}"))
    both = ["consumer-0", "consumer-1"]
    assert places(given(spread, pods)) == {0: both, 1: both, 2: ["consumer-2"]}


def test_more_members_than_there_should_be_are_the_pod_s_where_no_other_pod_misses_any() -> None:
    """The gate says then what is to be corrected: membersPerPod."""
    named = [(0, "payments-0"), (1, "payments-1"), (2, "payments-2"), (3, "payments-2")]
    seen = given(tuple(dynamic_member(o, client_id=name, **SNAT) for o, name in named))
    assert places(seen) == {0: ["consumer-0"], 1: ["consumer-1"], 2: ["consumer-2", "consumer-3"]}


@pytest.mark.parametrize(("before_s", "is_its"), [(LONG_BEFORE_S + 1, False), (LONG_BEFORE_S - 1, True)])
def test_who_was_there_long_before_the_process_is_not_its_member(before_s: float, is_its: bool) -> None:
    """A laptop, or another cluster's pods, that are called as ours are."""
    other = stranger(client_id="payments-0")
    looks = [observation((other,), at=at) for at in (NOW - 60 - before_s, NOW)]
    seen = given((other,), (fresh_pod(0, 60),), history=folded(*looks))
    assert bool(places(seen)) is is_its
    assert seen.is_in_a_pod(other) is is_its


def test_by_a_node_s_clock_that_is_ahead_nobody_was_there_long_before() -> None:
    """The member came half a minute after a watch had seen the process run."""
    looks = [observation((stranger(client_id="payments-0"),), at=at) for at in (NOW - 60, NOW)]
    ahead = fresh_pod(0, 30, told_running_at=NOW - 90)
    assert places(given(looks[-1].members, (ahead,), history=folded(*looks))) == {0: [looks[-1].members[0].member_id]}


def test_a_pod_without_an_address_has_no_dynamic_member() -> None:
    nowhere = dynamic_member(0, host="", client_id="payments-0")
    assert places(given((nowhere,), (pod(0, address=""),))) == {}


class Names(set[str]):
    """Counts what is looked for among them."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


@pytest.mark.parametrize("length", [LONGEST_NAME - 2, LONGEST_NAME])
@pytest.mark.parametrize("more", ["", "-", "-a" * 16_000, "-" * 32_000])
def test_a_pod_s_name_is_found_in_a_client_id_however_long_both_are(length: int, more: str) -> None:
    """Who chooses it may have 32,000 dashes in it: each was a text to be looked for, in each pass."""
    names = Names({"p" * length})
    assert named_in("p" * length + more, names) == "p" * length
    assert named_in("p" * length + "x" + more, names) == ""
    assert named_in(more, names) == ""
    assert names.asked <= 3 * LONGEST_NAME
