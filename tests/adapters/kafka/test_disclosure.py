"""The search for credentials finds them."""

from __future__ import annotations

import base64

import pytest

from tests.adapters.kafka.disclosure import shown

LOGIN = {"login": {"username": b"me", "password": b"hunter2&"}}
KEY = {"shown": {"tls.key": b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 64 + b"\n-----END PRIVATE KEY-----\n"}}


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2&",
        r"token=b'\x00me\x00hunter2&'",
        "hunter2%26",
        "sent " + b"hunter2&".hex(),
        "Basic " + base64.b64encode(b"me:hunter2&").decode(),
        "data: " + base64.b64encode(b"hunter2&").decode(),
        base64.b64encode(b"\0me\0hunter2&").decode(),
    ],
)
def test_a_password_is_found_in_each_of_its_forms(text: str) -> None:
    assert shown(text, LOGIN) == ["login/password"]


def test_a_line_of_a_key_is_found() -> None:
    assert shown("x" + "A" * 64 + "x", KEY) == ["shown/tls.key"]
    assert shown("-----BEGIN PRIVATE KEY-----", KEY) == []


def test_who_logs_in_is_no_secret() -> None:
    assert shown("me logs in", LOGIN) == []
