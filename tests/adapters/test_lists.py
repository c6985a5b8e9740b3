"""Lists of the API: as json reads them, an item at a time, in parts."""

from __future__ import annotations

import json
import tracemalloc
from threading import Thread, current_thread
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.lists import LISTED_AT_ONCE, LONG, read_aside, read_list
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, POD
from tests.adapters.api_server import answered

VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.just("items"), inner),
    max_leaves=12,
)


@given(VALUES, st.sampled_from((None, 1)), st.booleans())
def test_any_json_is_read_as_json_reads_it(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert read_list(f" {text}\n".encode(), lambda item: item) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"items"',
        '{"items":[',
        '{"items":[1',
        '{"items":[1 2]}',
        '{"items":[1,]}',
        '{"a" 1}',
        '{"a":1}x',
        "{,}",
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra|Unterminated"):
        read_list(text.encode(), lambda item: item)


@pytest.mark.parametrize("text", [b'{"a":"\xff"}', b'{"items":["\xc3"]}', b'{"a":"\xed\xa0\x80"}', b"\xef\xbb\xbf{}"])
def test_what_is_no_utf_8_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"utf-8|BOM"):
        read_list(text, lambda item: item)


@pytest.mark.parametrize("character", ["\N{LATIN SMALL LETTER E WITH ACUTE}", "\N{EURO SIGN}", "\U0001f600"])
def test_one_wide_character_makes_no_page_four_times_as_large(character: str) -> None:
    """Python keeps all characters of one text alike. 50 objects of 1.4 MB took 450 MiB for it, and 177 without."""
    item = json.dumps({"a": "x" * 100_000})
    others, wide = [item] * (LISTED_AT_ONCE - 1), json.dumps({"a": character + "x" * 100_000}, ensure_ascii=False)
    text = ('{"items":[' + ",".join([*others, wide]) + "]}").encode()
    tracemalloc.start()
    read = read_list(text, lambda each: each["a"][0])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == {"items": ["x"] * (LISTED_AT_ONCE - 1) + [character]}
    assert peak < 1.5 * len(text)


def test_an_item_is_cut_before_the_next_one_is_read() -> None:
    text = '{"kind":"List","items":[{"a":1},{"a":[1,2]},BROKEN],"metadata":{}}'
    seen: list[object] = []
    with pytest.raises(ValueError, match="Expecting value"):
        read_list(text.encode(), seen.append)
    assert seen == [{"a": 1}, {"a": [1, 2]}]


async def test_nobody_waits_for_a_long_one() -> None:
    threads: list[Thread] = []

    def kept(each: Any) -> Any:
        threads.append(current_thread())
        return each

    for number in (1, LONG):
        text = json.dumps({"items": [{}] * number})
        read = await read_aside(text.encode(), kept)
        assert len(read["items"]) == number
    assert threads[0] is current_thread()
    assert threads[-1] is not current_thread()


class Pages:
    """An API server that has so many objects, and gives as many as it is asked for."""

    def __init__(self, number: int, *, goes_on: bool = True) -> None:
        self.configuration = SimpleNamespace(host="https://api")
        self.number = number
        self.goes_on = goes_on
        self.asked: list[dict[str, list[str]]] = []

    async def update_params_for_auth(self, *_: Any) -> None: ...

    async def call_api(self, _: str, url: str, *__: Any, _request_timeout: float) -> Any:
        query = parse_qs(urlsplit(url).query)
        self.asked.append(query)
        first, most = int(query.get("continue", ["0"])[0]), int(query.get("limit", ["1000000"])[0])
        if first and not self.goes_on:
            return answered({"message": "The provided continue parameter is too old", "reason": "Expired"}, 410)
        last = min(self.number, first + most)
        items = [{"metadata": {"name": f"g{n}", "labels": {"a": "b"}}} for n in range(first, last)]
        told = {"resourceVersion": "7"} | ({"continue": str(last)} if last < self.number else {})
        return answered({"items": items, "metadata": told})


async def test_a_list_comes_in_parts_and_is_one() -> None:
    pages = Pages(2 * LISTED_AT_ONCE + 1)
    objects, version = await KubernetesApi(pages).list_all(POD, None, "a=b")
    assert [each["metadata"]["name"] for each in objects] == [f"g{n}" for n in range(pages.number)]
    assert {each["kind"] for each in objects} == {"Pod"}
    assert version == 7
    assert len(pages.asked) == 3
    assert all(query["labelSelector"] == ["a=b"] for query in pages.asked)


async def test_of_each_object_is_kept_what_the_operator_reads() -> None:
    api = KubernetesApi(Pages(3))
    kinds: list[object] = []

    def kept(kind: object, obj: Any) -> Any:
        kinds.append(kind)
        return {"metadata": {"name": obj["metadata"]["name"]}}

    api.kept = kept
    objects, _ = await api.list_all(CONSUMER_GROUP, None)
    assert kinds == [CONSUMER_GROUP] * 3
    assert not any("labels" in each["metadata"] for each in objects)


async def test_a_list_that_cannot_be_gone_on_with_is_begun_again_later() -> None:
    api = KubernetesApi(Pages(LISTED_AT_ONCE + 1, goes_on=False))
    with pytest.raises(ClusterUnreachable, match="too old"):
        await api.list_all(POD, None)
