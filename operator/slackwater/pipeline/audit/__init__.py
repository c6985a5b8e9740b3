"""The rebalance history of every group of a cluster, managed or not, decoded from `__consumer_offsets` (F17).

Plain Python, no Spark, no Arrow:

    wire            bytes → values, by a table of fields
    layouts         those tables: one for each kind of record
    facts           what one record says
    decoding        a record's key and value → its fact
    errors          what decoding says of bytes that it cannot use
    history         the facts of one group, in order → its rows
    consumer_group  a KIP-848 group as its records have built it up so far
    comparison      two memberships compared: what a rebalance did, and why
    stays           who was in the group, from when to when
    numbering       which generations left a record
    rows            the rows, as plain values

The same in Spark:

    source          where the records come from
    merging         what earlier audits found, of this cluster and of others, stays
    selection       which of them are needed
    fold            the histories of all groups, over Arrow batches
    columns         the schemas of the tables
    summary         what was found, in bounded size
    complaints      what Kafka and Spark throw, as sentences
    job             all of it
    command         its command line
    printing        its summary for people
"""
