"""Tests of `slackwater.core.status`."""
