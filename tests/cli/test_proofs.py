"""`why` names the proof that is missing while a rollout waits for a member that may be the one from before."""

from __future__ import annotations

from dataclasses import replace

from slackwater.cli.pictures.paragraph import explain_document, paragraph
from slackwater.cli.words.proofs import proof_awaited
from slackwater.core.decision.reasons import Reason
from slackwater.core.plan import plan
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.cli import builders

ANY_OF = "Any of these proves that payments-2 is back:"
THIS = "This proves that payments-2 is back:"


def waiting() -> World:
    """payments-2 was restarted 20 s ago, and the group lists the member id that it had before."""
    made = builders.rolling()
    back = replace(made.pods[2], created_at=builders.NOW - 20, started_at=builders.NOW - 18)
    step = Step(2, builders.NOW - 21, {"payments-2": "payments-2-4f1c"}, made=True)
    return replace(made, all_pods=(*made.pods[:2], back), memory=replace(made.memory, step=step))


def just_looked_at(world: World) -> World:
    """The first look at the group, by one that does not know which member there was before."""
    seen = builders.observation()
    return replace(world, kafka=seen, history=builders.history(seen, 0), memory=replace(world.memory, step=None))


def test_the_sentence_says_what_would_still_prove_it() -> None:
    world = waiting()
    said = paragraph(world, plan(world))
    assert str(Reason.MEMBER_NOT_REJOINED) in said
    assert f"{THIS} a member id other than payments-2-4f1c." in said
    assert THIS in explain_document(world, plan(world))["words"]


def test_every_way_is_named() -> None:
    world = just_looked_at(waiting())
    assert proof_awaited(world, plan(world)) == (
        f"{ANY_OF} a member id other than payments-2-4f1c; a commit on orders-2, orders-5, orders-8, refunds-2; "
        "32 s more in the group: a dead member's session ends before that"
    )


def test_nothing_is_said_of_a_pod_that_is_back_or_of_another_hold() -> None:
    for world in (builders.rolling(), builders.world()):
        assert proof_awaited(world, plan(world)) == ""
        assert "that payments-2 is back" not in paragraph(world, plan(world))
