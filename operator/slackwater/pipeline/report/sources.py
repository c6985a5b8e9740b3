"""What the report reads: tables of the lake, those that are there. Spark.

Silver is computed anew from the events, so that the page is as new as the lake and not as its last `recommend`.
"""
