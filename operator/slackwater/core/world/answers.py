"""What functions of a value say, each asked once: of a world, which never changes, and is asked the same by many gates.

An answer lives as long as the value it is about. Nothing here knows what is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self, TypeVar

from slackwater.core.world.observation import Member
from slackwater.core.world.pods import Pod

T = TypeVar("T")
Of = TypeVar("Of", Pod, Member)


class Answering:
    """What is to be asked has to be frozen: an answer is never found again."""

    def once(self, ask: Callable[[Self], T]) -> T:
        """What a function of this value alone says, asked once; `ask`: one of a module, not one made for the call."""
        answers = self._answers
        if ask not in answers:
            answers[ask] = ask(self)
        answer: T = answers[ask]
        return answer

    def once_of(self, ask: Callable[[Self, Of], T], of: Of) -> T:
        """The same of this value and one pod, or one member."""
        answers = self._answers_of[ask]
        known = answers.get(id(of))
        if known is None:  # it is kept with its answer, so that nothing else can come to have its id
            known = answers[id(of)] = (of, ask(self, of))
        answer: T = known[1]
        return answer

    @cached_property
    def _answers(self) -> dict[object, Any]:
        return {}

    @cached_property
    def _answers_of(self) -> defaultdict[object, dict[int, tuple[object, Any]]]:
        return defaultdict(dict)
