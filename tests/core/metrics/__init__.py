"""Tests of `slackwater.core.metrics`."""
