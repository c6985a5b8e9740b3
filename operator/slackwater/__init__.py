"""Slackwater: a Kubernetes operator for fleets of Kafka consumer groups."""

__version__ = "0.1.0"
