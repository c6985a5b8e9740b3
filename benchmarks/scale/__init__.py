"""`python -m benchmarks scale`: what one replica costs beside thousands of groups. Some minutes, and
nothing but Python, but for the twin, which is left out where Go is not there.

recorded  one group at rest, as the API server and the brokers have it, brought there by the operator itself; and copies
around  the operator's own parts in this process, over recorded answers
passes  passes that find nothing to do, alone and beside others
whole  the operator in a process of its own: memory, start and rest
beside  the operator and its twin in Go (`benchmarks/twin`) in turn: what they cost, and that both do the same
watched  the whole operator, with its watches, beside groups that are at rest: memory, start and rest
sides  the processes of that: the API server, the operator, the twin
served  the API server of that, over real sockets
cluster  what it holds, and what others do about that
ours  the operator's process of that
command  the options, the table and the file
"""
