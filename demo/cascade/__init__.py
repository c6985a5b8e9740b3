"""`make demo-fleet`: twelve applications deployed at once, in seven ways, beside groups that nobody touches.

modes         which ways there are, and the numbers that they have in common                     (pure)
cast          who plays in a run: groups, bystanders, topics, and which coordinator each has     (pure)
manifests     what is applied for each                                                           (pure)
spans         stretches of time, and how many there were at once                                 (pure)
motion        when a group was moving and who had a bad pod, by its pods                         (pure)
idle          when partitions were idle, by the consumers' own records                           (pure)
expiries      whose sessions ended, by the coordinators' logs                                    (pure)
figures       a run in figures, whether it was as it should be, and several runs in one          (pure)
report, page  table, `build/demo-fleet.json`, docs/demo-fleet.md                                 (pure)
brokers       topics, groups and logs of three brokers
scene         a namespace while it is watched: who is there, who is at rest
play          one run, from the first version to the last record
stage         sandbox and operator
"""
