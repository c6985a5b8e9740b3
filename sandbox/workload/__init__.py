"""Real consumers and producers under steady load, and what is measured of them.

`consumer` and `producer` also run in pods, where only confluent-kafka is installed: they import nothing else of the
sandbox. `deliveries`, `generations` and `output` read back what happened.
"""
