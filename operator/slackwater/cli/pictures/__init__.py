"""What people look at: the view of a group, its tables, and the documents that programs read. Pure."""
