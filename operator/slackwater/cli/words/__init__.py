"""What decisions, gates, protocols and reasons are in words. Pure."""
