"""The Kubernetes API: reading, server-side apply, deleting, and translation into the core's values."""
