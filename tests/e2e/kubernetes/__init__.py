"""Kubernetes and Kafka do what they do while a group of three is in the middle of a rollout."""
