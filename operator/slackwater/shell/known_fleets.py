"""The fleets that are known: each as it was read last, and what was obeyed of it.

Where the fleets of a namespace may not be read, one stands for all of them that selects whom they might, and is not
accepted: what is not known lets nothing begin. Nobody but `Fleets` changes anything here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.layers import Giver, Said
from slackwater.core.fleet.times import Gates, Scope
from slackwater.shell.fleet_objects import (
    Json,
    ReadFleet,
    halts_in,
    kept_of,
    read_fleet,
    surplus_fleet,
    unread_in,
    version_of,
)
from slackwater.shell.fleet_places import FleetPlaces, Place
from slackwater.shell.store import Key, key_of, made_at


class KnownFleets:
    """By `namespace/name`."""

    def __init__(self, scope: Scope) -> None:
        self.places = FleetPlaces(scope.own)
        self._scope = scope
        self._gates: dict[str, tuple[ReadFleet, float, Gates]] = {}
        """As they were looked at last, and when."""
        self._read: dict[str, ReadFleet] = {}
        self._hidden: dict[str, ReadFleet] = {}
        self._commands: dict[str, dict[str, str]] = {}

    def __len__(self) -> int:
        return len(self._read)

    def get(self, name: str) -> ReadFleet | None:
        return self._read.get(name)

    def gates(self, name: str, now: float) -> Gates:
        """What it says at this moment; `name`: one that is known."""
        read, (of, at, gates) = self._read[name], self._gates.get(name, (None, 0.0, Gates()))
        if of is read and at <= now and (gates.until is None or now < gates.until):
            return gates
        gates = read.gates(self._scope, now)
        self._gates[name] = (read, now, gates)
        return gates

    def gates_at_first(self, name: str, now: float) -> Gates:
        """What it said when it was listed: where that is over by now, it is due at once."""
        read, (of, at, gates) = self._read[name], self._gates.get(name, (None, 0.0, Gates()))
        return gates if of is read and at <= now else self.gates(name, now)

    def listed(self, key: Key, obj: Json | None, now: float) -> None:
        """Before anybody begins: one after the other is looked at as it is listed, and not all at once."""
        self.moves(key, obj)
        if obj is None or self.places.of(key) is Place.OVER:
            self._forget(str(key))
        else:
            self.take_in(obj)
            self.gates_at_first(str(key), now)

    def moves(self, key: Key, obj: Json | None) -> tuple[Key, ...]:
        """It is there, or gone. Returns whose place may be another one by that."""
        if obj is None:
            return self.places.drop(key)
        return self.places.put(key, made_at(obj))

    def over(self, obj: Json, now: float) -> Kept:
        """One for which another stands."""
        read = surplus_fleet(obj, self.places.most)
        return kept_of(read, halts_in(obj), read.gates(self._scope, now))

    def take_in(self, obj: Json) -> ReadFleet:
        """One that counts, or stands for those that do not."""
        name, stands = str(key_of(obj)), self.places.of(key_of(obj)) is Place.STANDS
        read = self._read.get(name)
        if read is None or read.version != version_of(obj, stands=stands):
            read = surplus_fleet(obj, self.places.most) if stands else read_fleet(obj, self._scope.own)
        self._read[name] = read
        if name not in self._commands:
            self._commands[name] = dict((obj.get("status") or {}).get("commands") or {})
        return read

    def drop(self, name: str) -> None:
        del self._read[name]
        self._forget(name)

    def _forget(self, name: str) -> None:
        for known in (self._read, self._gates, self._hidden, self._commands):
            known.pop(name, None)

    def hide(self, namespaces: Collection[str]) -> list[ReadFleet]:
        """The fleets of these namespaces may not be read. Returns what stands for those of which that is new."""
        known = {read.fleet.namespace for read in self.hidden}
        new = [unread_in(each, self._scope.own) for each in sorted({*namespaces} - known)]
        self._hidden |= {each.fleet.key: each for each in new}
        self._read |= self._hidden
        return new

    @property
    def hidden(self) -> tuple[ReadFleet, ...]:
        """What stands for fleets that may not be read."""
        return tuple(self._hidden.values())

    def no_longer_hidden(self, namespaces: Collection[str]) -> tuple[Fleet, ...]:
        """What stands for the fleets of other namespaces than these."""
        return tuple(read.fleet for read in self.hidden if read.fleet.namespace not in namespaces)

    def told_apart(self, names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Those of the fleets that were read; and the namespaces of those that stand for what may not be."""
        found = tuple(names)
        unread = tuple(self._hidden[name].fleet.namespace for name in found if name in self._hidden)
        return tuple(name for name in found if name not in self._hidden), unread

    def newly_resumed(self) -> Iterator[str]:
        """Fleets with a command to resume that was not obeyed yet; it counts as obeyed from now on."""
        for name, read in self._read.items():
            if read.resume and self._commands[name].get("resume") != read.resume:
                self._commands[name]["resume"] = read.resume
                yield name

    def commands(self, name: str) -> dict[str, str]:
        """The tokens that were obeyed last."""
        return self._commands.get(name, {})

    def giver(self, name: str) -> Giver | None:
        """What it says of its groups' defaults, as one who gives them."""
        read = self._read.get(name)
        return None if read is None else read.giver

    def says(self, name: str) -> Said:
        """What it says of its groups' defaults."""
        giver = self.giver(name)
        return {} if giver is None else giver.says

    @property
    def living(self) -> frozenset[str]:
        """Fleets that are there, and can be read: what one has given stays while a slip makes it unreadable."""
        return frozenset(name for name, read in self._read.items() if read.unread is None)
