"""What `make demo-fleet` measures and applies, without a sandbox."""
