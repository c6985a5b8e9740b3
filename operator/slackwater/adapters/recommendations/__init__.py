"""Where recommendations come from: a file, or a compacted topic."""
