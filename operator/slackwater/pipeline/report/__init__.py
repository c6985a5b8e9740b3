"""`slackwater pipeline report`: the fleet's recommendations and history as one HTML file that needs nothing else.

    read (Spark: rows per group, ≤ 120 slots a series) → model (frozen values) → charts, overview, section (pure) → page

Only `read` and `job` know Spark; everything from `model` on is Python's standard library: values in, markup out.
"""
