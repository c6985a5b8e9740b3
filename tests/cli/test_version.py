"""What people deployed is named as they know it: by the tag of the consumer's image."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.cli.words.version import new_version_in_words, tag_of, version_in_words
from slackwater.core.manifests.template import wanted_template
from slackwater.core.world.world import World
from tests.cli import builders
from tests.core.factories import changed


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("payments:1.5.0", "payments:1.5.0"),
        ("registry.example.com:5000/team/payments:1.5.0", "payments:1.5.0"),
        ("registry.example.com/payments:1.5.0@sha256:0123456789abcdef0123", "payments:1.5.0"),
        ("registry.example.com/payments@sha256:0123456789abcdef0123", "payments@sha256:0123456789ab"),
        ("registry.example.com/payments", "payments"),
        ("payments:\x1b[31m", "payments:\\x1b[31m"),
    ],
)
def test_a_tag_is_what_people_gave_the_image(image: str, tag: str) -> None:
    assert tag_of(image) == tag


def asked(image: Any) -> World:
    """A world whose spec asks for that image beside a sidecar, and whose memory holds that version as the target."""
    containers = [{"name": "consumer", "image": image}, {"name": "sidecar", "image": "sidecar:9"}]
    known = changed(builders.world(), group=builders.group(template={"spec": {"containers": containers}}))
    return known.remembering(replace(known.memory, target_hash=wanted_template(known).hash))


def test_the_version_that_is_asked_for_has_the_spec_s_image() -> None:
    world = asked("registry.example.com/payments:2.0.0")
    assert version_in_words(world, world.memory) == "payments:2.0.0"
    assert new_version_in_words(world, world.memory) == "the new version (payments:2.0.0)"


def with_version_two_written(world: World) -> World:
    (workload,) = world.sets
    containers = [{"name": "sidecar", "image": "s:1"}, {"name": "consumer", "image": "payments:2"}]
    written = replace(workload, template_hash="of-version-two", template={"spec": {"containers": containers}})
    return changed(world, workload=written)


def test_the_version_that_is_written_has_its_own_image_whatever_the_spec_asks_for_by_now() -> None:
    known = with_version_two_written(asked("payments:3.0.0"))
    assert version_in_words(known, replace(known.memory, target_hash="of-version-two")) == "payments:2"


@pytest.mark.parametrize("bootstrap", [builders.SERVERS, None])
def test_of_a_version_that_nothing_shows_there_is_only_its_digest(bootstrap: str | None) -> None:
    known = with_version_two_written(changed(asked("payments:3.0.0"), bootstrap_servers=bootstrap))
    memory = replace(known.memory, target_hash="of-long-ago")
    assert version_in_words(known, memory) == "version of-long-ago"
    assert new_version_in_words(known, memory) == "version of-long-ago"


def test_an_image_that_is_no_text_is_none() -> None:
    world = asked(7)
    assert version_in_words(world, world.memory).startswith("version ")
