"""How long members are silent, what a session timeout costs, and which one is best: numpy and scipy only.

Everything is a pure function of arrays and a seed; nothing here knows Spark, files or Kafka clients. The method, in
words and with its limits, stands in docs/tuning.md.

    history     what a group's members did: the input, checked, and compressed to a bounded number of points
    survival    Kaplan-Meier, its pointwise intervals, the area below it
    tail        the longest silences: a penalised mixture of log-normal and generalised Pareto tails
    curve       the two joined: one survival curve, and its bootstrap replicates
    settings    what a group is and has today
    cost        what a month under a session timeout costs, in partition-seconds
    minimum     the cheapest timeout, exactly
    model       cost and needless rebalances of one group under any timeout, with replicates
    constraint  what besides the cost limits the choice
    fleet       what other groups' shapes lend to one that has restarted seldom
    breaks      where a group's restarts became others: what came before is left out
    warming     how long partitions take to warm up, from what was measured
    polls       max.poll.interval.ms and max.poll.records
    choice      the cheapest that is allowed, and whether it is shown to be better than today's
    membership  static, dynamic, warm handover
    advice      each setting, fitted to the others
    wording     it in words
    curves      it in points
    recommend   all of it, for one group
    arrays      the types of arrays
"""
