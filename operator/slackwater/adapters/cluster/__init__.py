"""The Kubernetes API: reading, server-side apply, deleting; and translation between its objects and the core's values."""
