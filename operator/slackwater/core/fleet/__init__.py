"""Which groups of a fleet may begin to move: values in, values out, and no clock.

`facts` is what is known of a group, `claim` what the allocator makes of it, `claims` how: which cells of which budgets
it is in. `calendar` says when windows open and freezes hold, by the times that `cron` gives, `times` what follows for
one fleet, and whether its spec can be kept; `tally` counts how many of its groups do what, `halts` says whether too
much has gone wrong. `places` counts what moves in each cell, `line` keeps who waits at which of them, `reservation`
what comes free for whoever waits for long, `calls` who may begin, `timers` what time alone changes, and `allocation`
calls whoever waits as soon as all of a group's cells have room. `ledger` is all of it together: groups and fleets
(`kept`), by changes; `selection` is which fleets select which groups, and what each makes of each, `limits` what the
allocator is told of cells, `coordinators` knows the brokers, and who may be at any of them; `steps` has work on many
groups go some at a time. `report` is a fleet's status, in the words of `reasons`; `sight` what a look at a group says
to its fleets.

Whoever does not lead works things out of objects: `seen` is a group or a fleet as its object shows it, `surplus`
whether a namespace has more fleets than count, `board` says who waits where, and for whom (`stands` names the place);
`plan` runs a ledger forward, and `forecast` says what would be.

On a group's side, `turn` asks before it disturbs anybody, and `life` says how a turn begins and ends. `standstill`
is when a remedy that makes no step gives its room to others.

A campaign goes through a fleet's groups, wave by wave: `campaign` is its fold, over `participants` (how far each group
is), `waves` (who is in which) and `openings` (what comes before the next wave; `promotion` is a person's word).
`campaign_object` is one as its object shows it. What a group remembers of it is in `records`, and what is ordered of
it in `order` and `orders`; what is known of a group becomes its part in `campaign_groups`, and people see
`campaign_report`, and `campaign_eta` when it is over. One that has not begun is foreseen in `campaign_forecast`.

What fleets give groups that say nothing themselves: `layers` (who says what), `defaults` (what is in force, what is
pinned), `held_defaults` (what a campaign has yet to bring) and `explained` (whose each value is).
"""
