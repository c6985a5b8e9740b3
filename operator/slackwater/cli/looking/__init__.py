"""Looking at groups.

lookout     one group in Kafka, from where the command runs
vouched     whether a connection's Secrets may be sent to its brokers from here
looks       both halves of its world from moment to moment, as Looks
calm        until it is known whether the group is calm, with progress
watching    `status`: one picture, or a live one
waiting     `status --wait`: until it is as the spec wants it
recording   `observe`: into a document
kept        what the cluster keeps: all groups, and one group's versions; Kafka is not asked
fleets      fleets and all groups: who waits for whom, and what would be
defaults    a group and what fleets give it: whose each setting is
"""
