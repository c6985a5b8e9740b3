"""Kafka, as the operator needs it: reading many groups at once, removing members, and watching on a schedule.

kafka-python speaks the protocol (docs/adr/0002-two-kafka-clients.md); only `wire`, `session`,
`answers`, `counted` and `consumer_group_describe` touch parts of it that are not its public interface.
"""
