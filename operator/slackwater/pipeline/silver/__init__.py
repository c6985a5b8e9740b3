"""Tables of what happened, each row once, from the bronze events: pure transforms, `DataFrame -> DataFrame`.

events      what all begin with: the events of one type, each once
restarts    member by member
turns       each group's turns to move
groups      one row for each: how it was when it was last seen
happenings  polls, rebalances, holds, settings, lag
job         all of them, computed whole
"""
