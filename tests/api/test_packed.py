"""Parts that are kept as text are read as they were."""

from __future__ import annotations

import json
import sys
from copy import deepcopy

import pytest

from slackwater.api.kept import cut_to_size
from slackwater.api.packed import Packed, pods_packed, pods_unpacked
from slackwater.api.parsing import parse_consumer_group
from slackwater.core.manifests.drift import holds
from slackwater.core.manifests.objects import with_service_account
from tests.api.manifests import consumer_group, template

PODS = template(env=("A", "B"), serviceAccountName="ä")["spec"]


def test_it_is_a_mapping_as_the_one_that_it_was_made_of() -> None:
    packed = Packed(PODS)
    assert dict(packed) == PODS
    assert packed == PODS
    assert {"spec": packed} == {"spec": PODS}
    assert packed == Packed(deepcopy(PODS))
    assert packed != {**PODS, "hostNetwork": True}
    assert (packed["containers"], packed.get("nothing"), len(packed)) == (PODS["containers"], None, len(PODS))
    assert "containers" in packed
    with pytest.raises(KeyError):
        packed["nothing"]
    assert sys.getsizeof(packed) + sys.getsizeof(packed._text) < 1_000


def test_what_somebody_does_to_what_was_read_changes_nothing() -> None:
    packed = Packed(PODS)
    packed["containers"].clear()
    packed.unpacked().clear()
    assert packed == PODS


def test_a_template_with_packed_pods_is_compared_and_written_as_before() -> None:
    whole = template(env=("A",))
    packed = pods_packed({"template": whole})["template"]
    assert isinstance(packed["spec"], Packed)
    assert (packed == whole, holds(packed, whole), holds(packed, template(env=("B",)))) == (True, True, False)
    assert json.dumps(with_service_account(packed)) == json.dumps(with_service_account(whole))


@pytest.mark.parametrize("spec", [{}, {"template": None}, {"template": {}}, {"template": {"spec": []}}])
def test_what_has_no_pods_stays(spec: dict[str, object]) -> None:
    assert pods_packed(spec) is spec
    assert pods_unpacked(spec) is spec


def test_a_group_is_parsed_as_before() -> None:
    obj = consumer_group(template=template(env=("A", "B")))
    kept = cut_to_size(obj)
    assert isinstance(kept["spec"]["template"]["spec"], Packed)
    assert parse_consumer_group(kept) == parse_consumer_group(obj)
    assert cut_to_size(kept) == kept
