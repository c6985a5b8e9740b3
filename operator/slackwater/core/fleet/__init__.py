"""Which groups of a fleet may begin to move: values in, values out, and no clock.

`facts` is what is known of a group, `claim` what the allocator makes of it, `claims` how: which cells of which budgets
it is in. `calendar` says when windows open and freezes hold. `places` counts what moves in each cell, `line` keeps who
waits at which of them, `calls` who may begin, and `allocation` calls whoever waits as soon as all of a group's cells
have room. `ledger` is all of it together: groups and fleets, kept by changes. `timetable` is what the calendar makes of
one fleet now, and `plan` runs a ledger forward: who would begin when. `seen` is a group as its object shows it, `board`
what whoever does not lead makes of all of them: who waits where, and for whom. `forecast` is a plan of a board.
`turn` asks before a group disturbs anybody, and says what stands in its status.
"""
