"""Tests of `slackwater.core.manifests`."""
