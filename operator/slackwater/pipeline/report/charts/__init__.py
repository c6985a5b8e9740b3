"""The four charts of a group: pure functions from a Detail to a Figure.

survival  how many restarts are still silent after a time
cost      what a month costs under each session timeout
session   what these two share
timeline  generations, restarts and rebalances over time
lag       lag over time
history   what these two share
causes    the words and the looks of causes
"""
