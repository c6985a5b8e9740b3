"""Which groups of a fleet may begin to move: values in, values out, and no clock.

`claim` is what the allocator knows of one group, `places` counts what moves in each cell of each budget, `line` keeps
who waits at which of them, and `allocation` calls whoever waits as soon as all of a group's cells have room.
`turn` asks before a group disturbs anybody, and says what stands in its status.
"""
