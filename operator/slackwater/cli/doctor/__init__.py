"""`slackwater doctor`: what of an installation is there, and what is missing.

Findings are made from facts, purely; `asking_cluster` and `asking_kafka` ask for the facts.
"""
