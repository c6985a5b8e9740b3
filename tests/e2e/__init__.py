"""The operator against a real API server, a real broker and real consumers."""
