"""What somebody may do to others who has one namespace."""
