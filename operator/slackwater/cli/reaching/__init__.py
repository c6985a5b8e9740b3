"""Reaching the cluster that the person means."""
