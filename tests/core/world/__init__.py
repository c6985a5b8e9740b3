"""Tests of `slackwater.core.world`."""
