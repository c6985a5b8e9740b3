"""Whose a member is, whether it lives, whether it works; and what is done for one that does not.

`ownership`: is it ours? `presence`: proof that a pod's member is back (decision 5). `death`: proof that one is dead
(decision 7); `release` frees the ids of the dead, `refused` restarts who came too early. `work`: does it get on?
"""
