"""Rollouts in place, from creation to deletion: gates, failures, scaling, timeouts, metrics."""
