"""The timeouts that members get: the spec's, adopted ones, those that the brokers allow."""
