"""`slackwater pipeline report`: the fleet's recommendations and history as one HTML file that needs nothing else.

    sources, ranking, series, fleet (Spark) → model (frozen values) → charts, overview, section (pure) → page

Spark is known on the left of `model` and where the page is written; everything else is Python's standard library.

    sources     what is read of a lake; columns are the few of its columns that are looked at
    ranking     every group, by what a change would save
    turns       who waited for a turn, for how long and at what
    series      what charts show, in at most 120 slots of time
    fleet       from tables to the model: the only place that collects
    columns     types of columns that are others' in the first place
    rows        from Spark's rows, as mappings, to the model
    model       what the page shows, as values
    page        the whole of it
    overview    the fleet at a glance
    section     one group, with its charts
    waits       turns and what held groups back, with its charts
    notes       what a reader must know before believing it
    charts      a group's charts
    plot        the frame that they share
    scales      from a value to a place, and ticks
    paths       from points to SVG
    table       tables of numbers
    standings   how a group's standing is called and drawn
    quantities  numbers, durations and moments as people read them
    markup      elements of HTML and SVG; nothing else becomes a tag
    writing     to this machine's disk, or to a Hadoop path
    job         all of it; its command line is in command
    command     arguments and options
"""
