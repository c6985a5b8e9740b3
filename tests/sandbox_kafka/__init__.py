"""Tests of the sandbox's Kafka, of its images, and of the workload and its measurements."""
