"""From one rebalance protocol to another without a broken step.

preflight   may the group be taken to the target, and how? A refusal names the way out
strategies  which ways are there? A table: for which library, from where to where, over which profiles
origin      what does the running group really have, as far as Kafka shows it?
upgrade     which step of the way comes next, and how does it turn back?
foreseen    could a campaign take the group there, and why not?
cutover     what if old and new may not be in one group together? All pods stop, and all start
"""
