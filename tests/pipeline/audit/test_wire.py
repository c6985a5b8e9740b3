"""Bytes to values and back, for every record in every version; and whatever else the bytes are."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slackwater.pipeline.audit.decoding import decode
from slackwater.pipeline.audit.errors import Reason, Undecodable
from slackwater.pipeline.audit.layouts import ASSIGNMENT, SUBSCRIPTION, VALUES, KeyType
from slackwater.pipeline.audit.wire import Field, Kind, Layout, read
from tests.pipeline.audit.encoding import classic_group, classic_member, consumer_member, key, value, written

quickly = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
thoroughly = settings(quickly, max_examples=400)

MESSAGES = (*VALUES.values(), SUBSCRIPTION, ASSIGNMENT)
EVERY_VERSION = [
    pytest.param(layout, version, id=f"{layout.name}, version {version}")
    for layout in MESSAGES
    for version in range(layout.last_version + 1)
]


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "version"), EVERY_VERSION)
@quickly
@given(data=st.data())
def test_what_was_written_is_read(layout: Layout, version: int, data: st.DataObject) -> None:
    values = data.draw(_values(layout.fields, version))
    assert read(layout, written(layout, values, version)) == values


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "version"), EVERY_VERSION)
@quickly
@given(data=st.data())
def test_a_message_that_is_cut_off_is_refused(layout: Layout, version: int, data: st.DataObject) -> None:
    whole = written(layout, data.draw(_values(layout.fields, version)), version)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(Undecodable) as refused:
        read(layout, whole[:cut])
    assert refused.value.reason is Reason.TRUNCATED


@thoroughly
@given(key=st.binary(max_size=80), value=st.none() | st.binary(max_size=200))
def test_no_bytes_raise_anything_but_our_own_error(key: bytes, value: bytes | None) -> None:
    _decode_or_refuse(key, value)


@thoroughly
@given(key_type=st.sampled_from(sorted(VALUES)), tail=st.binary(max_size=300), version=st.integers(0, 4))
def test_no_value_of_a_known_type_raises_anything_but_our_own_error(
    key_type: KeyType, tail: bytes, version: int
) -> None:
    _decode_or_refuse(key(key_type, "payments", "member", "orders"), version.to_bytes(2, "big") + tail)


@thoroughly
@given(place=st.integers(0, 10_000), byte=st.integers(0, 255), version=st.integers(0, 4))
def test_one_wrong_byte_raises_nothing_but_our_own_error(place: int, byte: int, version: int) -> None:
    group = classic_group(3, classic_member("m-1", "payments-0", (0, 1)), classic_member("m-2", "payments-1", (2,)))
    whole = bytearray(value(KeyType.CLASSIC_GROUP, group, version))
    whole[place % len(whole)] = byte
    _decode_or_refuse(key(KeyType.CLASSIC_GROUP, "payments"), bytes(whole))


def test_a_length_is_not_believed_beyond_the_bytes_there_are() -> None:
    """Two thousand million members are announced; none follows, and none is made room for."""
    announced = value(KeyType.CLASSIC_GROUP, classic_group(3))[:-4] + b"\x7f\xff\xff\xff"
    with pytest.raises(Undecodable, match="2147483647 elements are announced"):
        read(VALUES[KeyType.CLASSIC_GROUP], announced)


def test_a_version_from_the_future_is_named() -> None:
    newer = b"\x00\x05" + value(KeyType.CLASSIC_GROUP, classic_group(3), 4)[2:]
    with pytest.raises(Undecodable, match="a classic group has version 5, from a later Kafka") as refused:
        read(VALUES[KeyType.CLASSIC_GROUP], newer)
    assert refused.value.reason is Reason.FUTURE_VERSION


def test_a_later_subscription_is_read_as_the_last_known_one() -> None:
    """The consumer protocol only ever appends."""
    values = {"topics": ["orders"], "user_data": None, "owned": [], "generation": 7, "rack_id": "b"}
    later = b"\x00\x09" + written(SUBSCRIPTION, values, 3)[2:] + b"something new"
    assert read(SUBSCRIPTION, later) == values


def test_an_unknown_tagged_field_is_passed_over() -> None:
    """A later Kafka may add tagged fields without a new version (KIP-915)."""
    with_unknown = value(KeyType.TARGET_ASSIGNMENT, {"epoch": 9})[:-1] + b"\x01\x07\x03abc"
    assert read(VALUES[KeyType.TARGET_ASSIGNMENT], with_unknown) == {"epoch": 9, "assigned_at_ms": None}


def test_a_tagged_struct_that_is_written_as_null_is_null() -> None:
    """Kafka 4.3 writes it so for a member that went over from the classic protocol (seen on a real broker)."""
    written_null = value(KeyType.CONSUMER_GROUP_MEMBER, consumer_member())[:-1] + b"\x01\x00\x01\x00"
    assert read(VALUES[KeyType.CONSUMER_GROUP_MEMBER], written_null)["classic"] is None


@pytest.mark.parametrize("version", range(5))
def test_bytes_after_the_end_are_refused(version: int) -> None:
    with pytest.raises(Undecodable, match="1 bytes follow the end of a classic group"):
        read(VALUES[KeyType.CLASSIC_GROUP], value(KeyType.CLASSIC_GROUP, classic_group(3), version) + b"\x00")


def test_a_text_that_is_null_where_none_may_be_is_refused() -> None:
    with pytest.raises(Undecodable, match="protocol_type is null"):
        read(VALUES[KeyType.CLASSIC_GROUP], b"\x00\x03\xff\xff")


def _decode_or_refuse(key: bytes, value: bytes | None) -> None:
    try:
        decode(key, value)
    except Undecodable as error:
        assert error.detail


def _values(fields: Sequence[Field], version: int) -> st.SearchStrategy[Mapping[str, Any]]:
    """Values that fit the table; None for what this version lacks."""
    return st.fixed_dictionaries(
        {field.name: _content(field, version) if field.is_in(version) else st.none() for field in fields}
    )


def _content(field: Field, version: int) -> st.SearchStrategy[Any]:
    one = _one(field.kind, version)
    content = st.lists(one, max_size=3) if field.many else one
    return st.none() | content if field.nullable or field.tag is not None else content


def _one(kind: Kind | tuple[Field, ...], version: int) -> st.SearchStrategy[Any]:
    if isinstance(kind, tuple):
        return _values(kind, version)
    match kind:
        case Kind.TEXT:
            return st.text(max_size=200)
        case Kind.BYTES:
            return st.binary(max_size=200)
        case Kind.UUID:
            return st.binary(min_size=16, max_size=16).map(lambda raw: urlsafe_b64encode(raw).decode().rstrip("="))
        case _:
            bits = 8 * kind.value
            return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
