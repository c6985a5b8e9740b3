"""What should happen to a group now."""
