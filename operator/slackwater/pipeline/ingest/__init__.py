"""Telemetry from a Kafka topic or from files into the lake's bronze tables, each event once."""
