"""What the operator may do, what it does, and what it never says."""
