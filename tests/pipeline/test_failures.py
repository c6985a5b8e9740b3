"""What Java says becomes a sentence: what happened, what it means, what to do."""

from __future__ import annotations

import pytest

from slackwater.pipeline.errors import JobFailed, LakeUnusable, SourceUnreadable
from slackwater.pipeline.failures import told

SAID = {
    "no topic": (
        "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This"
        " server does not host this topic-partition.",
        SourceUnreadable,
        "the topic t of b:9092 cannot be read: the brokers have no such topic, or hide it from this user.",
    ),
    "not allowed": (
        "Caused by: org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [t]",
        SourceUnreadable,
        "the brokers forbid it to this user. Allow the user to READ and DESCRIBE the topic",
    ),
    "no room": ("java.io.IOException: No space left on device", LakeUnusable, "the disk is full"),
    "something new": (
        "An error occurred\n\tat org.x.Y\nCaused by: org.x.Strange: it is odd\n\tat org.x.Z",
        JobFailed,
        "Spark gave up (Strange: it is odd): run it again with SLACKWATER_DEBUG=1",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_a_sentence(case: str) -> None:
    text, kind, sentence = SAID[case]
    error = told(text, "the topic t of b:9092", "the lake /lake")
    assert type(error) is kind
    assert sentence in str(error)
    assert "\n" not in str(error)
