"""Tables of what happened, each row once, from the bronze events: pure transforms, `DataFrame -> DataFrame`."""
