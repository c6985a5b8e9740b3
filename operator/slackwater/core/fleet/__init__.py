"""Which groups of a fleet may begin to move: values in, values out, and no clock.

`claim` is what the allocator knows of one group, `places` counts what moves in each cell of each budget, `line` keeps
who waits at which of them, and `allocation` calls whoever waits as soon as all of a group's cells have room.

A campaign goes through a fleet's groups, wave by wave: `campaign` is its fold, over `participants` (how far each group
is), `waves` (who is in which) and `openings` (what comes before the next wave). What a group remembers of it is in
`records`, what is known of a group becomes its part in `campaign_groups`, and people see `campaign_report`.

What fleets give groups that say nothing themselves: `layers` (who says what), `defaults` (what is in force, what is
pinned) and `explained` (whose each value is).
"""
