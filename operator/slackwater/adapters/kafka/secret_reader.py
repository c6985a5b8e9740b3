"""Reads values of Secrets, and collects a sentence for each that is not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LONGEST_VALUE: Final = 64 * 1024
"""Bytes: twenty long chains of certificates. What takes longer to parse is parsed while all groups wait."""
LONGEST_BUNDLE: Final = 320 * 1024
"""Authorities often come as the system's whole bundle, of 200 KiB and more; each KafkaConnection reads it again."""

SecretData = Mapping[str, bytes]


class SecretReader:
    """`problems` has what is to be put right, in the order of reading; never a value."""

    def __init__(self, secrets: Mapping[str, SecretData], namespace: str = "this namespace") -> None:
        """`namespace`: where they are, in words."""
        self._secrets = secrets
        self._namespace = namespace
        self.problems: list[str] = []

    def text(self, secret: str, key: str, path: str, longest: int = LONGEST_VALUE) -> str:
        """Return a value without the line break that `echo` puts behind it; "" with a problem noted."""
        data = self._secrets.get(secret)
        if data is None:
            self.note(f"Secret {secret}, which spec.{path} names, does not exist in {self._namespace}: create it.")
            return ""
        if not data.get(key):
            self.note(f"Secret {secret}, which spec.{path} names, has no key {key}: add it.")
            return ""
        return self._decoded(secret, key, path, longest)

    def optional_text(self, secret: str, key: str, path: str) -> str:
        """The same, where the key may be left out; "" then."""
        return self._decoded(secret, key, path, LONGEST_VALUE) if self._secrets.get(secret, {}).get(key) else ""

    def note(self, problem: str) -> None:
        """Once, however often it is found."""
        if problem not in self.problems:
            self.problems.append(problem)

    def _decoded(self, secret: str, key: str, path: str, longest: int) -> str:
        value = self._secrets[secret][key]
        if len(value) > longest:
            size = f"has {len(value):,} bytes, of {longest:,} that are read"
            self.note(f"Key {key} of Secret {secret}, which spec.{path} names, {size}: put in only what is needed.")
            return ""
        try:
            return value.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            self.note(f"Key {key} of Secret {secret}, which spec.{path} names, is not text: put UTF-8 text there.")
            return ""
