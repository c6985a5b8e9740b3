"""What happened to a group, derived from the row of worlds that its passes saw: folds, pure as all of `core`.

A fact has one id, whoever tells it: an operator that was restarted in the middle of something tells the rest of it
under the same ids, or nothing. What was not seen is null, never guessed.

tracker         the one fold over all that a group's passes saw; the folds below are its parts
sight           what one pass gives them
envelopes       how events are marked, and by which ids
restarts        who was restarted? A member's place has a life, then an episode, then the next life
lives           both as values
episodes        what is known of a member that has ended, and becomes known while it is away
found           places of which nothing is known yet, as after a start of the operator
holdings        who has which place in the group?
causes          why did a process end?
rebalances      what moved partitions, or stopped the group for a while?
warming         how long do partitions take to warm up with a new owner?
holds           why did the group have to wait, and for how long?
turns           when was it its turn to move, where fleets give turns, and what held it back before?
groups          how is the group, where anything in it has changed?
polls           how do its consumers poll?
settings        which settings did members get?
given_settings  which timeouts do they have?
"""
