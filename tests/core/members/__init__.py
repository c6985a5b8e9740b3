"""Tests of `slackwater.core.members`."""
