"""Where recommendations come from."""
