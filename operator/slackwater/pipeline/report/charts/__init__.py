"""The four charts of a group: pure functions from a Detail to a Figure."""
