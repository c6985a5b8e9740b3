"""The four charts of a group, pure functions from a Detail to a Figure, and those of the fleet's turns.

survival  how many restarts are still silent after a time
cost      what a month costs under each session timeout
session   what these two share
timeline  generations, restarts and rebalances over time
lag       lag over time
history   what these two share
causes    the words and the looks of causes
waits     how long groups waited for their turns, and at what
"""
