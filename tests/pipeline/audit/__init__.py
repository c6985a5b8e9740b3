"""Tests of the audit of `__consumer_offsets`."""
