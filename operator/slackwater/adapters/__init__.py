"""Implementations of the ports: Kafka, the Kubernetes API."""
