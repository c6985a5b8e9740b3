"""What becomes of recommended timeouts."""
