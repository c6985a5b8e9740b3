"""Looking at a group for a while: one look, many looks, until it is calm, until it is done, or into a file."""
