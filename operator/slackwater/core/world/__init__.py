"""What a decision may look at: values that the shell gathers. Nothing here judges.

`world` holds it all together, and `answers` what is asked of it once. `observation` is one look at the group in Kafka,
`history` what follows from many (`sighting`: of one member; `departures`: who is gone, and since when; `moves`: whose
offsets grew), `streams` which topics Kafka Streams makes for itself, `broker` what the brokers can do, `pods` and
`workload` what Kubernetes has, `behind` which pods lack the version that is rolled out, `placing` in which pods dynamic
members run, `made_with` what pods of a version are, `two_sets` the two StatefulSets of a warm rollout, `memory` what
survives a crash (`status.rollout`), `step` its part about the restart in hand and `in_hand` whether that is of this
rollout, `handover` its part about an ordinal that is handed over and `handover_wire` how that is written, `put_back`
its part about somebody else who scales the StatefulSet, `remaking` that about one that is made again for its volume
claims, `refusal` that about pods that were refused their id, `turn` that about a turn that fleets give (and what they
say of it now), `inherited` what it has by their defaults, `took` that about how long rollouts take, `tuning` its part
about timeouts, `set_back` what becomes of it where a clock was ahead, `advice` the newest recommendation, `claims`
which other ConsumerGroups have the same group in Kafka and `claimed` what is remembered of who has it.
`identity`, `profile`, `settings` and `reasons` (the catalogue of all reasons) are the vocabularies. `recording` writes
a world to a file and reads it again.
"""
