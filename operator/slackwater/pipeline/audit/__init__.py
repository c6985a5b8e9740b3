"""The rebalance history of every group of a cluster, managed or not, decoded from `__consumer_offsets` (F17).

wire        bytes → values, by a table of fields          ┐
layouts     those tables: one for each kind of record     │ plain Python:
facts       what one record says                          │ no Spark, no
decoding    a record's key and value → its fact           │ Arrow
history     the facts of one group, in order → its rows   ┘
…           the same in Spark: source, fold, tables, job
"""
