"""Which groups of a fleet may begin to move: values in, values out, and no clock.

`facts` is what is known of one group, `claims` makes of it and of all fleets what the allocator counts (`claim`), and
`ledger` keeps both by changes. `places` counts what moves in each cell of each budget, `line` keeps who waits at which
of them, and `allocation` calls whoever waits as soon as all of a group's cells have room. `calendar` says when windows
are open.

On a group's side, `turn` asks before it disturbs anybody, and `life` says how a turn begins and ends.
"""
