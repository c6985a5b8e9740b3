"""`slackwater doctor`: what of an installation is there, and what is missing.

`findings` are made from facts, purely: `installation`, `rights` (in Kubernetes), `budgets` (for disruptions),
`connections` (to Kafka), `unlimited` (groups in no fleet) and `stored_defaults` (what nobody wrote) judge,
`asking_cluster` and `asking_kafka` ask for the facts, `command` does both and prints.
"""
