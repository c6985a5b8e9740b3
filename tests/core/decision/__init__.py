"""Tests of `slackwater.core.decision`."""
