"""Tests of `slackwater.core.rollout`."""
