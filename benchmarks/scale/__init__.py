"""`python -m benchmarks scale`: what one replica costs beside thousands of groups. Nothing but Python, some minutes.

recorded  one group at rest, as the API server and the brokers have it, brought there by the operator itself; and copies
around  the operator's own parts in this process, over recorded answers
passes  passes that find nothing to do, alone and beside others
whole  the operator in a process of its own: memory, start and rest
command  the options, the table and the file
"""
