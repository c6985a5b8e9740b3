"""Where the telemetry's events go, files or a topic, and where poll times come from: the consumers' own metrics."""
