"""Random histories on the real cluster: what people asked for last is in force at the end."""
