"""What the record has when a watch cannot go on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.stage.recorder import Recorder
from tests.e2e.stage.waiting import wait_for

EXPIRED = {"type": "ERROR", "object": {"kind": "Status", "metadata": {}, "code": 410}}


def obj(uid: str, version: str) -> dict[str, Any]:
    return {"metadata": {"name": uid, "uid": uid, "resourceVersion": version}}


class Api:
    """Its watches of one kind are forgotten once; meanwhile another object `came`, or nothing happened."""

    def __init__(self, forgetful: str, came: bool = True) -> None:
        self._forgetful = forgetful
        self._came = came
        self._listed = 0
        self.went_on = threading.Event()

    def list_all(self, kind: str, _: str) -> tuple[list[dict[str, Any]], str]:
        if kind != self._forgetful:
            return [], "1"
        self._listed += 1
        return [obj("a", "1"), *([obj("b", "7")] if self._came and self._listed > 1 else [])], str(self._listed * 10)

    def watch(self, kind: str, _: str, version: str, __: int) -> Iterator[dict[str, Any]]:
        if kind == self._forgetful and version == "10":
            yield EXPIRED
        elif kind == self._forgetful:
            self.went_on.set()


def test_events_are_listed_again_and_each_is_recorded_once() -> None:
    api: Any = Api("events")
    with Recorder(api, "shop") as recorder:
        assert api.went_on.wait(30)
        assert [record.name for record in recorder.records("events")] == ["a", "b"]


def test_where_all_is_as_it_was_recorded_nothing_is_missing() -> None:
    """An API server whose CRD somebody writes begins its cache of those objects anew."""
    api: Any = Api("consumergroups", came=False)
    with Recorder(api, "shop") as recorder:
        assert api.went_on.wait(30)
        assert [record.name for record in recorder.records("consumergroups")] == ["a"]


def test_of_all_else_that_is_a_hole() -> None:
    api: Any = Api("pods")

    def broken() -> bool:
        try:
            return not recorder.records("pods")
        except AssertionError:
            return True

    with pytest.raises(AssertionError, match="the watch of pods broke"), Recorder(api, "shop") as recorder:
        wait_for("the hole to be noticed", broken)
