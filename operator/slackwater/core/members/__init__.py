"""Whose a member is, whether it lives, whether it works; and what is done for one that does not.

ownership     is it ours?
sharing       which ConsumerGroup has a group that several ask for?
elsewhere     does the group run in another Kubernetes cluster, which nobody here sees?
presence      proof that a pod's member is back (decision 5)
shortfall     in words, what a pod lacks to have all its members in the group
surplus       has it more of them than it should, for good?
sessions      how long the member of a process that has ended is still listed
rejoined      what the readiness gate of each pod is to say
work          does it own partitions and get on?
standing      in each of them?
subscriptions  what its members ask for, whatever they own
kept_out      does it wait to be let into a group whose rebalance does not end?
crashing      does it keep running after it has ended?
duplicates    is its instance id used by two processes?
death         proof that a process is dead (decision 7)
succession    how an instance id passes from a dead member to its successor: the states, and what leads where
release       frees the ids of the dead
scaled_away   those of pods that were scaled away, until they are taken out
seen          was a pod of ours ever in this group, in this Kafka?
taken         who of us had their ids last, whoever has them now
refused       restarts the pods of processes that asked for an id too early
rebalancing   takes one out that works, so that it joins again: where the group would not rebalance by itself
clocks        how far apart times may lie, and how long things take: every number and its reason
"""
