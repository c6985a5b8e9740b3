"""Warm rollouts on a real cluster."""
