"""Recommended settings for every group of the lake: Spark brings each group's history to the statistics.

    counting    restarts and poll windows of the fleet, counted per group on a bounded number of values
    histories   those counts and the group's settings as one row a group
    pooling     the shapes of those that restarted most, brought together
    fleets      the shapes that a group learns from; knows no Spark
    facts       a group's settings as the statistics want them; what is not known is Kafka's documented default
    advising    one group's row and history → its recommendation; knows neither Spark nor Arrow
    judging     rows in, rows out: calls the statistics once a group; runs on the workers, knows no Spark session
    publishing  messages to a compacted topic, or to a file that the operator follows
    found       what a run found, as values; knows no Spark
    summary     the same out of a lake
    job         all of it
    command     its command line
    printing    its summary for people

No step handles the events of one group in one place: they are counted where they lie, in parallel, and only counts on
a grid come together. So a group with half of all events costs its worker as much as any other.
"""
