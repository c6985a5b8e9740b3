"""Which reasons each gate gives, as its source has them."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Final

from slackwater.cli.words import reasons as reason_texts
from slackwater.core.decision.reasons import Reason
from slackwater.core.members import crashing, duplicates, work
from slackwater.core.rollout import gates

_MODULES: Final[tuple[ModuleType, ...]] = (gates, crashing, duplicates, work)
"""Where gates and what they call stand."""


def reasons_of(gate: str) -> list[str]:
    """Of the function of that name and of all that it calls, in the order of the catalogue."""
    functions = {
        node.name: node
        for module in _MODULES
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.FunctionDef)
    }
    seen: set[str] = set()
    to_read, found = [gate], set()
    while to_read:
        name = to_read.pop()
        seen.add(name)
        for node in ast.walk(functions[name]):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Reason":
                found.add(Reason[node.attr].value)
            elif isinstance(node, ast.Name) and node.id in functions and node.id not in seen:
                to_read.append(node.id)
    return [reason.value for reason in Reason if reason.value in found]


def reasons_before_the_gates() -> list[str]:
    """Those for which nothing is known of the group: of the part about gates, and of none of them."""
    texts = reason_texts.reason_texts().values()
    of_gates = {name for gate in gates.GATES for name in reasons_of(gate.__name__)}
    return [text.name for text in texts if text.part.startswith("The gates") and text.name not in of_gates]
