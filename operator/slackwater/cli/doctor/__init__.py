"""`slackwater doctor`: what of an installation is there, and what is missing.

`findings` are made from facts, purely: `installation`, `rights` (in Kubernetes), `budgets` (for disruptions) and
`connections` (to Kafka) judge, `asking_cluster` and `asking_kafka` ask for the facts, `command` does both and prints.
"""
