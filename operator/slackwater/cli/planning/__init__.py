"""What a manifest would change: `plan` and `diff`, from files, the cluster and Kafka to a verdict."""
