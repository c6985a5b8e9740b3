"""Records of `__consumer_offsets`: whatever a key and its value are, they are a fact or Undecodable."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["slackwater.pipeline.audit"]):
    from slackwater.pipeline.audit.decoding import decode
    from slackwater.pipeline.audit.errors import Undecodable

from tests.fuzz.play import play
from tests.pipeline.audit.recording import recorded_topic


def record(data: bytes) -> tuple[bytes, bytes | None]:
    """Its first byte is the key's length; a value of nothing is a tombstone."""
    length = data[0] if data else 0
    return data[1 : 1 + length], data[1 + length :] or None


def target(data: bytes) -> None:
    key, value = record(data)
    try:
        found = decode(key, value)
    except Undecodable:
        return
    assert found.fact == decode(key, value).fact
    assert all(isinstance(each, Undecodable) for each in found.refused)


def main() -> None:
    play("offsets", target, (bytes([len(key)]) + key + (value or b"") for *_, key, value in recorded_topic()))


if __name__ == "__main__":
    main()
