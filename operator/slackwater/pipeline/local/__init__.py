"""`slackwater recommend`: the same recommendations for a fleet of a few hundred groups, without Spark, Java or a lake.

One process reads the telemetry from beginning to end and keeps of each group what the statistics need: its restarts,
its polls as counts, its newest settings. A test holds its recommendations to the letter to those of the pipeline.

    folding     events → what is known of each group
    episodes    all that was told of a restart → the restart
    tallies     polls as counts on the statistics' own grid
    lines       the lines of a folder of files
    job         all of it
    command     its command line
"""
