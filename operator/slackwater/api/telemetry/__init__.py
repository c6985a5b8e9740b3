"""The telemetry's wire format, version 1: what the operator records and the pipeline reads, one JSON object a line.

As all of `slackwater.api` it imports pydantic and the standard library only. What the events are derived from is said
in `slackwater.core.telemetry`, where they go in `slackwater.adapters.telemetry`.
"""
