"""`slackwater import`: the ConsumerGroup of a workload that runs. Pure, but for `command`, which reads and prints."""
