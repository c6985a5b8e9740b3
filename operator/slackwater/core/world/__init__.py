"""What a decision may look at: values that the shell gathers. Nothing here judges.

`world` holds it all together. `observation` is one look at the group in Kafka, `history` what follows from many
(`departures`: who is gone, and since when; `moves`: whose offsets grew), `broker` what the brokers can do, `pods` and
`workload` what Kubernetes has, `behind` which pods lack the version that is rolled out, `placing` in which pods
dynamic members run, `made_with` what pods of a version are, `two_sets` the two StatefulSets of a warm rollout,
`memory` what survives a crash (`status.rollout`), `handover` its part about an ordinal that is handed over and
`handover_wire` how that is written, `refusal` its part about a pod whose consumer was refused, `put_back` the one about
somebody else who scales the StatefulSet, `tuning` the one about timeouts, `set_back` what becomes of it where a clock
was ahead, `advice` the newest recommendation, `claims` which other ConsumerGroups have the same group in Kafka and
`claimed` what is remembered of who has it.
`identity`, `profile`, `settings` and `reasons` (the catalogue of all reasons) are the vocabularies. `recording`
writes a world to a file and reads it again.
"""
