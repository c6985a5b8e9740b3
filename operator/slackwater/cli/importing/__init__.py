"""`slackwater import`: the ConsumerGroup of a workload that runs. Pure, but for `command`, which reads and prints.

settings_found  what environment and arguments say of the Kafka client
owned           what moves from there into the spec
template        the pod template without what Kubernetes put into it
claims          the volumes of each pod's own
left_behind     what a ConsumerGroup cannot have
manifest        all of it as manifests
"""
