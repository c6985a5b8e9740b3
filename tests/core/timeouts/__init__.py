"""Tests of `slackwater.core.timeouts`."""
